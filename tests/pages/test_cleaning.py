"""What each cleaning rule touches and what it leaves; hostile text costs no more than its length."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.processes import PATIENCE

from batag.errors import UsageError
from batag.pages.cleaning import _PLAIN, _WIDE, DEFAULT_RULES, RULES, Cleaner


@given(st.from_regex(_PLAIN, fullmatch=True))
@example("www,example.com")
@example("3.5kg/包")
@settings(max_examples=300, deadline=None)
def test_no_rule_changes_what_counts_as_plain(text: str) -> None:
    assert not any(step(text) for _, steps in RULES.values() for step in steps)
    assert not _WIDE.search(text)


@pytest.mark.parametrize(
    "text", ["www.example.com", "WWW.x", "a  b", "a&amp;b", "http://x", "ｶﾞ", "a!!b", "", " a", "か\u3099", "（a）", "a\tb"]
)
def test_what_a_rule_may_change_does_not_count_as_plain(text: str) -> None:
    assert not _PLAIN.fullmatch(text)


def clean(text: str, *rules: str) -> str:
    return Cleaner(rules or DEFAULT_RULES)(text).text


@pytest.mark.parametrize(
    "text",
    [
        "5 < 6 > 3",
        "a<b",
        "a<b 商品 c>d",
        "價格 < 500 且 重量 > 2kg",
        "<3 love",
        "x <> y",
        "<品牌>",
        "<<>>",
        "< b >",
        "a<-b",
        "<b",
    ],
)
def test_what_is_no_tag_stays(text: str) -> None:
    assert clean(text, "html") == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("<p>純棉<b>T恤</b></p>", " 純棉 T恤  "),
        ("防水<br/>防塵<BR />防震", "防水 防塵 防震"),
        ('<a href="https://x.tw/?a=1&b=2">鞋</a>', " 鞋 "),
        ("<script>var x='<b>商品</b>';</script>真品", " 真品"),
        ("<SCRIPT src=x>a</Script >真品", " 真品"),
        ("<style>p{color:red}</style>洋裝", " 洋裝"),
        ("<!-- 註解 <b> -->洋裝", " 洋裝"),
        ("<!DOCTYPE html>洋裝", " 洋裝"),
        ("<!-- 沒有結尾 洋裝", "<!-- 沒有結尾 洋裝"),
        ("<!-- a <b>洋裝</b>", "<!-- a  洋裝 "),
        ("<script>洋裝", " 洋裝"),
        ("<!-- a --><script>x<!-- b -->", "  x "),
        ("Salt &amp; Pepper", "Salt & Pepper"),
        ("Tea&nbsp;pot", "Tea\xa0pot"),
        ("Tea&amp;nbsp;pot", "Tea\xa0pot"),
        ("&amp;amp;amp;lt;2 入", "<2 入"),
        ("&lt;b&gt;鞋&lt;/b&gt;", " 鞋 "),
        ("&#12460;&#x30AC;&yen;", "ガガ¥"),
        ("&#x1F600;", "😀"),
        ("AT&T H&M R&D &notanentity &eacute", "AT&T H&M R&D &notanentity &eacute"),
        ("&#55357;", "\ufffd"),
    ],
)
def test_the_html_rule(text: str, cleaned: str) -> None:
    assert clean(text, "html") == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("詳細はhttps://example.co.jp/a?b=%E3#topこちら", "詳細は こちら"),
        ("看 http://x.tw/1，好", "看  ，好"),
        ("官網www.example.com.tw購買", "官網 購買"),
        ("HTTP://X.TW/A 鞋", "  鞋"),
        ("Www.Example.com 鞋", "  鞋"),
        ("<a>https://x.tw</a>", "<a> </a>"),
        ("www 是 web", "www 是 web"),
        ("a/b 24/7 C:\\x", "a/b 24/7 C:\\x"),
        ("Awww... so cute", "Awww... so cute"),
    ],
)
def test_the_urls_rule(text: str, cleaned: str) -> None:
    assert clean(text, "urls") == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("保\u200b濕\u200b面膜", "保濕面膜"),
        ("\ufeff藍牙\u2060喇叭", "藍牙喇叭"),
        ("super\u00adcali", "supercali"),
        ("\u202eABC\u202c", "ABC"),
        ("a\x00b\x1bc", "abc"),
        ("👨\u200d👩\u200d👧 親子", "👨\u200d👩\u200d👧 親子"),
        ("❤\ufe0f 1\ufe0f\u20e3", "❤\ufe0f 1\ufe0f\u20e3"),
        (
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        ),
        ("商\u200d品 a\ufe0f", "商品 a"),
        ("葛\U000e0100飾", "葛飾"),
        ("一\r\n二\t三", "一\r\n二\t三"),
    ],
)
def test_the_controls_rule(text: str, cleaned: str) -> None:
    assert clean(text, "controls") == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("ＡＢＣ－１２３", "ABC-123"),
        ("㍿山田", "株式会社山田"),
        ("ｶﾞｰｾﾞ", "ガーゼ"),
        ("か\u3099", "が"),
        ("ﬁne", "fine"),
        ("½", "1⁄2"),
        ("①Ⅷ㎝", "1VIIIcm"),
        ("Cafe\u0301", "Café"),
        ("a\u3000b\u00a0c", "a b c"),
        ("Air Max™ Ａ℠", "Air Max™ A℠"),
        ("純棉T恤 ¥1,980", "純棉T恤 ¥1,980"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_the_width_rule(text: str, cleaned: str) -> None:
    assert clean(text, "width") == cleaned


def test_characters_that_width_makes_longer_or_shorter_map_to_their_whole() -> None:
    cleaned = Cleaner(["width"])("A㍿Bｶﾞ½")
    assert cleaned.text == "A株式会社Bガ1⁄2"
    places = [cleaned.to_original(place, place + 1) for place in range(len(cleaned.text))]
    assert places == [(0, 1), *[(1, 2)] * 4, (2, 3), (3, 5), *[(5, 6)] * 3]


@pytest.mark.parametrize("text", ["ＡＢＣ（１）", "ｶﾞ", "㍿", "\u3000a\u3000"])
def test_without_the_width_rule_full_width_stays(text: str) -> None:
    assert clean(text, *(name for name in RULES if name not in ("width", "spaces"))) == text


@pytest.mark.parametrize(
    "text",
    [
        "【限時優惠 50% OFF】",
        "【免運】",
        "[SALE]",
        "(Free Shipping!)",
        "【送料無料】",
        "＼ポイント10倍／",
        "《熱銷》",
        "【期間限定★半額】",
        "【包邮】",
        "【Hot Sale -30%】",
    ],
)
def test_brackets_of_promotion_words_go(text: str) -> None:
    assert clean(f"鞋{text}襪") == "鞋 襪"


@pytest.mark.parametrize(
    "text",
    [
        "【NIKE】",
        "【限時優惠 NIKE】",
        "（純棉）",
        "(新款外套)",
        "【深煎り】",
        "免運 限時優惠",
        "【】",
        "【50%】",
        "(L/XL)",
        "(offset)",
        "(Newton)",
        "【免運",
        "免運】",
    ],
)
def test_brackets_that_hold_something_else_stay(text: str) -> None:
    assert clean(f"鞋{text}襪", "promo") == f"鞋{text}襪"


@pytest.mark.parametrize("text", ["面膜(10件/盒)", "【新品/NIKE】鞋", "外套(新款/藍色)", "[SALE/Shoes]", "【免運)鞋】"])
def test_a_bracket_goes_with_its_own_partner_or_not_at_all(text: str) -> None:
    assert clean(text, "promo") == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("特價!!!!", "特價!"),
        ("真的嗎?!?!", "真的嗎?"),
        ("真的!!??", "真的!"),
        ("真的!!!?", "真的!"),
        ("★★★★★", "★"),
        ("😀😀😀", "😀"),
        ("👍🏽👍🏽", "👍🏽"),
        ("🇹🇼🇹🇼", "🇹🇼"),
        ("🇹🇼🇯🇵", "🇹🇼🇯🇵"),
        ("=====", "="),
        ("(((a)))", "(((a)))"),
        ("100 ーー 商商 aa  ", "100 ーー 商商 aa  "),
        ("👍👍🏽", "👍👍🏽"),
    ],
)
def test_the_punctuation_rule(text: str, cleaned: str) -> None:
    assert clean(text, "punctuation") == cleaned


@pytest.mark.parametrize("text", ["❤\ufe0f情人節", "👨\u200d👩\u200d👧\u200d👦 親子裝", "1\ufe0f\u20e3 第一", "🇹🇼 台灣"])
def test_emoji_are_kept_by_default(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("❤\ufe0f情人節", " 情人節"),
        ("a👨\u200d👩\u200d👧\u200d👦b", "a b"),
        ("a😀 😀👍🏽b", "a b"),
        ("🇹🇼台", " 台"),
        ("1\ufe0f\u20e3第一 1 #", " 第一 1 #"),
    ],
)
def test_the_emoji_rule_drops_whole_sequences(text: str, cleaned: str) -> None:
    assert clean(text, "emoji") == cleaned


@pytest.mark.parametrize("text", ["㊙\ufe0f", "㊗\ufe0f", "ℹ\ufe0f", "‼\ufe0f", "⁉\ufe0f", "🈁\ufe0f", "\uffa0"], ids=ascii)
def test_no_unseen_character_survives_outside_an_emoji(text: str) -> None:
    cleaned = clean(f"商品{text}特價")
    assert clean(cleaned, "controls") == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a  b", "a b"),
        ("a\tb", "a b"),
        ("a\r\n\r\nb", "a b"),
        ("a b", "a b"),
        ("a\u3000b", "a b"),
        ("  ", " "),
        ("a\x85b", "a b"),
    ],
)
def test_the_spaces_rule(text: str, cleaned: str) -> None:
    assert clean(text, "spaces") == cleaned


def test_rules_apply_in_one_order_however_they_are_named() -> None:
    assert Cleaner(["spaces", "html"]).rules == ("html", "spaces")
    assert Cleaner().rules == DEFAULT_RULES
    assert "emoji" not in DEFAULT_RULES
    assert set(RULES) == {*DEFAULT_RULES, "emoji"}


@pytest.mark.parametrize(("wrong", "near"), [("htm", "html"), ("emojis", "emoji"), ("Width", "width"), ("url", "urls")])
def test_an_unknown_rule_offers_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"{wrong}.*Did you mean '{near}'") as caught:
        Cleaner(["html", wrong])
    assert all(name in str(caught.value) for name in RULES)


def test_an_unknown_rule_without_a_neighbour_lists_all() -> None:
    with pytest.raises(UsageError, match="There are html, urls") as caught:
        Cleaner(["qqqqqq"])
    assert "Did you mean" not in str(caught.value)


HOSTILE = {
    "comments": "'<!--'*100000",
    "tones": "'\U0001f3fd\\u200d'*100000",
    "marks": "'e'+'\\u0301\\u0323'*50000",
    "brackets": "'【免運'*50000",
    "closed brackets": "'【免運】'*50000",
    "scripts": "'<script>'*50000",
    "styles": "'<style></style '*30000",
    "tags": "'<a '*100000",
    "spaces in a tag": "'<a'+' '*300000",
    "ampersands": "'&'*300000",
    "entities": "'&amp;'*100000",
    "entity of entities": "'&'+'amp;'*200000+'lt;'",
    "marks of all kinds": "'!?'*100000",
    "white space": "' \\t'*100000",
    "half width": "'ｶﾞ'*100000",
    "urls": "'www.'*100000",
    "emoji": "'😀 '*100000",
    "keycaps": "'1\\ufe0f'*100000",
    "promotion": "'(1/'+'bestseller'*60+'x'",
    "jamo": "'\\u1100\\u1161'*100000",
    "ligatures": "'\\ufdfa'*50000",
    "unseen": "'a\\u200b'*200000",
}


@pytest.mark.parametrize("expression", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_does_not_take_forever(expression: str) -> None:
    # In a process of its own: a regular expression that runs away cannot be stopped from inside.
    code = f"from batag.pages.cleaning import *; c = Cleaner(tuple(RULES))({expression}); c.origins"
    try:
        subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        pytest.fail(f"more than {PATIENCE} s for {expression}")
