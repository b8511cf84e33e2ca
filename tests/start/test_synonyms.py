from __future__ import annotations

from batag.start.synonyms import brand_synonyms
from batag.terms.synonyms import Synonyms
from batag.terms.terms import Terms

COLUMN = {
    "名創優品": 3,
    "Zowilan 左薇特": 1,
    "日立": 5,
    "HITACHI": 1,
    "Nike": 2,
    "統一": 9,
    "3M / Scotch": 2,
    "Zoltan / 卓坦": 1,
}


def shown(text: str, *, language: str = "zh-Hant", people: dict[str, str] | None = None) -> str | None:
    synonyms = Synonyms(brand_synonyms(COLUMN, language=language) | dict(people or {}))
    return Terms(synonyms=synonyms, language=language).meaning(text, label="brand").canonical


def test_a_brand_is_called_as_the_shop_calls_it_in_every_script() -> None:
    assert [shown(text) for text in ("MINISO", "名创优品", "HITACHI", "日立", "耐吉")] == [
        *("名創優品", "名創優品", "日立", "日立", "Nike"),
    ]


def test_two_scripts_of_one_value_are_one_brand_in_the_letters_of_the_shop() -> None:
    assert shown("ZOWILAN") == shown("左薇特") == "左薇特"
    assert shown("左薇特", language="en") == "Zowilan"


def test_a_brand_that_no_list_has_is_written_as_in_the_column() -> None:
    assert brand_synonyms({"MARKLINE": 2, "Dabanies Vitraw": 1}, language="zh-Hant") == {
        "markline": "MARKLINE",
        "dabany vitraw": "Dabanies Vitraw",
    }


def test_two_names_of_one_script_stay_two_brands() -> None:
    assert shown("Scotch") != shown("3M")


def test_a_name_of_goods_and_what_a_person_wrote_are_left_as_they_are() -> None:
    assert "apple" not in brand_synonyms({"Apple": 3}, language="zh-Hant")
    assert brand_synonyms({"冰箱": 3, "防水": 1}, language="zh-Hant") == {}
    assert brand_synonyms({"大同": 3, "冠軍 Champion": 1}, language="zh-Hant") == {
        "大同": "大同",
        "冠軍": "冠軍",
        "champion": "冠軍",
    }
    assert shown("HITACHI", people={"hitachi": "Hitachi Ltd."}) == "Hitachi Ltd."
