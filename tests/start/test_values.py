from __future__ import annotations

import pytest

from batag.start.names import is_ordinary, names_no_goods, names_of, own_names
from batag.start.values import brand_names, category_names, is_none


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("HITACHI 日立", ("HITACHI", "日立")),
        ("HITACHI日立", ("HITACHI", "日立")),
        ("無印良品(MUJI)", ("無印良品", "MUJI")),
        ("Anker / Soundcore", ("Anker", "Soundcore")),
        ("THE NORTH FACE", ("THE NORTH FACE",)),
        ("資生堂 アネッサ", ("資生堂", "アネッサ")),
        ("Zowilan股份有限公司", ("Zowilan",)),
        ("OB嚴選", ("OB嚴選",)),
        ("Purina Pro Plan", ("Purina", "Pro Plan")),
        ("Carl Zeiss", ("Carl Zeiss",)),
        ("1028", ("1028",)),
        ("Zowilan左薇特", ("Zowilan左薇特", "Zowilan")),
        ("Black+Decker compatible", ("Black+Decker",)),
        ("SONY+BOSE", ("SONY", "BOSE")),
        ("適用 Dyson", ("Dyson",)),
        ("Dyson互換品", ("Dyson",)),
    ],
)
def test_a_value_of_the_brand_column_is_taken_apart_by_script_and_separator(value: str, names: tuple[str, ...]) -> None:
    assert own_names(value) == names


@pytest.mark.parametrize("value", ["其他", "無", "No Brand", "N/A", "-", "ノーブランド", "", "  ", "123", "其他 / 無"])
def test_values_that_name_no_brand_give_no_name(value: str) -> None:
    assert brand_names(value) == ()


def test_the_lexicon_gives_a_brand_its_names_in_other_scripts() -> None:
    assert {"Panasonic", "國際牌"} <= set(names_of("パナソニック"))
    assert names_of("左薇特") == ("左薇特",)


def test_a_brand_of_figures_is_one_if_the_lexicon_has_it() -> None:
    assert "1028" in names_of("1028")
    assert names_of("4711999") == ()


def test_a_brand_with_its_sub_brand_is_no_name_of_either() -> None:
    assert "Philips Avent" not in names_of("AVENT")
    assert "新安怡" in names_of("Philips AVENT")


def test_categories_that_name_no_goods_are_known() -> None:
    assert [name for name in ("中古", "Sale", "水晶", "無水鍋", "冰箱", "Zotarra") if names_no_goods(name)] == ["中古", "Sale"]


def test_brands_that_are_ordinary_words_are_known() -> None:
    assert [name for name in ("統一", "大同", "Champion", "日立", "Panasonic") if is_ordinary(name)] == [
        "統一",
        "大同",
        "Champion",
    ]


def test_a_category_is_the_last_name_of_its_path() -> None:
    assert category_names("家電 > 廚房家電 > 冰箱、冷凍櫃") == ("冰箱", "冷凍櫃")
    assert category_names("Home > Kettles, Home > Mugs") == ("Kettles", "Mugs")
    assert is_none("未分類")
    assert category_names("未分類") == ()
