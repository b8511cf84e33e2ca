"""Files as shops and labelling tools really have them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from batag.errors import InputError, UsageError
from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.segmentation.segmentation import Segmentation, bring_tokens


def read(path: Path, **options: Any) -> tuple[list[Page], Problems]:
    problems = Problems()
    return list(read_pages(path, problems=problems, **options)), problems


def spans(page: Page) -> list[tuple[str, str, str]]:
    return [(tag.field, tag.label, tag.text) for tag in page.tags]


def test_label_studio_min_export_of_our_own_configuration_keeps_its_labels(tmp_path: Path) -> None:
    task = {
        "id": 7,
        "title": "😀 ACME 跑鞋",
        "description": "好鞋",
        "title_label": [{"start": 3, "end": 7, "text": "ACME", "labels": ["brand"]}],
        "description_label": [{"start": 1, "end": 2, "text": "鞋", "labels": ["goods"]}],
    }
    (tmp_path / "min.json").write_text(json.dumps([task]), encoding="utf-8")
    (page,), problems = read(tmp_path / "min.json")
    assert spans(page) == [("title", "brand", "ACME"), ("description", "goods", "鞋")]
    assert page.labelled
    assert not page.extra
    assert not problems.counts


@pytest.mark.parametrize(("text", "field"), [("ACME", "description"), (None, None)])
def test_a_label_studio_field_is_found_by_its_column_or_by_the_text(
    tmp_path: Path, text: str | None, field: str | None
) -> None:
    def task(name: str) -> list[Any]:
        value = {"start": 5, "end": 9, "labels": ["brand"]} | ({"text": text} if text else {})
        data = {"name": "a good shoe", "body": "from ACME"}
        return [{"data": data, "annotations": [{"result": [{"to_name": name, "value": value}]}]}]

    (tmp_path / "a.json").write_text(json.dumps(task("body")), encoding="utf-8")
    columns = {"title": "name", "description": "body"}
    (page,), problems = read(tmp_path / "a.json", columns=columns)
    assert spans(page) == [("description", "brand", "ACME")]
    (tmp_path / "b.json").write_text(json.dumps(task("elsewhere")), encoding="utf-8")
    (page,), problems = read(tmp_path / "b.json", columns=columns)
    assert [tag.field for tag in page.tags] == ([field] if field else [])
    assert problems.counts == ({} if field else {"bad-tag": 1})


@pytest.mark.parametrize("tags", ["running, shoes", "brand:x"])
def test_tags_of_another_kind_do_not_make_a_page_labelled_and_are_kept(tmp_path: Path, tags: str) -> None:
    (tmp_path / "shop.csv").write_text(f'id,title,tags\n1,ACME shoe,"{tags}"\n', encoding="utf-8")
    (page,), problems = read(tmp_path / "shop.csv")
    assert not page.labelled
    assert page.extra == {"tags": tags}
    assert problems.counts == {"bad-tag": 1}
    assert "brand=ACME;goods=shoes" in problems.listed[0].reason
    page = replace(page, language=None, extra={"tags": tags, "language": 5})
    for name in ("jsonl", "csv", "parquet", "conll", "doccano", "label-studio"):
        write_pages([bring_tokens(page, Segmentation())], tmp_path / "again", format=name)
        (again,), _ = read(tmp_path / "again", format=name)
        assert (again.labelled, dict(again.extra)) == (False, {"tags": tags, "language": 5}), name


def test_plain_labels_that_do_not_occur_do_not_make_a_page_labelled(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title,labels\n1,shoe,brand=ACME\n", encoding="utf-8")
    (page,), problems = read(tmp_path / "a.csv")
    assert not page.labelled
    assert problems.counts == {"not-found": 1}


def test_a_page_none_of_whose_tags_can_be_used_does_not_count_as_labelled(tmp_path: Path) -> None:
    record = {"title": "abc", "tags": [{"start": 0, "end": 99, "label": "x"}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (page,), _ = read(tmp_path / "a.jsonl")
    assert not page.labelled


def test_what_is_not_used_is_kept(tmp_path: Path) -> None:
    record = {"id": "1", "title": "ACME", "tags": [], "labels": "mine", "language": "fr"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (page,), problems = read(tmp_path / "a.jsonl")
    assert page.extra == {"labels": "mine", "language": "fr"}
    assert problems.counts == {"unknown-language": 1}


def test_escaped_cells_come_back_though_a_spreadsheet_saved_them(tmp_path: Path) -> None:
    page = Page("1", {"title": "+1 ACME", "description": "'=x"}, labelled=True)
    page = Page("1", page.fields, tags=(page.cut("title", 3, 7, "brand"),))
    counts: Counter[str] = Counter()
    write_pages([page], tmp_path / "a.csv", bom=True, excel_safe=True, escaped=counts)
    assert counts == {"title": 1}
    rows = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text(encoding="utf-8-sig"))))
    assert rows[1][3:5] == ["'+1 ACME", "'=x"]
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([cell or None for cell in row])
    book.save(tmp_path / "a.xlsx")
    book.close()
    for name in ("a.csv", "a.xlsx"):
        (again,), problems = read(tmp_path / name)
        assert again == page
        assert not problems.counts


def test_an_apostrophe_that_batag_did_not_write_stays(tmp_path: Path) -> None:
    page = Page("1", {"title": "'=1 ACME"}, tags=(Page("1", {"title": "'=1 ACME"}).cut("title", 4, 8, "brand"),))
    write_pages([page], tmp_path / "a.csv")
    (again,), problems = read(tmp_path / "a.csv")
    assert (again.fields, again.tags) == (page.fields, page.tags)
    assert not problems.counts


@pytest.mark.parametrize("value", ["true", "[1]", '{"columns": {"title": 1}}', '{"escaped": "title"}', "{", '{"other": 1}'])
def test_a_column_called_batag_that_says_something_else_changes_nothing(tmp_path: Path, value: str) -> None:
    rows = [["id", "title", "batag"], ["1", "'=ACME", value]]
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    (page,), problems = read(tmp_path / "a.csv")
    assert dict(page.fields) == {"title": "'=ACME"}
    assert not problems.counts


def test_a_column_that_stands_twice_is_an_error_if_it_is_ours(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,Title,title\n1,a,b\n", encoding="utf-8")
    with pytest.raises(InputError, match="title more than once"):
        read(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("id,title,size,size,\n1,a,S,M,x\n", encoding="utf-8")
    assert read(tmp_path / "b.csv")[0][0].extra == {"size": "S", "size_4": "M", "column_5": "x"}


def test_excel_says_its_separator_and_leaves_empty_cells(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sep=;\r\nid;title;labels\r\n1;ACME, best;brand=ACME;;\r\n", encoding="utf-8-sig")
    (page,), problems = read(tmp_path / "a.csv")
    assert (page["title"], spans(page)) == ("ACME, best", [("title", "brand", "ACME")])
    assert not problems.counts


@pytest.mark.parametrize("name", ["parquet", "xlsx"])
def test_files_that_need_jumping_about_may_be_compressed(tmp_path: Path, name: str) -> None:
    if name == "parquet":
        write_pages([Page("1", {"title": "跑鞋"})], tmp_path / "a.parquet")
    else:
        book = openpyxl.Workbook()
        book.active.append(["id", "title"])
        book.active.append(["1", "跑鞋"])
        book.save(tmp_path / "a.xlsx")
        book.close()
    (tmp_path / f"b.{name}.gz").write_bytes(gzip.compress((tmp_path / f"a.{name}").read_bytes()))
    assert [page["title"] for page in read(tmp_path / f"b.{name}.gz")[0]] == ["跑鞋"]
    with pytest.raises(UsageError):
        write_pages([], tmp_path / "c.parquet.gz")


def test_an_old_workbook_is_told_from_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(InputError, match=r"old Excel workbook.*Save it as \.xlsx"):
        read(tmp_path / "a.xls")


def test_an_id_that_stands_in_two_files_of_one_job_is_noted(tmp_path: Path) -> None:
    problems = Problems()
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "1", "title": "x"}\n', encoding="utf-8")
        list(read_pages(tmp_path / f"{name}.jsonl", problems=problems))
    assert problems.counts == {"duplicate-id": 1}
    assert problems.listed[0].where == f"{tmp_path}/b.jsonl:1"


def test_an_empty_label_of_a_template_is_no_label(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title,labels\n1,跑鞋,brand=;goods=跑鞋\n", encoding="utf-8")
    (page,), problems = read(tmp_path / "a.csv")
    assert spans(page) == [("title", "goods", "跑鞋")]
    assert not problems.counts


def test_a_page_of_another_width_in_a_conll_file_is_listed(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("ACME B-brand\nshoes O\nare O\n\nACME NNP B-NP B-brand\n", encoding="utf-8")
    found, problems = read(tmp_path / "a.conll")
    assert [page["title"] for page in found] == ["ACME shoes are"]
    assert problems.counts == {"bad-line": 1}


def test_a_record_without_text_names_its_keys(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"name": "x", "price": 3}\n', encoding="utf-8")
    _, problems = read(tmp_path / "a.jsonl")
    assert "name, price" in problems.listed[0].reason
    assert "--columns title=NAME" in problems.listed[0].reason
