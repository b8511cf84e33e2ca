"""The match key: one for all spellings of a name, another for another thing, and its own key."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.strategies import texts

from batag.terms.key import RULES, match_key, match_keys, steps

WORDS = [
    *(
        "50",
        "1.5",
        "1,000",
        ".5",
        "0",
        "ml",
        "ML",
        "公升",
        "毫升",
        "kg",
        "吋",
        '"',
        "入",
        "個",
        "x",
        "×",
        "in",
        "合",
        "-",
        "－",
        "ー",
    ),
    *(
        "RG",
        "T",
        "shirts",
        "glasses",
        "knives",
        "and",
        "&",
        "Levi’s",
        "men's",
        "non",
        "a",
        "é",
        "ß",
        "㎏",
        "①",
        "™",
        " ",
        "・",
        "/",
    ),
    *(
        "头发",
        "頭髮",
        "面条",
        "面膜",
        "臺",
        "台湾",
        "りんご",
        "プリンター",
        "ヴァ",
        "の",
        "ケ月",
        "冷蔵庫",
        "ｶﾞｰｾﾞ",
        ".",
        ",",
        "%",
        "\n",
    ),
]
spelt = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)


@given(texts() | spelt)
@example("1.000.000 L")
@example("T-shirts and U.S.A. 50ML×3")
@example("0.0005 kg")
def test_a_key_is_its_own_key(text: str) -> None:
    for plural in (True, False):
        key = match_key(text, plural=plural)
        assert match_key(key, plural=plural) == key


@given(st.lists(texts() | spelt, max_size=6))
def test_keys_of_many_texts_are_those_of_each(listed: list[str]) -> None:
    assert match_keys(listed) == [match_key(each) for each in listed]


@given(spelt)
def test_the_steps_lead_to_the_key(text: str) -> None:
    done = steps(text)
    assert all(step.before != step.after for step in done)
    assert (done[-1].after if done else text.replace("\n", " ")) == match_key(text)


@pytest.mark.parametrize(
    ("rule", "text", "key"),
    [
        ("width", "ＡＣＭＥ", "acme"),
        ("width", "Kao™", "kao"),
        ("width", "ｶﾞｰｾﾞ", "ガーゼ"),
        ("width", "zero\u200bwidth", "zerowidth"),
        ("case", "HITACHI", "hitachi"),
        ("accents", "Nestlé", "nestle"),
        ("accents", "Smørrebrød", "smorrebrod"),
        ("apostrophes", "Levi’s", "levis"),
        ("apostrophes", "Levi's", "levis"),
        ("signs", "U.S.A.", "usa"),
        ("signs", "black and white", "black&white"),
        ("signs", "【登山鞋】", "登山鞋"),
        ("spaces", "防水  登山鞋", "防水登山鞋"),
        ("signs", "trail   mix", "trail mix"),
        ("amounts", "50 ml", "50ml"),
        ("amounts", "50毫升", "50ml"),
        ("amounts", "0.05 L", "50ml"),
        ("amounts", "1,000 g", "1kg"),
        ("amounts", "27吋", "27in"),
        ("amounts", '27"', "27in"),
        ("amounts", "3 × 500 ml", "3x500ml"),
        ("amounts", "2合1", "2in1"),
        ("models", "RG-599", "rg599"),
        ("models", "RG 599", "rg599"),
        ("models", "WH-1000XM4", "wh1000xm4"),
        ("models", "T-shirt", "tshirt"),
        ("models", "anti-slip", "antislip"),
        ("kana", "りんご", "リンゴ"),
        ("kana", "プリンター", "プリンタ"),
        ("kana", "ヴァイオリン", "バイオリン"),
        ("script", "头发", "頭髮"),
        ("script", "面条", "麵條"),
        ("script", "臺灣", "台灣"),
        ("script", "卸粧棉", "卸妝棉"),
        ("plural", "shoes", "shoe"),
        ("plural", "knives", "knife"),
        ("plural", "toothbrushes", "toothbrush"),
        ("plural", "children", "child"),
    ],
)
def test_each_rule_makes_one_spelling(rule: str, text: str, key: str) -> None:
    assert match_key(text) == key
    assert rule in {step.rule for step in steps(text)}


def test_every_rule_is_tested_and_explained() -> None:
    marks = test_each_rule_makes_one_spelling.pytestmark  # type: ignore[attr-defined]
    assert {case[0] for case in marks[0].args[1]} == set(RULES)
    assert all(words for words, _ in RULES.values())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("glass", "glasses"),
        ("new", "news"),
        ("ビル", "ビール"),
        ("カバ", "カバー"),
        ("カード", "カート"),
        ("1-2", "12"),
        ("1.5L", "15L"),
        ("50ml", "50g"),
        ("USB 2.0", "USB 20"),
        ("RG-599", "RG-598"),
        ("麵包", "面包車"),
        ("頭髮", "發財"),
        ("3M", "300cm"),
        ("100W", "100V"),
        ("C", "C++"),
    ],
)
def test_different_things_have_different_keys(one: str, other: str) -> None:
    assert match_key(one) != match_key(other)


@pytest.mark.parametrize("text", ["glasses", "news", "面膜", "カバー", "ビール", "3m", "1-2", "滑り止め", "冷蔵庫"])
def test_what_is_in_one_form_already_stays(text: str) -> None:
    assert match_key(text) == text
    assert steps(text) == []


def test_a_brand_keeps_its_s() -> None:
    assert match_key("Vans", plural=False) == "vans" != match_key("Vans")


@pytest.mark.parametrize("text", ["", " ", "!!!", "™", "\u200b", "・・"])
def test_a_text_without_letters_and_digits_has_no_key(text: str) -> None:
    assert match_key(text) == ""


def test_a_very_long_text_has_a_short_key() -> None:
    assert len(match_key("長い " * 100_000)) <= 1_000
