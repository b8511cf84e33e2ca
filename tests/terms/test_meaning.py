"""What a tag means: by its label and language, in the language of canonical forms, and what is no tag."""

from __future__ import annotations

import pytest

from batag.errors import UsageError
from batag.pages.page import Tag
from batag.terms.explanation import are_same, explain
from batag.terms.terms import Terms


def canonical(text: str, *, shown: str = "en", **known: str) -> str | None:
    return Terms(language=shown).meaning(text, **known).canonical


def test_names_of_one_brand_in_all_scripts_have_one_canonical_form() -> None:
    assert {canonical(text) for text in ("日立", "HITACHI", "Hitachi", "ＨＩＴＡＣＨＩ")} == {"HITACHI"}
    assert len({canonical(text) for text in ("Panasonic", "國際牌", "松下", "パナソニック")}) == 1


@pytest.mark.parametrize(
    ("shown", "form"), [("en", "refrigerator"), ("zh-Hant", "冰箱"), ("zh-Hans", "冰箱"), ("ja", "冷蔵庫")]
)
def test_canonical_forms_are_in_the_language_that_was_chosen(shown: str, form: str) -> None:
    assert {canonical(text, shown=shown) for text in ("冰箱", "冷蔵庫", "refrigerators", "电冰箱")} == {form}


def test_an_unknown_language_of_canonical_forms_is_an_error() -> None:
    with pytest.raises(UsageError):
        Terms(language="klingon")


def test_a_word_that_is_a_brand_or_something_else_is_told_by_its_label() -> None:
    terms = Terms()
    brand, fruit, unknown = (terms.meaning("蘋果", label=label) for label in ("brand", "goods", None))
    assert (brand.entry is not None, brand.canonical) == (True, "Apple")
    assert fruit.entry is not None
    assert fruit.entry.kind == "goods"
    assert (unknown.entry, unknown.canonical) == (None, "蘋果")
    assert {each.kind for each in unknown.others} == {"brand", "goods"}
    assert canonical("統一", label="brand") == "統一"
    assert terms.meaning("統一").canonical == "統一"


def test_a_text_outside_of_the_lexicon_has_its_key_as_canonical_form() -> None:
    found = Terms().meaning("ＺＺＺ-Gadgets")
    assert (found.canonical, found.by, found.entry) == ("zzz gadget", "key", None)
    assert canonical("怪东西", shown="zh-Hans") == "怪东西"


@pytest.mark.parametrize("text", ["免運", "現貨", "送料無料", "free shipping", "包邮", "!!!", ""])
def test_words_of_advertising_are_no_tags(text: str) -> None:
    found = Terms().meaning(text)
    assert (found.canonical, found.by) == (None, "stop")


def test_each_tag_gets_its_canonical_form_and_keeps_the_rest() -> None:
    tags = [Tag("title", 0, 2, "brand", "日立", 0.5, "日立"), Tag("title", 3, 5, "goods", "冰箱", 0.25)]
    first, second = Terms().name_tags([("zh-Hant", tags), (None, tags)])
    assert first == second
    assert [(tag.text, tag.canonical, tag.category, tag.score, tag.normal) for tag in first] == [
        ("日立", "HITACHI", None, 0.5, "日立"),
        ("冰箱", "refrigerator", None, 0.25, None),
    ]


def test_an_explanation_says_which_rule_did_what_and_where_it_leads() -> None:
    found = explain(Terms(), "Levi’s")
    assert [step["rule"] for step in found["steps"]] == ["case", "apostrophes"]
    assert (found["key"], found["by"], found["entry"]["kind"]) == ("levis", "lexicon", "brand")
    assert are_same([found, explain(Terms(), "LEVI'S")])
    assert not are_same([found, explain(Terms(), "Edwin")])


def test_what_may_be_several_things_lists_them() -> None:
    found = explain(Terms(), "蘋果")
    assert found["entry"] is None
    assert {(each["kind"], each["id"]) for each in found["others"]} == {("brand", "Apple"), ("goods", "apples")}
    assert "アップル" in next(each["names"] for each in found["others"] if each["kind"] == "brand")
