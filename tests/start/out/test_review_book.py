from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import load_workbook
from tests.start.out.tagged_shop import TEXT, TITLE, tagged_shop

import batag
from batag.pages.page import MODEL, PERSON, Page, Tag
from batag.start.out import Facts
from batag.start.out.names import Names
from batag.start.out.report.words import LANGUAGES, read_words
from batag.start.out.tables import label_cells

ROWS = [["7", "日立 HITACHI 冰箱", "=冰箱\r\n第二行"], ["8", "melra 耳機", ""]]


def pages(path: Path) -> dict[str, Page]:
    return {page.id: page for page in batag.read_pages(path)}


def test_the_workbook_has_the_shops_columns_and_one_of_plain_text_for_each_label(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS)
    shop.write()
    sheet = load_workbook(shop.out / "to_review.xlsx").active
    header, *rows = sheet.values
    assert header[:6] == ("sku", TITLE, TEXT, "brand (tags)", "goods (tags)", "reviewed")
    cells = {row[0]: row for row in rows}
    assert cells["7"][3:6] == ("日立; HITACHI", "冰箱", "否")
    # What is for programs is out of sight.
    hidden = [name for place, name in enumerate(header) if sheet.column_dimensions[chr(65 + place)].hidden]
    assert hidden == ["language", "tags", "batag"]


@pytest.mark.parametrize(("language", "answer"), [("zh-Hant", "是"), ("ja", "はい"), ("en", "yes")])
def test_the_column_reviewed_offers_its_answers(tmp_path: Path, language: str, answer: str) -> None:
    shop = tagged_shop(tmp_path, ROWS)
    shop.write(facts=Facts(shop="x", language=language))
    (check,) = load_workbook(shop.out / "to_review.xlsx").active.data_validations.dataValidation
    assert check.formula1.startswith(f'"{answer},')
    assert str(check.sqref) == "F2:F3"


def test_without_an_edit_nothing_is_claimed_and_every_tag_is_where_it_was(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS)
    shop.write()
    found, wanted = pages(shop.out / "to_review.xlsx"), pages(shop.out / "to_review.jsonl")
    assert found.keys() == wanted.keys()
    for page_id, page in found.items():
        assert dict(page.fields) == {name: text for name, text in wanted[page_id].fields.items() if text}
        assert page.tags == wanted[page_id].tags
        assert not page.reviewed
        assert {tag.source for tag in page.tags} == {MODEL}


def test_a_corrected_row_that_is_marked_has_the_tags_of_a_person(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS)
    shop.write()
    book = load_workbook(shop.out / "to_review.xlsx")
    (row,) = (row for row in book.active.iter_rows(min_row=2) if row[0].value == "7")
    row[3].value, row[5].value = "日立", "✓"
    book.save(tmp_path / "mine.xlsx")
    page = pages(tmp_path / "mine.xlsx")["7"]
    assert page.reviewed
    assert {(tag.label, tag.text, tag.source) for tag in page.tags} == {("brand", "日立", PERSON), ("goods", "冰箱", PERSON)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_report_says_which_file_to_open_and_what_to_write(language: str) -> None:
    text = read_words(language)["review.text"]
    for said in ("to_review.xlsx", "Excel", "brand (tags)", "reviewed", "labels/person/"):
        assert said in text


def test_a_persons_tag_without_a_canonical_form_is_shown_as_it_is_written() -> None:
    promo = Tag("title", 0, 2, "goods", "福袋", 1.0, "福袋", PERSON)
    machine = Tag("title", 3, 5, "goods", "免運", 0.9, "免運", MODEL)
    assert label_cells([promo, machine], ["goods"], Names()) == ["福袋"]
