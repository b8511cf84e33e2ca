"""Files are read by the fields and columns that a bundle was trained on, whoever reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.strategies import read_all
from tests.tiny import QUICK, as_dict, catalogue, describe, make_bundle, redescribe, tiny_run, typed

import batag
from batag.catalogue.inputs import Inputs
from batag.catalogue.rows import read_rows
from batag.errors import InputError, UsageError
from batag.pages.fields import MAIN_FIELD, STANDARD_FIELDS
from batag.pages.formats import read_pages, write_pages
from batag.pages.page import Page
from batag.tagging.tagger import Tagger

COLUMNS = {MAIN_FIELD: "品名", "id": "sku"}
STANDARD = " or ".join([", ".join(STANDARD_FIELDS[:-1]), STANDARD_FIELDS[-1]])
USUAL = {**COLUMNS, "bullets": "bullets"}
ROWS = [{"sku": "a1", "品名": "NOTEL running shoes", "bullets": "red", "price": "9"}]
ROWS += [{"sku": "a2", "品名": "acme 跑鞋", "bullets": "blue", "price": "8"}]
FILES = ["p.csv", "p.tsv", "p.parquet", "p.xlsx", "p.jsonl", "p.txt", "spans.json", "tasks.json", "doccano.jsonl"]


def make_file(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """The rows in the format of the name, with these columns and no others."""
    records = [dict(row) for row in rows]
    if path.name == "tasks.json":
        path.write_text(json.dumps([{"data": each, "annotations": []} for each in records]), encoding="utf-8")
    elif path.name == "doccano.jsonl":
        path.write_text("\n".join(json.dumps(each | {"text": "", "label": []}) for each in records), encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps(records), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    elif path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(records), path)
    elif path.suffix == ".xlsx":
        from batag.pages.formats.sheet import SheetWriter

        with path.open("wb") as stream, SheetWriter(stream) as sheet:
            for cells in (list(records[0]), *(list(each.values()) for each in records)):
                sheet.row(cells)
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        lines = [records[0].keys(), *(each.values() for each in records)]
        path.write_text("\n".join(map(mark.join, lines)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "bundle"
    return make_bundle(folder, fields=[MAIN_FIELD, "bullets"], columns=COLUMNS)


def texts(page: Page) -> tuple[str, Mapping[str, str]]:
    return page.id, page.fields


EXPECTED = [(row["sku"], {MAIN_FIELD: row["品名"], "bullets": row["bullets"]}) for row in ROWS]


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_read_by_the_usual_columns(name: str, tmp_path: Path) -> None:
    file = make_file(tmp_path / name)
    assert [texts(page) for page in read_pages(file, usual_columns=USUAL)] == EXPECTED
    parts = Inputs(paths=(str(file),), usual_columns=USUAL).parts()
    pages = [page for part in parts for page in read_rows(part, whole=False).pages]
    assert [texts(page) for page in pages if page is not None] == EXPECTED


def test_a_bundle_tells_its_usual_columns(bundle: Path) -> None:
    assert Tagger.load(bundle).usual_columns == USUAL


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_columns_that_are_asked_for_win(name: str, tmp_path: Path) -> None:
    file = make_file(tmp_path / name, [row | {"name": "other"} for row in ROWS])
    page, _ = read_pages(file, columns={MAIN_FIELD: "name"}, usual_columns=USUAL)
    assert texts(page) == ("a1", {MAIN_FIELD: "other", "bullets": "red"})
    page, _ = read_pages(file, columns={"description": "品名"}, usual_columns=USUAL)
    assert page.fields == {"description": "NOTEL running shoes", "bullets": "red"}


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_a_file_with_standard_names_needs_none_of_the_usual_columns(name: str, tmp_path: Path) -> None:
    file = make_file(tmp_path / name, [{"id": "1", MAIN_FIELD: "shoes"}])
    assert [texts(page) for page in read_pages(file, usual_columns=USUAL)] == [("1", {MAIN_FIELD: "shoes"})]


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.xlsx", "p.jsonl"])
def test_a_file_without_any_of_them_is_an_error_that_names_them(name: str, tmp_path: Path) -> None:
    file = make_file(tmp_path / name, [{"sku": "1", "heading": "shoes"}])
    message = rf"has no column 品名 \(as {MAIN_FIELD}\), bullets, {STANDARD}.*the columns are sku, heading"
    with pytest.raises(InputError, match=message):
        list(read_pages(file, usual_columns=USUAL))
    with pytest.raises(InputError, match=message):
        list(Inputs(paths=(str(file),), usual_columns=USUAL).parts())


def test_what_a_tagged_file_says_of_its_columns_counts_beside_the_usual_ones(tmp_path: Path) -> None:
    row = {"name": "NOTEL shoes", "bullets": "red", "batag": {"columns": {MAIN_FIELD: "name"}}}
    (page,) = read_pages(make_file(tmp_path / "p.jsonl", [row]), usual_columns=USUAL)
    assert page.fields == {MAIN_FIELD: "NOTEL shoes", "bullets": "red"}


def test_commands_read_by_the_columns_of_the_bundle(bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    files = [make_file(folder / name) for name in ("a.csv", "b.jsonl", "c.parquet")]
    for file in files:
        done = typed("tag", bundle, file, "--json")
        assert done.returncode == 0, done.stderr
        records = map(json.loads, done.stdout.splitlines())
        assert [(each["id"], each["fields"]) for each in records] == EXPECTED
    done = typed("tag", bundle, folder, "--out", f"{tmp_path / 'out'}/", "--to", "jsonl", "--workers", "2")
    assert done.returncode == 0, done.stderr
    pages = [page for part in sorted((tmp_path / "out").rglob("part-*.jsonl")) for page in read_all(part)]
    assert [texts(page) for page in pages] == 3 * EXPECTED
    bad = make_file(tmp_path / "bad.csv", [{"sku": "1", "heading": "shoes"}])
    for more in ([], ["--out", tmp_path / "bad"]):
        done = typed("tag", bundle, bad, *more)
        assert done.returncode == 1
        assert f"has no column 品名 (as {MAIN_FIELD}), bullets, {STANDARD}" in done.stderr
        assert f"--columns {MAIN_FIELD}=NAME" in done.stderr


def test_evaluating_reads_by_the_columns_of_the_bundle(tmp_path: Path) -> None:
    pages = catalogue(3, split="test")
    write_pages(pages, tmp_path / "plain.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "plain.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["品名"], line["marks"] = line.pop(MAIN_FIELD), line.pop("tags")
    make_file(tmp_path / "shop.jsonl", lines)
    changed = batag.load(tiny_run()).bundle.folder
    copy = tmp_path / "bundle"
    copy.mkdir()
    for each in changed.iterdir():
        (copy / each.name).write_bytes(each.read_bytes())
    redescribe(copy, lambda description: description.update(columns={MAIN_FIELD: "品名", "tags": "marks"}))
    tagger = batag.load(copy)
    expected = batag.evaluate(tagger, tmp_path / "plain.jsonl")
    assert batag.evaluate(tagger, tmp_path / "shop.jsonl") == expected
    done = typed("evaluate", copy, tmp_path / "shop.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pages"] == expected["pages"]


def test_python_reads_pages_and_dicts_as_the_tagger_does(bundle: Path, tmp_path: Path) -> None:
    tagger = batag.load(bundle)
    pages = list(batag.read_pages(make_file(tmp_path / "p.csv"), tagger=tagger))
    assert [texts(page) for page in pages] == EXPECTED
    by_field = {column: field for field, column in COLUMNS.items()}
    found = [[replace(tag, field=by_field.get(tag.field, tag.field)) for tag in tags] for tags in tagger.tag_many(ROWS)]
    assert found == list(map(list, tagger.tag_many(pages)))
    assert tagger.tag({"sku": "1", "品名": ""}) == []
    with pytest.raises(InputError, match=f"give it {' or '.join(STANDARD_FIELDS)} or 品名 or bullets"):
        tagger.tag({"heading": "shoes"})


def test_training_writes_the_columns_and_goes_on_with_those_of_its_base(tmp_path: Path) -> None:
    settings = as_dict(*QUICK, "training.epochs=1", "training.export=false")
    write_pages(catalogue(12), tmp_path / "plain.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "plain.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["品名"], line["bullets"] = line.pop(MAIN_FIELD), "red"
        line["tags"] = [tag | {"field": "品名"} if tag["field"] == MAIN_FIELD else tag for tag in line["tags"]]
    file = make_file(tmp_path / "shop.jsonl", lines)
    asked = {MAIN_FIELD: "品名", "bullets": "bullets"}
    first, second = tmp_path / "first", tmp_path / "second"
    batag.train(file, out=first, columns=asked, settings=settings, device="cpu")
    assert describe(first / "bundle")["columns"] == asked
    again = {"training.epochs": 1, "training.export": False, "training.replay": 0.0}
    batag.train(file, out=second, base=first, settings=again, device="cpu")
    description = describe(second / "bundle")
    assert description["columns"] == asked
    assert {*description["fields"]} == {MAIN_FIELD, "description", "bullets"}
    assert description["trained_on"]["fields"] == describe(first / "bundle")["trained_on"]["fields"]


def test_the_field_of_a_tag_is_a_key_of_the_dict_that_was_given(bundle: Path) -> None:
    tagger = Tagger.load(bundle)
    text = ROWS[0]["品名"]
    (tags, _) = tagger.tag_many([{"品名": text}, {"品名": text}])
    named = tagger.tag({MAIN_FIELD: text})
    assert [replace(tag, field=MAIN_FIELD) for tag in tags] == named
    assert {tag.field for tag in tags} == ({"品名"} if named else set())
    both = {MAIN_FIELD: text, "品名": "nothing"}
    assert tagger.tag(both) == named
    assert all(both[tag.field][tag.start : tag.end] == tag.text for tag in tagger.tag(both))


def test_an_empty_table_is_called_empty(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    with pytest.raises(InputError, match="is empty: a table begins with the names of its columns"):
        list(read_pages(empty, usual_columns=USUAL))


def test_a_folder_of_a_bundle_tells_its_columns_too(bundle: Path, tmp_path: Path) -> None:
    pages = batag.read_pages(make_file(tmp_path / "p.csv"), tagger=bundle)
    assert [texts(page) for page in pages] == EXPECTED


def test_what_is_no_mapping_and_no_page_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="columns cannot be of the type str"):
        batag.read_pages(tmp_path / "p.csv", columns="title=品名")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="dict is not a page"):
        batag.write_pages([{MAIN_FIELD: "a"}], tmp_path / "w.csv")  # type: ignore[list-item]
    assert not list(tmp_path.iterdir())


def test_an_unknown_device_is_named_as_one(bundle: Path) -> None:
    with pytest.raises(UsageError, match="'gpu' is not a device"):
        Tagger.load(bundle, device="gpu")
