from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import load_workbook
from tests.start.out.tagged_shop import TEXT, TITLE, tagged_shop

import batag
from batag.pages.page import MODEL, PERSON, Page, Tag
from batag.start.cells import in_cell, tag_in_cell, tag_of_cell
from batag.start.out import Facts
from batag.start.out.names import Names
from batag.start.out.report.words import LANGUAGES, read_words
from batag.start.out.review_book import write_review_book
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
        assert dict(page.fields) == {name: in_cell(text) for name, text in wanted[page_id].fields.items() if text}
        assert page.tags == tuple(tag_in_cell(tag, wanted[page_id][tag.field]) for tag in wanted[page_id].tags)
        assert not page.reviewed
        assert {tag.source for tag in page.tags} == {MODEL}


def test_tags_behind_a_line_end_that_a_program_changes_stay_where_they_are(tmp_path: Path) -> None:
    text = "第一行\r\n日立\v冰箱"
    tags = (Tag("title", 5, 7, "brand", "日立", 0.9), Tag("title", 8, 10, "goods", "冰箱", 0.9))
    given = Page("1", {"title": text}, tags=tags, labelled=True)
    write_review_book([given], tmp_path / "a.xlsx", labels=["brand", "goods"], columns={})
    (page,) = batag.read_pages(tmp_path / "a.xlsx")
    assert page["title"] == "第一行\n日立\ufffd冰箱"  # LibreOffice writes no other line end
    assert [(tag.start, tag.text) for tag in page.tags] == [(4, "日立"), (7, "冰箱")]
    assert [tag_of_cell(tag, text) for tag in page.tags] == list(tags)


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


def test_a_row_is_as_high_as_its_longest_text(tmp_path: Path) -> None:
    path = tmp_path / "to_review.xlsx"
    made = [
        Page("1", {"title": "NORDVIK boots"}),
        Page("2", {"title": "NORDVIK boots", "description": "one\ntwo\nthree\n" + "防水登山鞋 " * 4}),
        Page("3", {"title": "x" * 30_000}),
    ]
    write_review_book(made, path, labels=["brand"], columns={})
    sheet = load_workbook(path).active
    low, high, highest = (sheet.row_dimensions[row].height for row in (2, 3, 4))
    assert low == sheet.row_dimensions[1].height < high < highest <= 409
