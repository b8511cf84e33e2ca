"""From tags to categories: by name, by synonym, by the longest end; one id for one kind of goods in four languages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.terms.categories import CATEGORIES, LANGUAGES, shopify_files, write

from batag.errors import UsageError
from batag.pages.page import Page, Tag
from batag.terms.coverage import cover
from batag.terms.forms import collect_forms
from batag.terms.sources import import_taxonomy
from batag.terms.synonyms import parse_synonyms
from batag.terms.taxonomy import build_taxonomy
from batag.terms.terms import Terms
from batag.terms.voting import Match


@cache
def terms(*languages: str) -> Terms:
    """Terms with the small taxonomy in some languages, or in all."""
    with TemporaryDirectory() as folder:
        return Terms(taxonomy=import_taxonomy(shopify_files(Path(folder), *languages)))


def category(text: str, *languages: str, label: str | None = "goods") -> Match | None:
    return terms(*languages).meaning(text, label=label).category


def id_of(text: str, *languages: str, label: str | None = "goods") -> str | None:
    found = category(text, *languages, label=label)
    return None if found is None else found.id


def test_every_name_of_a_category_leads_to_it() -> None:
    wrong = {
        name: id_of(name)
        for id, names in CATEGORIES.items()
        if "-" in id
        for name in names
        if "&" not in name and id_of(name) != id
    }
    assert not wrong


@pytest.mark.parametrize("own", LANGUAGES)
@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("ha-1", ("refrigerator", "冰箱", "冰箱", "冷蔵庫")),
        ("ha-2", ("vacuum cleaner", "吸塵器", "吸尘器", "掃除機")),
        ("ha-3", ("rice cooker", "電子鍋", "电饭煲", "炊飯器")),
        ("aa-1-1", ("running shoes", "慢跑鞋", "跑步鞋", "ランニングシューズ")),
        ("el-1", ("mouse", "滑鼠", "鼠标", "マウス")),
    ],
)
def test_one_kind_of_goods_in_four_languages_is_one_category_of_a_taxonomy_in_one_language(
    own: str, id: str, names: tuple[str, ...]
) -> None:
    assert {id_of(name, own) for name in names} == {id}


@pytest.mark.parametrize(
    ("text", "id", "end"),
    [
        ("防水登山鞋", "aa-1-2", "登山鞋"),
        ("黑色防水登山鞋", "aa-1-2", "登山鞋"),
        ("trail running shoes", "aa-1-1", None),
        ("bluetooth refrigerator", "ha-1", "refrigerator"),
        ("無線滑鼠", "el-1", None),
        ("マウス", "el-1", None),
        ("超薄型掃除機", "ha-2", None),
        ("mouse for gamers", "el-1", "mouse"),
    ],
)
def test_the_longest_end_that_is_known_gives_the_category(text: str, id: str, end: str | None) -> None:
    found = category(text)
    assert found is not None
    assert found.id == id
    if end is not None:
        assert (found.by, found.name) == ("suffix", end)


def test_a_name_is_surer_than_a_synonym_and_a_synonym_than_an_end() -> None:
    name, synonym, near, far = (category(text) for text in ("冰箱", "fridge", "迷彩登山鞋", "超輕量迷彩防滑登山鞋"))
    assert name is not None
    assert synonym is not None
    assert near is not None
    assert far is not None
    assert (name.by, synonym.by, near.by, far.by) == ("name", "synonym", "suffix", "suffix")
    assert 1.0 == name.confidence > synonym.confidence > near.confidence > far.confidence > 0


def test_a_part_of_the_name_of_a_category_is_less_sure_than_the_name() -> None:
    whole, part = category("hats and caps", "en"), category("caps", "en")
    assert whole is not None
    assert part is not None
    assert (whole.id, part.id) == ("aa-2", "aa-2")
    assert whole.confidence > part.confidence


@pytest.mark.parametrize("text", ["banana", "免運", "", "!!!", "zzz", "プラグ"])
def test_what_no_category_is_for_has_none(text: str) -> None:
    assert id_of(text) is None


@pytest.mark.parametrize(("text", "label"), [("HITACHI", "brand"), ("防水", "feature"), ("冰箱", "brand"), ("HITACHI", None)])
def test_only_goods_have_a_category(text: str, label: str | None) -> None:
    assert id_of(text, label=label) is None


def test_with_a_label_of_ones_own_only_whole_names_count() -> None:
    assert id_of("冰箱", label="thing") == "ha-1"
    assert id_of("防水登山鞋", label="thing") is None


def test_without_a_taxonomy_there_is_no_category() -> None:
    assert Terms().meaning("冰箱", label="goods").category is None


def test_a_synonym_of_the_shop_leads_where_its_canonical_form_leads() -> None:
    own = Terms(synonyms=parse_synonyms(["冰箱 = 小冷寶"], where="own.txt"), taxonomy=terms().taxonomy)
    found = own.meaning("小冷寶", label="goods").category
    assert found is not None
    assert found.id == "ha-1"


def test_a_shops_own_table_is_mapped_too(tmp_path: Path) -> None:
    path = write(tmp_path / "own.csv", ["id,path", "7,Footwear", "8,Footwear > Running Shoes", "9,Footwear > Boots"])
    own = Terms(taxonomy=import_taxonomy([path]))
    for text in ("慢跑鞋", "running shoe", "ランニングシューズ"):
        found = own.meaning(text, label="goods").category
        assert found is not None
        assert found.id == "8"


# Names that agree, and names that are alone


def mapped(text: str, *rows: tuple[str, str, tuple[str, str]]) -> Match | None:
    """The category in a taxonomy in English and Chinese."""
    own = Terms(taxonomy=build_taxonomy(rows, source="shopify", version="1", languages=["en", "zh-Hant"]))
    return own.meaning(text, label="goods").category


_DECOR = (
    ("1", "", ("Decor", "裝飾")),
    ("2", "1", ("Bird Feeders", "喂鳥器")),
    ("3", "1", ("Birdhouses", "鳥屋")),
)
_PARTS = (
    ("1", "", ("Hardware", "五金")),
    ("2", "1", ("Electrical Supplies", "電氣用品")),
    ("3", "", ("Electronics", "電子產品")),
    ("4", "3", ("Transistors", "電晶體")),
)


@pytest.mark.parametrize(
    ("text", "id", "by"),
    [("bird feeder", "2", "name"), ("bird house", "2", "synonym"), ("birdhouse", "3", "name"), ("鳥屋", "3", "name")],
)
def test_a_name_that_is_a_category_itself_leads_there(text: str, id: str, by: str) -> None:
    match = mapped(text, *_DECOR)
    assert match is not None
    assert (match.id, match.by) == (id, by)


@pytest.mark.parametrize("text", ["transistor", "電晶體", "三极管"])
def test_a_category_that_english_and_another_language_name_counts_more_than_a_wider_one(text: str) -> None:
    match = mapped(text, *_PARTS)
    assert match is not None
    assert match.id == "4"


def test_but_a_translation_alone_does_not() -> None:
    match = mapped("transistor", *_PARTS[:3], ("4", "3", ("Vacuum Tubes", "電晶體")))
    assert match is not None
    assert (match.id, match.by) == ("2", "broader")


# The share that is mapped


def page(id: str, *tags: tuple[str, str]) -> Page:
    text = " ".join(text for text, _ in tags)
    return Page(
        id, {"title": text}, tags=[Tag("title", at := text.index(word), at + len(word), label, word) for word, label in tags]
    )


def test_the_share_mapped_and_what_is_not_is_counted() -> None:
    pages = [
        page("1", ("冰箱", "goods"), ("HITACHI", "brand")),
        page("2", ("冷蔵庫", "goods"), ("香蕉", "goods")),
        page("3", ("香蕉", "goods"), ("登山鞋", "goods")),
        page("4", ("香蕉", "goods"), ("免運", "goods")),
    ]
    found = cover(collect_forms(pages, terms()))
    assert found["labels"] == ["goods"]
    assert found["tags"] == {"all": 6, "mapped": 3}
    assert found["forms"] == {"all": 3, "mapped": 2}
    assert [(each["text"], each["tags"], each["category"]) for each in found["mapped"]] == [
        ("冰箱", 2, "ha-1"),
        ("登山鞋", 1, "aa-1-2"),
    ]
    assert found["unmapped"] == [{"text": "香蕉", "tags": 3}]
    assert cover(collect_forms(pages, terms()), label="brand")["tags"] == {"all": 1, "mapped": 0}
    with pytest.raises(UsageError, match="no tag with the label 'colour'"):
        cover(collect_forms(pages, terms()), label="colour")
