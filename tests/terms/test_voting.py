"""A translation that is another thing loses against the English names, and so does a part or a thing for other users."""

from __future__ import annotations

import pytest

from batag.terms.taxonomy import Taxonomy, build_taxonomy
from batag.terms.terms import Terms
from batag.terms.voting import Match
from batag.terms.voting.agreement import Agreement, words_of

_LANGUAGES = ("en", "zh-Hant", "ja")
_ROWS = [
    ("1", "", ("Home", "居家", "ホーム")),
    ("2", "1", ("Refrigerator Accessories", "冰箱配件", "冷蔵庫アクセサリー")),
    ("3", "2", ("Shelves", "層架", "棚")),
    ("5", "1", ("Tools", "器材", "器具")),
    ("6", "5", ("Kitchen Tools", "廚房器材", "厨房器具")),
    ("7", "6", ("Sneeze Guards", "食物罩", "くしゃみガード")),
    ("8", "1", ("Girls' Clothing", "女童裝", "女児服")),
    ("9", "8", ("Skirts", "裙子", "女児スカート")),
    ("4", "1", ("Skirts & Dresses", "裙裝", "スカート")),
    ("10", "6", ("Tongs", "夾子", "トング")),
]


def taxonomy(*languages: str) -> Taxonomy:
    """The categories in some languages, or in all."""
    places = [_LANGUAGES.index(each) for each in languages or _LANGUAGES]
    rows = ((id, parent, tuple(names[place] for place in places)) for id, parent, names in _ROWS)
    return build_taxonomy(rows, source="shopify", version="1", languages=languages or _LANGUAGES)


def category(text: str, *languages: str) -> Match | None:
    return Terms(taxonomy=taxonomy(*languages)).meaning(text, label="goods").category


def share(words: str, id: str, *languages: str, group: str = "home", translated: bool = True) -> float:
    agreement = Agreement(taxonomy(*languages))
    return agreement.share(frozenset(words_of(words)), id, group=group, translated=translated)


def test_a_name_counts_less_if_the_english_words_are_others() -> None:
    assert share("salad tongs", "10") == 1.0 > share("kitchen scissors", "6") > share("food cover", "7")
    assert share("food cover", "7", translated=False) == 1.0


@pytest.mark.parametrize(
    ("words", "id", "group"),
    [("wall shelf", "3", "home"), ("pleated skirt", "9", "fashion"), ("boys' kilt skirt", "9", "baby")],
)
def test_a_name_counts_less_for_a_part_or_for_other_users(words: str, id: str, group: str) -> None:
    assert share(words, id, group=group) < 1.0


@pytest.mark.parametrize(
    ("words", "id", "group"),
    [("refrigerator shelf", "3", "home"), ("girls' skirt", "9", "fashion"), ("baby skirt", "9", "baby")],
)
def test_but_not_if_the_english_words_speak_of_them(words: str, id: str, group: str) -> None:
    assert share(words, id, group=group) == 1.0


def test_without_english_everything_agrees() -> None:
    assert share("food cover", "7", "zh-Hant", "ja") == share("", "7") == 1.0


@pytest.mark.parametrize("text", ["裙子", "skirt", "スカート"])
def test_a_skirt_is_not_for_girls_because_a_translation_says_so(text: str) -> None:
    match = category(text)
    assert match is not None
    assert match.id == "4"


def test_a_kind_of_goods_that_only_a_translation_names_gets_the_category_above() -> None:
    match = category("食物罩")
    assert match is not None
    assert (match.id, match.by) == ("6", "part")


def test_words_of_a_text_are_in_the_singular() -> None:
    assert words_of("Gloves & Mittens, for the Kids' accessories") == ["glove", "mitten", "kid"]
