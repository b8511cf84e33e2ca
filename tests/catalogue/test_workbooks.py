"""Workbooks in and out of a job: what a person finds in them, what stays as it came, and what Excel cannot hold."""

from __future__ import annotations

import csv
import datetime
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.strategies import read_with_problems
from tests.tiny import catalogue, tiny_run, tiny_tagger

from batag.catalogue.inputs import Inputs, find_inputs
from batag.catalogue.job import Job
from batag.catalogue.output import Output, encode
from batag.catalogue.part import Part
from batag.catalogue.rows import Rows
from batag.catalogue.tagged import Options
from batag.catalogue.totals import Totals
from batag.errors import InputError, UsageError
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.settings import Settings

TITLES = [page["title"] for page in catalogue(6, split="test")]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batag.catalogue.inputs.settings", Settings(part_pages=7))


@pytest.fixture(autouse=True, scope="module")
def one_tagger() -> Iterator[None]:
    tagger = tiny_tagger()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batag.tagging.tagger.Tagger.load", lambda *_, **__: tagger)
        yield


def tag(
    path: Path,
    out: Path,
    *,
    also: Path | None = None,
    columns: dict[str, str] | None = None,
    one_file: bool = True,
    **asked: Any,
) -> Any:
    given = [str(each) for each in (path, also) if each is not None]
    inputs = Inputs(paths=find_inputs(given, format=None), columns=columns or {})
    options = Options(format=asked.pop("format", out.suffix[1:]), **asked)
    job = Job(bundle=tiny_run(), engine="torch", inputs=inputs, out=str(out), options=options, one_file=one_file, workers=1)
    return job.run(problems=Problems())


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    book.close()
    return path


def sheet(path: Path) -> list[list[Any]]:
    book = openpyxl.load_workbook(path)
    rows = [list(row) for row in book.active.iter_rows(values_only=True)]
    book.close()
    return rows


def rows_of(path: Path) -> list[dict[str, Any]]:
    header, *rows = sheet(path)
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_a_workbook_keeps_its_columns_numbers_and_empty_cells_and_gets_its_tags(tmp_path: Path) -> None:
    rows = [[number, title, 9.5, number % 2 == 0, None, "007"] for number, title in enumerate(TITLES)]
    path = workbook(tmp_path / "shop.xlsx", [["SKU", "Title", "Price", "In stock", "Note", "Code"], *rows])
    totals = tag(path, tmp_path / "tagged.xlsx")
    assert totals.parts > 2
    found = sheet(tmp_path / "tagged.xlsx")
    labels = [f"{label} (tags)" for label in tiny_tagger().labels]
    assert found[0] == ["SKU", "Title", "Price", "In stock", "Note", "Code", *labels, "tags", "reviewed", "error"]
    assert [row[:6] for row in found[1:]] == rows
    for row in rows_of(tmp_path / "tagged.xlsx"):
        tags = json.loads(row["tags"])
        assert all(row["Title"][each["start"] : each["end"]] == each["text"] for each in tags)
        for label in tiny_tagger().labels:
            texts = dict.fromkeys(each["text"] for each in tags if each["label"] == label)
            assert (row[f"{label} (tags)"] or "") == "; ".join(texts)
    assert any(row[f"{tiny_tagger().labels[0]} (tags)"] for row in rows_of(tmp_path / "tagged.xlsx"))


@pytest.mark.parametrize("to", ["csv", "jsonl", "parquet"])
def test_a_workbook_becomes_another_table_with_its_own_columns(tmp_path: Path, to: str) -> None:
    path = workbook(tmp_path / "shop.xlsx", [["SKU", "Name", "Price"], *([n, title, n] for n, title in enumerate(TITLES))])
    tag(path, tmp_path / f"out.{to}", columns={"title": "Name"})
    again, problems = read_with_problems(tmp_path / f"out.{to}")
    assert [page["title"] for page in again] == TITLES
    assert [str(page.extra["SKU"]) for page in again] == [str(number) for number in range(len(TITLES))]
    assert not problems.counts


def test_what_was_tagged_before_is_replaced_for_people_too(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["title"], *([title] for title in TITLES)])
    tag(path, tmp_path / "b.xlsx")
    tag(tmp_path / "b.xlsx", tmp_path / "c.xlsx", labels=(tiny_tagger().labels[0],))
    tag(tmp_path / "b.xlsx", tmp_path / "d.csv")
    first = f"{tiny_tagger().labels[0]} (tags)"
    assert sheet(tmp_path / "c.xlsx")[0] == ["title", first, "tags", "reviewed", "error"]
    assert (tmp_path / "d.csv").read_text(encoding="utf-8").startswith("title,tags,reviewed,error\n")
    (page, *_), problems = read_with_problems(tmp_path / "b.xlsx")
    assert page.extra.keys() <= {"error"}
    assert not problems.counts


def test_formulas_whose_value_was_not_saved_are_said_with_their_columns(tmp_path: Path) -> None:
    rows = [["title", "price", "stock"], ["ACME shoes", "=1+1", "=2*3"], ["red bag", 2, 3], ['="blue" & "hat"', "=A1", None]]
    path = workbook(tmp_path / "in.xlsx", rows)
    pages, problems = read_with_problems(path)
    assert [page["title"] for page in pages] == ["ACME shoes", "red bag"]
    assert problems.counts == {"no-value": 2, "empty-page": 1}
    found = Problems()
    inputs = Inputs(paths=find_inputs([str(path)], format=None))
    options, out = Options(format="xlsx"), str(tmp_path / "out.xlsx")
    Job(bundle=tiny_run(), engine="torch", inputs=inputs, out=out, options=options, one_file=True, workers=1).run(
        problems=found
    )
    first, last = (each for each in found.listed if each.kind == "no-value")
    assert first.where == f"{path}, row 2"
    assert first.reason.startswith("price, stock: a formula without a saved value")
    assert "save it" in first.reason
    assert last.reason.startswith("title, price: ")


def test_a_formula_that_gave_an_empty_text_has_its_value(tmp_path: Path) -> None:
    path = workbook(tmp_path / "in.xlsx", [["title", "price"], ["ACME shoes", "=1+1"]])
    edited = tmp_path / "edited.xlsx"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(edited, "w") as made:
        for name in book.namelist():
            data = book.read(name).decode()
            made.writestr(name, data.replace('<c r="B2"><f>', '<c r="B2" t="str"><f>'))
    _, problems = read_with_problems(path)
    assert problems.counts == {"no-value": 1}
    _, problems = read_with_problems(edited)
    assert not problems.counts


@pytest.mark.parametrize("id_column", ["id", "SKU"])
def test_numbers_that_are_ids_stay_numbers_whatever_their_column_is_called(tmp_path: Path, id_column: str) -> None:
    path = workbook(tmp_path / "in.xlsx", [[id_column, "title"], *([1000 + n, title] for n, title in enumerate(TITLES))])
    tag(path, tmp_path / "out.xlsx", columns={} if id_column == "id" else {"id": id_column})
    assert [row[0] for row in sheet(tmp_path / "out.xlsx")] == [id_column, *range(1000, 1000 + len(TITLES))]


@pytest.mark.parametrize("to", ["csv", "xlsx", "parquet"])
def test_workbooks_become_one_table_only_if_their_columns_are_the_same(tmp_path: Path, to: str) -> None:
    one = workbook(tmp_path / "a.xlsx", [["title", "price"], ["ACME shoes", 1]])
    other = workbook(tmp_path / "b.xlsx", [["price", "title"], [2, "red bag"]])
    (tmp_path / "c.csv").write_text("title,price\nhat,3\n", encoding="utf-8")
    out = tmp_path / f"out.{to}"
    with pytest.raises(InputError, match=r"b\.xlsx: has different columns than .*a\.xlsx"):
        tag(one, out, also=other)
    assert not out.exists()
    tag(one, out, also=tmp_path / "c.csv")
    pages, problems = read_with_problems(out)
    assert [(page["title"], page.extra["price"]) for page in pages] == [("ACME shoes", "1"), ("hat", "3")]
    assert not problems.counts


def test_formulas_are_written_as_text(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    texts = ["=1+1", "+A1", "-1", "@SUM(A1)", "＝cmd", "\n=x", "\t=x", " =x", '=HYPERLINK("http://x","y")']
    path.write_text("".join(json.dumps({"id": text, "title": text}) + "\n" for text in texts), encoding="utf-8")
    tag(path, tmp_path / "out.xlsx")
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    cells = [row[0] for row in book.active.iter_rows(min_row=2)]
    assert [cell.value for cell in cells] == texts
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}
    assert all(cell.quotePrefix for cell in cells)  # a text though somebody edits it
    book.close()
    assert b"<f>" not in zipfile.ZipFile(tmp_path / "out.xlsx").read("xl/worksheets/sheet1.xml")


def test_one_workbook_is_the_parts_joined_the_same_bytes_each_time(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["title"], *([title] for title in TITLES)])
    tag(path, tmp_path / "parts", format="xlsx", one_file=False)
    tag(path, tmp_path / "one.xlsx")
    tag(path, tmp_path / "two.xlsx")
    parts = sorted((tmp_path / "parts").glob("part-*.xlsx"))
    assert len(parts) > 2
    whole = sheet(parts[0])[:1] + [row for part in parts for row in sheet(part)[1:]]
    assert sheet(tmp_path / "one.xlsx") == whole
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()
    book = openpyxl.load_workbook(tmp_path / "one.xlsx", read_only=True)
    assert len(list(book.active.iter_rows())) == len(TITLES) + 1
    book.close()


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_job_that_is_left_goes_on_and_the_workbook_is_that_of_an_undisturbed_one(tmp_path: Path, after: int) -> None:
    path = workbook(tmp_path / "a.xlsx", [["title", "price"], *([title, 9.5] for title in TITLES)])
    tag(path, tmp_path / "whole.xlsx")
    inputs = Inputs(paths=(str(path),))
    options = Options(format="xlsx")
    out = tmp_path / "cut.xlsx"
    job = Job(bundle=tiny_run(), engine="torch", inputs=inputs, out=str(out), options=options, one_file=True, workers=1)

    def leave(totals: Totals) -> None:
        if totals.parts == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job.run(problems=Problems(), watch=leave)
    assert not out.exists()
    assert job.run(problems=Problems()).found >= 7 * (after - 1)
    assert out.read_bytes() == (tmp_path / "whole.xlsx").read_bytes()


def test_a_row_that_excel_cannot_hold_is_cut_and_says_so(tmp_path: Path) -> None:
    text = f"{TITLES[0]} " * (40_000 // len(TITLES[0]))
    records = [{"id": "1", "title": "a", "description": text}, {"id": "2", "title": TITLES[1]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    totals = tag(tmp_path / "in.jsonl", tmp_path / "out.xlsx")
    assert totals.errors == 1
    assert totals.problems == {"cut-cell": 1}
    first, second = rows_of(tmp_path / "out.xlsx")
    assert "in.jsonl:1: description" in first["error"]
    assert "32,767" in first["error"]
    assert second["error"] is None
    assert len(first["description"]) == 32_767
    assert all(len(cell) <= 32_767 for cell in first.values() if isinstance(cell, str))
    for each in json.loads(first["tags"]):
        assert first[each["field"]][each["start"] : each["end"]] == each["text"]


def test_characters_beyond_the_basic_plane_count_twice_as_in_excel(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps({"title": "a", "description": "😀" * 17_000}) + "\n", encoding="utf-8")
    tag(tmp_path / "in.jsonl", tmp_path / "out.xlsx", min_score=1.0)
    assert rows_of(tmp_path / "out.xlsx")[0]["description"] == "😀" * 16_383


def test_tags_of_such_characters_are_left_out_where_excel_has_no_room(tmp_path: Path) -> None:
    page = Page("1", {"title": "😀" * 13_200})
    tags = [page.cut("title", start, start + 60, "brand") for start in range(0, 13_200, 60)]
    rows = Rows(Part(source="in.jsonl", stem="in", format="jsonl"), records=[{}], pages=[page], problems=[()])
    data, _ = encode(rows, [tags], Output(format="xlsx"), labels=("brand",), shown=("brand",))
    (tmp_path / "out.xlsx").write_bytes(data)
    (row,) = rows_of(tmp_path / "out.xlsx")
    assert 20_000 < len(row["tags"].encode("utf-16-le")) // 2 <= 32_767
    assert f"{len(tags) - len(json.loads(row['tags']))} tags left out" in row["error"]


def test_more_rows_than_a_sheet_has_are_refused_before_they_are_tagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batag.pages.formats.sheet.MOST_ROWS", 11)
    path = workbook(tmp_path / "a.xlsx", [["title"], *([title] for title in TITLES)])
    with pytest.raises(UsageError, match=r"more than 10 pages.*\.csv"):
        tag(path, tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()
    tag(path, tmp_path / "parts", format="xlsx", one_file=False)
    pages = [Page(str(number), {"title": "a"}) for number in range(11)]
    with pytest.raises(UsageError, match="more than 10 pages"):
        write_pages(pages, tmp_path / "pages.xlsx")
    assert not (tmp_path / "pages.xlsx").exists()
    write_pages(pages[:10], tmp_path / "pages.xlsx")


def test_a_page_that_excel_cannot_hold_is_not_converted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"page 7.*title.*\.csv"):
        write_pages([Page("7", {"title": "a" * 32_768})], tmp_path / "a.xlsx")
    assert not (tmp_path / "a.xlsx").exists()
    write_pages([Page("7", {"title": "a" * 32_767})], tmp_path / "a.xlsx")


def test_dates_of_a_workbook_are_read_as_a_person_sees_them(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["title", "since"], ["ACME", datetime.datetime(2026, 11, 17)]])
    tag(path, tmp_path / "out.xlsx")
    assert rows_of(tmp_path / "out.xlsx")[0]["since"] == "2026-11-17"


@pytest.mark.parametrize("text", ["a\r\nb", " a ", "a\tb", "a\u2028b", "_x000D_", "<b>&amp;</b>", '"q"', "a\u0085b", "]]>"])
def test_a_text_comes_back_letter_by_letter(tmp_path: Path, text: str) -> None:
    write_pages([Page("1", {"title": f"x{text}y"})], tmp_path / "a.xlsx")
    (page,), problems = read_with_problems(tmp_path / "a.xlsx")
    assert page["title"] == f"x{text}y" == sheet(tmp_path / "a.xlsx")[1][3]
    assert not problems.counts


BRAND, GOODS = "brand (tags)", "goods (tags)"
MARKED = [("title", 0, 4, "brand"), ("title", 5, 10, "goods")]


def by_person(path: Path, brand: Any, goods: Any, *, reviewed: Any = "false", title: str = "ACME shoes by Nike") -> Any:
    """The page of a tagged row (ACME is its brand, shoes its goods) after a person wrote into its columns; and the problems."""
    tags = [dict(zip(("field", "start", "end", "label"), each, strict=True)) for each in MARKED]
    machine_tags = json.dumps([tag | {"text": title[tag["start"] : tag["end"]], "source": "model"} for tag in tags])
    header = ["id", "title", BRAND, GOODS, "colour (tags)", "tags", "reviewed", "error"]
    row = ["1", title, brand, goods, None, machine_tags, reviewed, None]
    if path.suffix == ".csv":
        rows = [header, ["" if cell is None else cell for cell in row]]
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)
    else:
        workbook(path, [header, row])
    (page,), problems = read_with_problems(path)
    assert not [key for key in page.extra if key in (BRAND, GOODS, "colour (tags)")]
    return {(tag.label, tag.text, tag.source) for tag in page.tags}, page, problems


ACME, SHOES = ("brand", "ACME", "model"), ("goods", "shoes", "model")


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv"])
def test_what_a_person_writes_into_the_column_of_a_label_becomes_its_tags(tmp_path: Path, name: str) -> None:
    assert by_person(tmp_path / name, "ACME", "shoes")[0] == {ACME, SHOES}
    assert by_person(tmp_path / name, " ACME ", "shoes")[0] == {ACME, SHOES}
    assert by_person(tmp_path / name, "Nike", "shoes")[0] == {("brand", "Nike", "person"), SHOES}
    both = {("brand", "ACME", "person"), ("brand", "Nike", "person"), SHOES}
    for written in ("ACME; Nike", "nike；acme", "ACME\nNike"):
        tags, page, problems = by_person(tmp_path / name, written, "shoes")
        assert (tags, page.reviewed, len(problems)) == (both, False, 0)
    assert by_person(tmp_path / name, None, "shoes")[0] == {SHOES}
    tags, page, _ = by_person(tmp_path / name, None, None)
    assert (tags, page.labelled) == (set(), True)


def test_a_machines_tag_that_a_person_replaced_never_becomes_the_persons(tmp_path: Path) -> None:
    tags, page, problems = by_person(tmp_path / "a.xlsx", "Nike", "shoes", reviewed=True)
    assert tags == {("brand", "Nike", "person"), ("goods", "shoes", "person")}
    assert (page.reviewed, len(problems)) == (True, 0)


def test_what_a_person_wrote_and_the_page_does_not_have_is_listed(tmp_path: Path) -> None:
    tags, _, problems = by_person(tmp_path / "a.xlsx", "Adidas; Nike", "shoes", reviewed=True)
    assert tags == {("brand", "Nike", "person"), ("goods", "shoes", "person")}
    assert problems.counts == {"not-found": 1}
    assert "brand=Adidas" in problems.listed[0].reason


def test_what_a_person_wrote_wins_over_a_longer_tag_of_a_machine(tmp_path: Path) -> None:
    for brand in ("跑鞋", "鞋", "鞋 アク", "ク"):
        tags, _, problems = by_person(tmp_path / "a.xlsx", brand, "跑鞋 アク", title="ACME 跑鞋 アク")
        assert tags == {("brand", brand, "person")}
        assert problems.counts == {"overlap": 1}
    assert by_person(tmp_path / "a.xlsx", "メ", "跑鞋 アク", title="ACME 跑鞋 アクメ")[0] == {
        ("brand", "メ", "person"),
        ("goods", "跑鞋 アク", "model"),
    }


def test_a_label_that_the_machine_missed_is_read_from_its_column(tmp_path: Path) -> None:
    machine_tags = json.dumps([{"field": "title", "start": 0, "end": 4, "label": "brand", "text": "ACME", "source": "model"}])
    rows = [["title", BRAND, GOODS, "tags", "reviewed"], ["ACME shoes", "ACME", "shoes", machine_tags, "false"]]
    (page,), problems = read_with_problems(workbook(tmp_path / "a.xlsx", rows))
    assert [(tag.label, tag.text, tag.source) for tag in page.tags] == [ACME, ("goods", "shoes", "person")]
    assert len(problems) == 0


def test_a_workbook_that_nobody_changed_is_read_as_it_was_written(tmp_path: Path) -> None:
    tag(workbook(tmp_path / "a.xlsx", [["title"], *([title] for title in TITLES)]), tmp_path / "tagged.xlsx")
    found, problems = read_with_problems(tmp_path / "tagged.xlsx")
    assert {tag.source for page in found for tag in page.tags} == {"model"}
    assert len(problems) == 0
