"""Tagged files: offsets hold for what any reader finds in them, and batag reads them again without being told anything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import read_all, read_with_problems
from tests.tiny import catalogue, tiny_run, tiny_tagger

from batag.catalogue.inputs import Inputs, find_inputs
from batag.catalogue.job import Job
from batag.catalogue.tagged import Options
from batag.pages.problems import Problems

TITLES = [page["title"] for page in catalogue(6, split="test")]
FORMATS = ["jsonl", "csv", "tsv", "parquet", "xlsx"]
FORMULAS = [
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\r\n=",
    "\n=",
    " =",
    "\u3000=",
    "\ufeff=",
    "＝",
    "＋",
    "－",
    "＠",
    "﹦",
    "\u200b@",
]
STARTS = ["", "", "'", "'=", "''+", *FORMULAS]
HEADER = ["sku", "name", "Body", "brand", "note"]
MAPPINGS: list[dict[str, str]] = [
    {"title": "name"},
    {"title": "name", "description": "Body", "id": "sku"},
    {"description": "name", "title": "Body"},
    {"headline": "name", "spec": "Body"},
    {"title": "name", "subtitle": "Body", "shop": "brand"},
    {"id": "name", "title": "name"},
    {"title": "name", "description": "name"},
]
OURS = [["id", "title", "description", "brand", "note"], ["ID", " Title ", "DESCRIPTION", "brand", "note"]]


@pytest.fixture(autouse=True, scope="module")
def one_tagger() -> Iterator[None]:
    tagger = tiny_tagger()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batag.tagging.tagger.Tagger.load", lambda *_, **__: tagger)
        yield


def tag(path: Path, out: Path, **arguments: Any) -> Path:
    out.parent.mkdir()
    columns = arguments.pop("columns", {})
    inputs = Inputs(paths=find_inputs([str(path)], format=None), columns=columns)
    options = Options(format=out.suffix[1:], **arguments)
    Job(bundle=tiny_run(), engine="torch", inputs=inputs, out=str(out), options=options, one_file=True, workers=1).run(
        problems=Problems()
    )
    return out


def write(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    if path.suffix == ".jsonl":
        records = [json.dumps(dict(zip(header, row, strict=True))) for row in rows]
        path.write_text("\n".join(records), encoding="utf-8")
    elif path.suffix == ".parquet":
        pq.write_table(pa.table([list(column) for column in zip(*rows, strict=True)], names=header), path)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for number, row in enumerate([header, *rows], 1):
            for place, text in enumerate(row, 1):
                book.active.cell(number, place, text).data_type = "s"
        book.save(path)
        book.close()
    else:
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter="," if path.suffix == ".csv" else "\t").writerows([header, *rows])
        path.write_bytes(stream.getvalue().encode())
    return path


def raw_rows(path: Path) -> list[dict[str, Any]]:
    """The rows as a reader sees them who has never heard of batag."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_bytes().splitlines()]
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        header, *rows = book.active.iter_rows()
        assert not any(cell.data_type == "f" for row in (header, *rows) for cell in row)
        book.close()
        return [{name.value: cell.value for name, cell in zip(header, row, strict=True)} for row in rows]
    text = io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")
    return list(csv.DictReader(text, delimiter="," if path.suffix == ".csv" else "\t"))


def fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's texts by name; batag's own columns hold fields of other names in `more`."""
    more = json.loads(row.get("more") or "{}") if isinstance(row.get("more"), str) else {}
    return dict(row) | more.get("fields", {})


def tags(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(row["tags"]) if isinstance(row["tags"], str) else row["tags"]
    return found


def check(path: Path, columns: dict[str, str], to: str, folder: Path) -> int:
    """Tag a file and read it again, raw and as batag does; how many tags were compared."""
    out = tag(path, folder / "once" / f"in.{to}", columns=columns)
    compared = 0
    for row in raw_rows(out):
        for each in tags(row):
            assert fields(row)[each["field"]][each["start"] : each["end"]] == each["text"], (row, each)
            compared += 1
    came = read_all(path, columns=columns)
    again, problems = read_with_problems(out)
    assert problems.counts.keys() <= {"duplicate-id"}, problems.listed  # where a name is the id, two rows may have the same
    assert [(page.id, page.fields, page.shop) for page in again] == [(page.id, page.fields, page.shop) for page in came]
    assert sum(len(page.tags) for page in again) == compared
    twice = tag(out, folder / "twice" / f"in.{to}")
    assert twice.read_bytes() == out.read_bytes()
    return compared


def with_starts(header: list[str]) -> st.SearchStrategy[list[list[str]]]:
    """Rows of real titles with something in front that a spreadsheet, or an escape of it, would mind."""
    text = st.builds(str.__add__, st.sampled_from(STARTS), st.sampled_from(TITLES))
    row = st.lists(text, min_size=len(header) - 1, max_size=len(header) - 1)
    return st.lists(row, min_size=1, max_size=3).map(
        lambda rows: [[str(number), *cells] for number, cells in enumerate(rows, 1)]
    )


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("kind", FORMATS)
@given(data=st.data(), columns=st.sampled_from(MAPPINGS))
@settings(max_examples=6, deadline=None)
def test_tags_name_the_shops_own_columns_and_the_file_is_read_again_without_options(
    kind: str, to: str, data: st.DataObject, columns: dict[str, str]
) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder, f"in.{kind}"), HEADER, data.draw(with_starts(HEADER)))
        check(path, columns, to, Path(folder))


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "xlsx"])
@given(data=st.data(), header=st.sampled_from(OURS))
@settings(max_examples=6, deadline=None)
def test_tags_name_columns_as_they_are_spelt(kind: str, to: str, data: st.DataObject, header: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder, f"in.{kind}"), header, data.draw(with_starts(header)))
        check(path, {}, to, Path(folder))


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("columns", MAPPINGS, ids=lambda columns: ",".join(columns))
def test_there_are_tags_to_compare(tmp_path: Path, columns: dict[str, str], to: str) -> None:
    rows = [[f"s{number}", f"={title}", title, title, title] for number, title in enumerate(TITLES)]
    assert check(write(tmp_path / "in.csv", HEADER, rows), columns, to, tmp_path) >= len(rows)


@pytest.mark.parametrize("to", ["csv", "tsv"])
@given(data=st.data(), columns=st.sampled_from([{}, {"title": "name"}]))
@settings(max_examples=20, deadline=None)
def test_a_table_that_is_safe_for_excel_has_no_formula_says_what_was_changed_and_comes_back(
    to: str, data: st.DataObject, columns: dict[str, str]
) -> None:
    header = HEADER if columns else OURS[0]
    with TemporaryDirectory() as folder:
        path = write(Path(folder, "in.csv"), header, data.draw(with_starts(header)))
        out = tag(path, Path(folder, "once", f"in.{to}"), columns=columns, excel_safe=True)
        for row in raw_rows(out):
            for name, cell in row.items():
                assert not cell.startswith(tuple(FORMULAS)), (name, cell)
            escaped = json.loads(row["batag"] or "{}").get("escaped", [])
            plain = {name: cell[1:] if name in escaped else cell for name, cell in row.items()}
            assert all(row[name].startswith("'") for name in escaped)
            for each in tags(plain):
                assert plain[each["field"]][each["start"] : each["end"]] == each["text"]
        again, problems = read_with_problems(out)
        assert not problems.counts
        assert [(page.id, page.fields) for page in again] == [
            (page.id, page.fields) for page in read_all(path, columns=columns)
        ]
        back = tag(out, Path(folder, "back", f"in.{to}"))
        for row, cells in zip(raw_rows(back), raw_rows(path), strict=True):
            assert {name: row[name] for name in cells} == cells
