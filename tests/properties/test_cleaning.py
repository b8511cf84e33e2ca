"""Cleaning over arbitrary Unicode: whatever comes in, every cleaned character knows where it came from."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.tricky import NAUGHTY_STRINGS, PRODUCT_STRINGS

from batag.pages.cleaning import DEFAULT_RULES, RULES, Cleaner
from batag.pages.offsets import Cleaned

PIECES = re.split(
    ",",
    "<b>,</b>,<br/>,<p class=x>,<script>,</script>,<style>x</style>,<!--,-->,<,>,</,a<b,5 < 6,&amp;,&nbsp;,&amp;nbsp;,&#12460;,"
    "&#xFF76;,&#xFF9E;,&#1;,&lt;,&gt;,&,&amp,;,https://,www.,example.com/a?b=1,http://x,ftp://y,"
    "👨\u200d👩\u200d👧,👍🏽,🏽,🇹🇼,🇯,1\ufe0f\u20e3,❤\ufe0f,❤,\u200d,\ufe0f,😀,‼\ufe0f,㊙\ufe0f,★,"
    "ｶ,ﾞ,ﾊ,ﾟ,ｶﾞ,か\u3099,e\u0301,\u0301,\u0323,q\u0323\u0307,가,\u1100,\u1161,\u11a8,ﾡ,ￂ,"
    "㍿,㌔,ﬁ,½,①,Ⅷ,ＡＢＣ,！,？,＜,＞,＆,；,\u3000,（,）,｡,\u00a0,\ufdfa,"
    "\r\n,\n,\t, ,  ,\x0b,\x85,\u2028,\x00,\x1f,\u200b,\ufeff,\u00ad,\u202e,\u3164,\uffa0,\U000e0100,\ud83d,"
    "【免運】,【限時優惠 50% OFF】,【NIKE】,(SALE),[new],《,》,＼送料無料／,【,】,(,),!!,??,!?,...,--,~~,"
    "NIKE,商品,保濕,コットン,50ml,1",
)

texts = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(PIECES),
        st.text(max_size=4),
        st.sampled_from(PRODUCT_STRINGS),
        st.sampled_from([text for text in NAUGHTY_STRINGS if len(text) < 100]),
    ),
    max_size=8,
).map("".join)
subsets = st.sets(st.sampled_from(list(RULES)))
RULE_SETS = [*((name,) for name in RULES), DEFAULT_RULES, tuple(RULES), ()]
every_rule_set = pytest.mark.parametrize("rules", RULE_SETS, ids=lambda rules: "+".join(rules) or "none")

# What may vanish without a trace: nobody sees it.
UNSEEN = {"Cc", "Cf", "Cn", "Cs", "Mn"}
FILLERS = "\u115f\u1160\u3164\uffa0"


def unescaped(text: str) -> str:
    while (plain := html.unescape(text)) != text:
        text = plain
    return text


def parts(text: str) -> set[str]:
    return set(unicodedata.normalize("NFKD", text))


def check_map(cleaned: Cleaned) -> None:
    starts, ends = map(list, cleaned.origins)
    assert len(starts) == len(ends) == len(cleaned.text)
    assert all(0 <= start < end <= len(cleaned.original) for start, end in zip(starts, ends, strict=True))
    assert starts == sorted(starts)
    assert ends == sorted(ends)


def check_meaning(cleaned: Cleaned) -> None:
    """Each cleaned character is what stands at its origin, or part of its expansion, or a space for what was taken away."""
    starts, ends = cleaned.origins
    for character, start, end in zip(cleaned.text, starts, ends, strict=True):
        origin = cleaned.original[start:end]
        if character != " ":
            assert parts(character) <= parts(unescaped(origin)), (character, origin)
        if len(origin) == 1 and re.match("[A-Za-z0-9\u4e00-\u9fff\u3041-\u3096\u30a1-\u30fa]", origin):
            plain = unicodedata.is_normalized("NFKC", origin)
            assert not plain or character == origin
    covered = [False] * len(cleaned.original)
    for start, end in zip(starts, ends, strict=True):
        covered[start:end] = [True] * (end - start)
    rest = "".join(character for character, seen in zip(cleaned.original, covered, strict=True) if not seen)
    rest = re.sub(r"&(amp;)*#(\d+|[xX][0-9a-fA-F]+);|&(amp;)*(shy|zwnj|zwj|lrm|rlm|ZeroWidthSpace|NoBreak);", "", rest)
    assert all(unicodedata.category(character) in UNSEEN or character in FILLERS for character in rest), ascii(rest)


def check_cover(cleaned: Cleaned, rules: Iterable[str]) -> None:
    if cleaned.text and not {"controls", "html"} & set(rules):
        assert cleaned.to_original(0, len(cleaned.text)) == (0, len(cleaned.original))


@every_rule_set
@given(text=texts)
@settings(max_examples=80, deadline=None)
def test_every_cleaned_character_has_a_place_in_the_original(rules: tuple[str, ...], text: str) -> None:
    cleaned = Cleaner(rules)(text)
    assert cleaned.original == text
    check_map(cleaned)
    check_meaning(cleaned)
    check_cover(cleaned, rules)


@given(text=texts, rules=subsets)
@settings(max_examples=150, deadline=None)
def test_any_subset_of_rules_keeps_the_way_back(text: str, rules: set[str]) -> None:
    cleaned = Cleaner(rules)(text)
    check_map(cleaned)
    check_meaning(cleaned)
    check_cover(cleaned, rules)


@every_rule_set
def test_tricky_strings_keep_the_way_back(rules: tuple[str, ...]) -> None:
    for text in (*PRODUCT_STRINGS, *NAUGHTY_STRINGS):
        cleaned = Cleaner(rules)(text)
        check_map(cleaned)
        check_meaning(cleaned)
        check_cover(cleaned, rules)


@given(text=st.text() | texts)
@settings(max_examples=100, deadline=None)
def test_without_rules_nothing_changes(text: str) -> None:
    cleaned = Cleaner(())(text)
    assert cleaned.text == text
    assert [list(places) for places in cleaned.origins] == [list(range(len(text))), list(range(1, len(text) + 1))]
    assert all(cleaned.to_original(place, place + 1) == (place, place + 1) for place in range(len(text)))


@given(text=st.text() | texts, rules=subsets)
@settings(max_examples=100, deadline=None)
def test_cleaning_is_the_same_every_time(text: str, rules: set[str]) -> None:
    first, second = Cleaner(rules)(text), Cleaner(sorted(rules, reverse=True))(text)
    assert first.text == second.text
    assert list(map(list, first.origins)) == list(map(list, second.origins))


@given(text=st.text(alphabet="一二商品abcXYZ09 あいうアイウ。、，", max_size=60).filter(lambda text: "  " not in text))
@settings(max_examples=100, deadline=None)
def test_plain_text_is_left_alone(text: str) -> None:
    text = re.sub(r"([。、，])\1+", r"\1", text.replace("，", "、"))
    assert Cleaner(tuple(RULES))(text).text == text


marks = st.sampled_from("\u0301\u0323\u0327\u3099\u309aﾞﾟ\u1161\u11a8\u093c\u05bc")
composed = st.lists(st.one_of(st.text(max_size=3), st.sampled_from(PIECES), marks), max_size=10).map("".join)


def nfkc(text: str) -> str:
    """Unicode's NFKC, without the two signs that it makes letters of."""
    return "".join(each if each in "™℠" else unicodedata.normalize("NFKC", each) for each in re.split("([™℠])", text))


@given(text=composed)
@example("Air™\u0301 x")
@settings(max_examples=400, deadline=None)
def test_the_width_rule_is_nfkc(text: str) -> None:
    assert Cleaner(["width"])(text).text == nfkc(text)


@pytest.mark.parametrize("first", ["", "x", "か", "\u1100", "\uac00", "\u3131"], ids=ascii)
def test_the_width_rule_is_nfkc_for_every_code_point(first: str) -> None:
    clean = Cleaner(["width"])
    wrong = []
    for code in (*range(0xD800), *range(0xE000, 0x30000)):
        text = first + chr(code)
        if not unicodedata.is_normalized("NFKC", text) and clean(text).text != nfkc(text):
            wrong.append(f"{code:04x}")
    assert wrong == []


@pytest.mark.parametrize("text", PRODUCT_STRINGS, ids=lambda text: ascii(text)[:30])
def test_cleaning_a_cleaned_product_string_changes_nothing(text: str) -> None:
    clean = Cleaner()
    once = clean(text).text
    assert clean(once).text == once


@pytest.mark.parametrize("name", list(RULES))
@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_one_rule_twice_is_one_rule_once(name: str, text: str) -> None:
    clean = Cleaner([name])
    once = clean(text).text
    assert clean(once).text == once


@given(
    text=st.lists(
        st.sampled_from(
            ["👍", "👍🏽", "🏽", "🏿", "❤", "❤️", "\ufe0f", "\u200d", "🇹", "🇼", "!", "?", "！", "。", "…", " ", "鞋"]
        )
    ).map("".join)
)
@settings(max_examples=300, deadline=None)
@example("👍🏽👍🏽🏽")
@example("❤️❤️\ufe0f❤️")
def test_repeated_marks_and_emoji_are_one_after_one_pass(text: str) -> None:
    clean = Cleaner(["punctuation"])
    once = clean(text).text
    assert clean(once).text == once
