"""Catalogue jobs in one process: what comes out, what is wrong with rows, how a job goes on and what it refuses."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.strategies import read_all
from tests.tiny import catalogue, tiny_run, tiny_tagger

import batag.catalogue.workers as workers
from batag.catalogue.inputs import Inputs, find_inputs
from batag.catalogue.job import Job
from batag.catalogue.manifest import DONE, JOB
from batag.catalogue.tagged import Options
from batag.catalogue.totals import Totals
from batag.errors import InputError, UsageError
from batag.pages.formats import write_pages
from batag.pages.problems import Problems
from batag.settings import Settings

PAGES = catalogue(10, split="test")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("inputs", "job"):
        monkeypatch.setattr(f"batag.catalogue.{module}.settings", Settings(part_pages=7))


@pytest.fixture(autouse=True)
def one_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = tiny_tagger()
    monkeypatch.setattr("batag.tagging.tagger.Tagger.load", lambda *_, **__: tagger)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    write_pages(PAGES, path)
    return path


def job(*paths: Path | str, out: Path, **arguments: Any) -> Job:
    options = {name: arguments.pop(name) for name in list(arguments) if name in Options.__dataclass_fields__}
    reading = {name: arguments.pop(name) for name in list(arguments) if name in ("columns", "language", "encoding")}
    inputs = Inputs(paths=find_inputs(map(str, paths), format=None), **reading)
    return Job(
        bundle=tiny_run(), engine="torch", inputs=inputs, out=str(out), options=Options(**options), workers=1, **arguments
    )


def run(*paths: Path | str, out: Path, **options: Any) -> Totals:
    return job(*paths, out=out, **options).run(problems=Problems())


def table(folder: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(path) for path in sorted(folder.glob("part-*.parquet")))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}


def expected() -> list[list[tuple[str, int, str]]]:
    return [[(tag.field, tag.start, tag.label) for tag in tags] for tags in tiny_tagger().tag_many(PAGES)]


def seen(rows: list[Any]) -> list[list[tuple[str, int, str]]]:
    return [[(tag["field"], tag["start"], tag["label"]) for tag in row] for row in rows]


# What comes out


def test_parts_hold_each_page_once_in_order_with_its_tags(source: Path, tmp_path: Path) -> None:
    totals = run(source, out=tmp_path / "out")
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) == 5 == totals.parts
    found = table(tmp_path / "out")
    assert found["id"].to_pylist() == [page.id for page in PAGES]
    assert seen(found["tags"].to_pylist()) == expected()
    assert found["error"].null_count == len(PAGES) == totals.pages
    assert totals.tags.total() == sum(map(len, expected()))
    assert json.loads((tmp_path / "out" / DONE).read_bytes())["pages"] == len(PAGES)


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet"])
def test_tags_come_back_as_the_models_on_pages_that_no_person_has_seen(source: Path, tmp_path: Path, format: str) -> None:
    run(source, out=tmp_path / f"out.{format}", format=format, one_file=True)
    again = read_all(tmp_path / f"out.{format}")
    assert [len(page.tags) for page in again] == list(map(len, expected()))
    assert {tag.source for page in again for tag in page.tags} == {"model"}
    assert {page.reviewed for page in again} == {False}
    run(source, out=tmp_path / f"nothing.{format}", format=format, one_file=True, min_score=1.0)
    assert [(page.tags, page.labelled, page.reviewed) for page in read_all(tmp_path / f"nothing.{format}")] == (
        [((), True, False)] * len(PAGES)
    )


def test_columns_of_a_parquet_file_stay_with_their_types_and_order(tmp_path: Path) -> None:
    columns = {
        "Price": pa.array([1.5, None, 3.0] * 3, pa.float32()),
        "title": ["ACME shoes", "red bag", None] * 3,
        "when": pa.array([1, 2, 3] * 3, pa.timestamp("ms")),
        "sizes": [[1, 2], [], None] * 3,
        "error": ["old"] * 9,
    }
    pq.write_table(pa.table(columns), tmp_path / "in.parquet", row_group_size=4)
    totals = run(tmp_path / "in.parquet", out=tmp_path / "out")
    found = table(tmp_path / "out")
    assert found.column_names == ["Price", "title", "when", "sizes", "tags", "reviewed", "error"]
    assert found.select(["Price", "when", "sizes"]).equals(pa.table(columns).select(["Price", "when", "sizes"]))
    assert totals.errors == 3
    assert [bool(error) for error in found["error"].to_pylist()] == [False, False, True] * 3
    assert "row 3" in found["error"][2].as_py()


def test_columns_of_a_csv_file_stay_as_they_are_spelt(tmp_path: Path) -> None:
    text = 'ID,Title,Price,Note\r\n1,"ACME, shoes",5,=1+1\r\n2,"red\nbag",,x\r\n'
    (tmp_path / "in.csv").write_bytes(text.encode())
    run(tmp_path / "in.csv", out=tmp_path / "out", format="csv")
    (path,) = (tmp_path / "out").glob("part-*.csv")
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
    assert rows[0] == ["ID", "Title", "Price", "Note", "tags", "reviewed", "error"]
    assert [row[:4] for row in rows[1:]] == [["1", "ACME, shoes", "5", "=1+1"], ["2", "red\nbag", "", "x"]]
    assert all(isinstance(json.loads(row[4]), list) for row in rows[1:])
    twice = tmp_path / "twice"
    run(path, out=twice, format="csv")
    assert contents(twice) == contents(tmp_path / "out")


def test_what_excel_needs_is_written_on_request_once_a_file(tmp_path: Path) -> None:
    rows = "".join(f"{number},ACME shoes {number},＝x\r\n" for number in range(10))
    (tmp_path / "in.csv").write_text(f"id,title,note\r\n{rows}", encoding="utf-8", newline="")
    totals = run(tmp_path / "in.csv", out=tmp_path / "all.csv", format="csv", bom=True, excel_safe=True, one_file=True)
    assert (totals.parts, totals.escaped) == (2, 10)
    data = (tmp_path / "all.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfid,title,note,tags,reviewed,error,batag\r\n")
    assert data.count(b"\xef\xbb\xbf") == 1
    assert data.count("'＝x".encode()) == 10
    run(tmp_path / "in.csv", out=tmp_path / "parts", format="csv", bom=True)
    with pytest.raises(InputError, match="different options"):
        run(tmp_path / "in.csv", out=tmp_path / "parts", format="csv", excel_safe=True)


def test_whatever_a_json_line_holds_stays(tmp_path: Path) -> None:
    record = {"id": 7, "title": "ACME shoes", "price": 9.5, "nested": {"a": [1, None]}, "tags": "old", "error": "old"}
    (tmp_path / "in.jsonl").write_text(json.dumps(record) + "\n\n", encoding="utf-8")
    run(tmp_path / "in.jsonl", out=tmp_path / "out", format="jsonl", compression="gz")
    (path,) = (tmp_path / "out").glob("part-*.jsonl.gz")
    found = json.loads(gzip.decompress(path.read_bytes()))
    assert {key: found[key] for key in ("title", "price", "nested")} == {
        key: record[key] for key in ("title", "price", "nested")
    }
    assert found["error"] is None
    assert isinstance(found["tags"], list)


@pytest.mark.parametrize("name", ["one.parquet", "one.jsonl", "one.csv", "one.tsv", "one.jsonl.gz", "one.csv.zst", "one.xlsx"])
def test_one_file_is_the_parts_joined_and_nothing_is_left_beside_it(source: Path, tmp_path: Path, name: str) -> None:
    from batag.pages.formats import read_pages

    format = name.split(".")[1]
    run(source, out=tmp_path / name, one_file=True, format=format)
    pages = list(read_pages(tmp_path / name))
    assert [page.id for page in pages] == [page.id for page in PAGES]
    assert [[(tag.field, tag.start, tag.label) for tag in page.tags] for page in pages] == expected()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "pages.jsonl"])


def test_labels_scores_distinct_and_richness_choose_tags(source: Path, tmp_path: Path) -> None:
    found = {}
    asked: dict[str, dict[str, Any]] = {
        "all": {},
        "brand": {"labels": ("brand",)},
        "sure": {"min_score": 0.6},
        "distinct": {"distinct": True},
        "clean": {"richness": "clean"},
    }
    for name, chosen in asked.items():
        run(source, out=tmp_path / name, **chosen)
        found[name] = [tag for row in table(tmp_path / name)["tags"].to_pylist() for tag in row]
    assert {tag["label"] for tag in found["brand"]} == {"brand"}
    assert 0 < len(found["sure"]) < len(found["all"])
    assert min(tag["score"] for tag in found["sure"]) >= 0.6
    assert len(found["distinct"]) <= len(found["all"])
    assert len(found["clean"]) <= len(found["all"])


def test_the_same_page_again_is_tagged_once_a_part_and_counted(tmp_path: Path) -> None:
    lines = [{"id": number, "title": "ACME running shoes"} for number in range(14)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    totals = run(tmp_path / "in.jsonl", out=tmp_path / "out")
    assert totals.seen_before == 12
    tags = table(tmp_path / "out")["tags"].to_pylist()
    assert all(row == tags[0] for row in tags)


def test_variants_with_the_same_words_after_cleaning_are_asked_for_once_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = ["ACME running shoes", "<b>ACME  running shoes</b>", "ＡＣＭＥ running shoes", "ACME boots"]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"title": each}) + "\n" for each in titles), encoding="utf-8")
    monkeypatch.setattr("batag.catalogue.tagged.POOL", 1)
    engine, asked = tiny_tagger().engine, []
    real = engine.probabilities
    monkeypatch.setattr(engine, "probabilities", lambda pages: asked.extend(pages) or real(pages))
    assert run(tmp_path / "in.jsonl", out=tmp_path / "out").seen_before == 2
    assert len(asked) == 2
    tags = table(tmp_path / "out")["tags"].to_pylist()
    assert [[(tag["label"], tag["score"]) for tag in row] for row in tags[1:3]] == 2 * [
        [(tag["label"], tag["score"]) for tag in tags[0]]
    ]


def test_folders_are_read_by_name_and_hidden_files_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    (folder / "_batag").mkdir()
    write_pages(PAGES[:3], folder / "b.jsonl.gz")
    write_pages(PAGES[3:5], folder / "deep" / "a.parquet")
    write_pages(PAGES[5:6], folder / "a.csv")
    for hidden in (".x.jsonl", "_batag/y.jsonl", "notes.docx"):
        (folder / hidden).write_text("{}", encoding="utf-8")
    run(folder, out=tmp_path / "out", format="jsonl")
    lines = b"".join(path.read_bytes() for path in sorted((tmp_path / "out").glob("part-*"))).splitlines()
    assert [json.loads(line)["id"] for line in lines] == [page.id for page in (PAGES[5], *PAGES[:3], *PAGES[3:5])]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file of pages"):
        find_inputs([str(tmp_path / "empty")], format=None)


# Bad rows


def test_a_bad_row_keeps_its_place_and_says_why(tmp_path: Path) -> None:
    lines = [
        b'{"id": 1, "title": "ACME shoes"}',
        b"not json",
        b'{"id": 3, "title": ["a list"]}',
        b'{"id": 4, "title": "' + b"x" * 1_100_000 + b'"}',
        b'{"id": 5, "title": 5}',
        b'{"id": 6}',
        b"[1, 2]",
        b'{"id": 8, "title": "' + b"x" * 9_000_000 + b'"}',
        b'{"id": 9, "title": "last"',
    ]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    totals = run(tmp_path / "in.jsonl", out=tmp_path / "out", format="jsonl")
    rows = [json.loads(line) for path in sorted((tmp_path / "out").glob("part-*")) for line in path.read_bytes().splitlines()]
    assert [bool(row["error"]) for row in rows] == [False, True, True, True, False, True, True, True, True]
    assert totals.errors == 7
    for number in (2, 3, 4, 6, 7, 8, 9):
        assert f"in.jsonl:{number}" in rows[number - 1]["error"]
    assert rows[2]["title"] == ["a list"]
    skipped = {"bad-json": 2, "bad-field": 1, "too-long": 2, "empty-page": 1, "truncated": 1}
    assert totals.problems == skipped | {"number-as-text": 1}


def test_a_bad_row_of_a_table_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('id,title\n1,a,b,c\n2,shoes\n3,"open\n4,bag\n', encoding="utf-8")
    run(tmp_path / "in.csv", out=tmp_path / "out")
    found = table(tmp_path / "out")
    assert [bool(error) for error in found["error"].to_pylist()] == [True, False, True, False]


def test_strictly_bad_rows_are_an_error_and_one_file_is_not_put_in_place(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"title": "shoes"}\nbad\n', encoding="utf-8")
    with pytest.raises(InputError, match="1 of 2 pages"):
        run(tmp_path / "in.jsonl", out=tmp_path / "one.jsonl", one_file=True, format="jsonl", strict=True)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    with pytest.raises(InputError, match="1 of 2 pages"):
        run(tmp_path / "in.jsonl", out=tmp_path / "out", strict=True)


def test_bad_bytes_in_a_parquet_file_are_repaired_and_counted(tmp_path: Path) -> None:
    title = pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\x05\0\0\0\x0a\0\0\0"), pa.py_buffer(b"sh\xffesshoes"))
    pq.write_table(pa.table({"title": title}), tmp_path / "in.parquet")
    totals = run(tmp_path / "in.parquet", out=tmp_path / "out", format="jsonl")
    assert totals.problems == {"bad-encoding": 1}


# Going on


def stop_after(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real, done = workers.tag_part, []

    def tag_part(*given: Any, **options: Any) -> Any:
        if len(done) == parts:
            raise KeyboardInterrupt
        done.append(1)
        return real(*given, **options)

    monkeypatch.setattr(workers, "tag_part", tag_part)


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.csv.gz", "pages.parquet"])
def test_the_same_command_goes_on_and_the_output_is_that_of_an_undisturbed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write_pages(PAGES, tmp_path / name)
    run(tmp_path / name, out=tmp_path / "whole")
    for parts in (2, 1):
        with monkeypatch.context() as patched:
            stop_after(parts, patched)
            with pytest.raises(KeyboardInterrupt):
                run(tmp_path / name, out=tmp_path / "out")
    totals = run(tmp_path / name, out=tmp_path / "out")
    assert (totals.found, totals.pages) == (21, 30)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    again = run(tmp_path / name, out=tmp_path / "out")
    assert again.found == again.pages == 30


def test_a_part_without_its_file_or_a_whole_record_is_made_again(source: Path, tmp_path: Path) -> None:
    run(source, out=tmp_path / "out")
    before = contents(tmp_path / "out")
    (tmp_path / "out" / "_batag" / "part-000002.json").write_text("{", encoding="utf-8")
    (tmp_path / "out" / "part-000003.parquet").unlink()
    (tmp_path / "out" / "_batag" / ".part-000004.parquet.99.tmp").write_text("left", encoding="utf-8")
    assert run(source, out=tmp_path / "out").found == 16
    assert contents(tmp_path / "out") == before
    assert not list((tmp_path / "out").rglob(".*.tmp"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"richness": "rich"}, "options"),
        ({"min_score": 0.5}, "options"),
        ({"columns": {"title": "description"}}, "reading"),
        ({"language": "ja"}, "reading"),
    ],
)
def test_other_settings_are_said_and_not_mixed(source: Path, tmp_path: Path, change: dict[str, Any], says: str) -> None:
    run(source, out=tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match=f"different {says}"):
        run(source, out=tmp_path / "out", **change)
    assert contents(tmp_path / "out") == before
    assert run(source, out=tmp_path / "out", restart=True, **change).found == 0


def test_a_changed_input_is_said_and_not_mixed(source: Path, tmp_path: Path) -> None:
    run(source, out=tmp_path / "out")
    lines = source.read_bytes().splitlines(keepends=True)
    lines[8] = lines[8].replace(b'"id"', b'"iD"', 1)
    source.write_bytes(b"".join(lines))  # of the same length
    with pytest.raises(InputError, match="has changed since") as caught:
        run(source, out=tmp_path / "out")
    assert "rows 8 to 14" in str(caught.value)
    source.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(InputError, match="different inputs"):
        run(source, out=tmp_path / "out")


def test_another_bundle_is_said_and_not_mixed(source: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_run() / "bundle", tmp_path / "bundle")
    first = job(source, out=tmp_path / "out")
    first.run(problems=Problems())
    path = tmp_path / "bundle" / "bundle.json"
    path.write_bytes(path.read_bytes() + b"\n")
    other = Job(**{**vars(first), "bundle": tmp_path / "bundle"})
    with pytest.raises(InputError, match="different bundle"):
        other.run(problems=Problems())


def test_parts_of_something_else_are_not_overwritten(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-000000.parquet").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="with the name of a part"):
        run(source, out=tmp_path / "out")
    assert (tmp_path / "out" / "part-000000.parquet").read_text(encoding="utf-8") == "mine"


def test_a_worker_of_an_older_job_cannot_write_into_a_new_one(source: Path, tmp_path: Path) -> None:
    from batag.catalogue.manifest import open_manifest
    from batag.catalogue.place import place_of
    from batag.catalogue.tagged import tag_part

    old = job(source, out=tmp_path / "out")
    manifest = open_manifest(place_of(old.out), {"a": 1}, resumable=True, options=old.options, restart=False)
    part = next(old.inputs.parts())
    done = tag_part(tiny_tagger(), part, old.options)
    open_manifest(place_of(old.out), {"a": 2}, resumable=True, options=old.options, restart=True)
    with pytest.raises(InputError, match="another job"):
        manifest.finish_part(*done)
    assert not contents(tmp_path / "out")


def test_two_jobs_do_not_write_into_one_folder(source: Path, tmp_path: Path) -> None:
    from batag.catalogue.job import _alone

    with _alone(tmp_path / "out"), pytest.raises(InputError, match="another job is writing"):
        run(source, out=tmp_path / "out")


def test_an_input_without_pages_is_an_error_that_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("\n", encoding="utf-8")
    for options in ({"out": tmp_path / "out"}, {"out": tmp_path / "one.jsonl", "one_file": True, "format": "jsonl"}):
        with pytest.raises(InputError, match="no page could be read"):
            run(tmp_path / "in.jsonl", **options)
    with pytest.raises(InputError, match="cannot be opened"):
        run(tmp_path / "nothing.jsonl", out=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_any_place_that_fsspec_knows_can_be_read_and_written(source: Path, tmp_path: Path) -> None:
    import fsspec

    files = fsspec.filesystem("memory")
    files.pipe_file("/shop/in/pages.jsonl", source.read_bytes())
    totals = run("memory://shop/in", out="memory://shop/out")  # type: ignore[arg-type]
    assert totals.pages == 30
    run(source, out=tmp_path / "out")
    names = sorted(name.rpartition("/")[2] for name in files.ls("/shop/out", detail=False) if "part-" in name)
    assert {name: files.cat_file(f"/shop/out/{name}") for name in names} == contents(tmp_path / "out")
    assert run("memory://shop/in", out="memory://shop/out").found == 30  # type: ignore[arg-type]
    assert files.exists(f"/shop/out/{JOB}")
    files.rm("/shop", recursive=True)


def test_an_address_of_this_machine_is_a_path_of_it(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    run(f"file://{source}", out=f"file://{tmp_path / 'out'}")  # type: ignore[arg-type]
    run(source, out=tmp_path / "other")
    assert contents(tmp_path / "out") == contents(tmp_path / "other") != {}
    assert not list((tmp_path / "here").iterdir())
    assert run(source, out=tmp_path / "out").found == len(PAGES)


# What a job must not do


def interrupt(parts: int, monkeypatch: pytest.MonkeyPatch, run_it: Any) -> None:
    with monkeypatch.context() as patched:
        stop_after(parts, patched)
        with pytest.raises(KeyboardInterrupt):
            run_it()


def test_whatever_stops_a_job_for_one_file_its_parts_are_kept(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from batag.catalogue.job import _alone

    description: dict[str, Any] = {"out": tmp_path / "one.jsonl", "one_file": True, "format": "jsonl"}
    interrupt(2, monkeypatch, lambda: run(source, **description))
    parts = tmp_path / ".one.jsonl.parts"
    before = contents(parts)
    assert len(before) == 2
    with _alone(parts), pytest.raises(InputError, match="another job is writing"):
        run(source, **description)
    with pytest.raises(InputError, match="different options"):
        run(source, **description, min_score=0.5)
    interrupt(0, monkeypatch, lambda: run(source, **description))
    assert contents(parts) == before
    assert run(source, **description).found == 14


def test_a_table_with_empty_cells_at_the_end_of_its_rows_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"{number},shoes {number},,\n" for number in range(20))
    (tmp_path / "in.csv").write_text(f"id,title\n{lines}", encoding="utf-8")
    interrupt(1, monkeypatch, lambda: run(tmp_path / "in.csv", out=tmp_path / "out"))
    assert run(tmp_path / "in.csv", out=tmp_path / "out").found == 7


def test_very_many_bad_rows_in_a_row_all_keep_their_place(tmp_path: Path) -> None:
    bad = "".join(f'{number},"bad"quote\n' for number in range(1_500))
    (tmp_path / "in.csv").write_text(f"id,title\na,shoes\n{bad}b,bag\n", encoding="utf-8")
    totals = run(tmp_path / "in.csv", out=tmp_path / "out")
    assert (totals.pages, totals.errors) == (1_502, 1_500)


@pytest.mark.parametrize("name", ["one.csv", "one.parquet"])
def test_inputs_with_other_columns_do_not_become_one_table(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.csv").write_text("id,title,price\n1,shoes,5\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("title,colour,id\nbag,red,2\n", encoding="utf-8")
    format = name.split(".")[1]
    with pytest.raises(InputError, match=r"different columns than .*\(only .*a\.csv has price; only .*b\.csv has colour\)"):
        run(tmp_path / "a.csv", tmp_path / "b.csv", out=tmp_path / name, one_file=True, format=format)
    totals = run(tmp_path / "a.csv", tmp_path / "b.csv", out=tmp_path / "one.jsonl", one_file=True, format="jsonl")
    assert totals.pages == 2


@pytest.mark.parametrize("format", ["csv", "xlsx", "parquet"])
def test_what_comes_through_pipes_with_other_columns_does_not_become_one_table(tmp_path: Path, format: str) -> None:
    contents = ["title,price\nshoes,5\n", "price,title\n5,bag\n"]
    pipes = [through_a_pipe(tmp_path / f"pipe-{number}", text) for number, text in enumerate(contents)]
    with pytest.raises(
        InputError, match=r"pipe-1: has different columns than .*in another order: title, price against price, title"
    ):
        run(*pipes, out=tmp_path / f"one.{format}", one_file=True, format=format)
    assert not (tmp_path / f"one.{format}").exists()
    pipes = [through_a_pipe(tmp_path / f"like-{number}", contents[0]) for number in range(2)]
    assert run(*pipes, out=tmp_path / f"one.{format}", one_file=True, format=format).pages == 2
    assert [page["title"] for page in read_all(tmp_path / f"one.{format}")] == ["shoes", "shoes"]


def through_a_pipe(path: Path, text: str) -> Path:
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_text(text, encoding="utf-8"), daemon=True).start()
    return path


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "xlsx"])
def test_what_a_column_said_of_reviewing_is_not_said_of_the_new_tags(tmp_path: Path, format: str) -> None:
    (tmp_path / "in.csv").write_text(f"name,checked\n{PAGES[0]['title']},yes\n", encoding="utf-8")
    columns = {"title": "name", "reviewed": "checked"}
    run(tmp_path / "in.csv", out=tmp_path / f"out.{format}", one_file=True, format=format, columns=columns)
    (page,) = read_all(tmp_path / f"out.{format}")
    assert page.reviewed is False
    assert {tag.source for tag in page.tags} == {"model"}
    assert page.extra["checked"] == "yes"


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "xlsx"])
def test_a_column_of_the_shops_own_is_not_taken_for_one_of_tags(tmp_path: Path, format: str) -> None:
    header, row = "title,SEO (tags),tags", f"{PAGES[0]['title']},keep me,sale"
    (tmp_path / "in.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
    run(tmp_path / "in.csv", out=tmp_path / f"once.{format}", one_file=True, format=format)
    run(tmp_path / f"once.{format}", out=tmp_path / f"twice.{format}", one_file=True, format=format)
    for name in ("once", "twice"):
        (page,) = read_all(tmp_path / f"{name}.{format}")
        assert page.tags
        assert page.extra["SEO (tags)"] == "keep me"
        assert not [key for key in page.extra if key.endswith(" (tags)") and key != "SEO (tags)"]


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "xlsx"])
def test_a_column_without_a_name_of_its_own_takes_no_other_columns_name(tmp_path: Path, format: str) -> None:
    (tmp_path / "in.csv").write_text("title,a,a,a_3\nshoes,1,2,3\n", encoding="utf-8")
    run(tmp_path / "in.csv", out=tmp_path / f"out.{format}", one_file=True, format=format)
    (page,) = read_all(tmp_path / f"out.{format}")
    assert page["title"] == "shoes"
    assert page.labelled
    assert [value for key, value in page.extra.items() if key.startswith("a")] == ["1", "2", "3"]


def test_columns_keep_their_values_whatever_their_case_and_kind(tmp_path: Path) -> None:
    from datetime import date

    columns = {"ID": [1], "Title": ["shoes"], "Day": [date(2026, 1, 2)], "Tags": ["old"], "ok": [True]}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    run(tmp_path / "in.parquet", out=tmp_path / "out", format="csv")
    (path,) = (tmp_path / "out").glob("part-*")
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    assert rows[0] == ["ID", "Title", "Day", "ok", "tags", "reviewed", "error"]
    assert rows[1][:4] == ["1", "shoes", "2026-01-02", "true"]


def test_columns_of_one_name_stay_apart(tmp_path: Path) -> None:
    table_ = pa.table([pa.array(["shoes"]), pa.array([1]), pa.array([2])], names=["title", "p", "p"])
    pq.write_table(table_, tmp_path / "in.parquet")
    run(tmp_path / "in.parquet", out=tmp_path / "one.parquet", one_file=True)
    found = pq.read_table(tmp_path / "one.parquet")
    assert [found[name][0].as_py() for name in found.column_names[1:3]] == [1, 2]


def test_a_restart_that_is_cut_mixes_nothing(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from batag.catalogue.place import LocalPlace

    run(source, out=tmp_path / "out")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LocalPlace, "remove", stop)
        with pytest.raises(KeyboardInterrupt):
            run(source, out=tmp_path / "out", restart=True, min_score=0.6)
    assert run(source, out=tmp_path / "out", min_score=0.6).found == 0
    run(source, out=tmp_path / "fresh", min_score=0.6)
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_stop_words_and_limits_that_changed_are_said(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(source, out=tmp_path / "out", stop_words=("shoes",))
    with pytest.raises(InputError, match="different stop words"):
        run(source, out=tmp_path / "out", stop_words=("bag",))
    monkeypatch.setattr("batag.catalogue.job.settings", Settings(part_pages=7, max_page_characters=10))
    with pytest.raises(InputError, match="different limits"):
        run(source, out=tmp_path / "out", stop_words=("shoes",))


def test_a_bundle_that_is_exchanged_while_a_job_runs_is_noticed(source: Path, tmp_path: Path) -> None:
    from batag.catalogue.workers import Work

    work = Work(tiny_run(), "torch", None, "0" * 64)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has changed since the job began"):
        work.load()


def test_a_job_does_not_read_what_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_pages(PAGES, folder / "pages.jsonl")
    out = folder / "tagged"

    def begun() -> Job:
        inputs = Inputs(paths=find_inputs([str(folder)], format=None, out=str(out)))
        return Job(bundle=tiny_run(), engine="torch", inputs=inputs, out=str(out), options=Options(), workers=1)

    interrupt(2, monkeypatch, lambda: begun().run(problems=Problems()))
    assert begun().run(problems=Problems()).found == 14
    with pytest.raises(UsageError, match="into the input folder"):
        find_inputs([str(out)], format=None, out=str(out))


def test_one_file_is_not_written_into_a_folder_that_is_read(source: Path, tmp_path: Path) -> None:
    (tmp_path / "in" / "more").mkdir(parents=True)
    shutil.copy(source, tmp_path / "in")
    for name in ("tagged.jsonl", "more/tagged.jsonl"):
        with pytest.raises(UsageError, match=r"lies in .*in, which is read as input.*outside"):
            find_inputs([str(tmp_path / "in")], format=None, out=str(tmp_path / "in" / name), one_file=True)
    beside = find_inputs([str(tmp_path / "in")], format=None, out=str(tmp_path / "tagged.jsonl"), one_file=True)
    assert beside == (str(tmp_path / "in" / "pages.jsonl"),)


def test_a_job_with_other_options_says_which_and_what_they_were(source: Path, tmp_path: Path) -> None:
    run(source, out=tmp_path / "out", min_score=0.25)
    with pytest.raises(InputError, match=r"different options \(min_score: 0\.25 before, 0\.5 now\)"):
        run(source, out=tmp_path / "out", min_score=0.5)
    with pytest.raises(InputError, match=r"different reading \(language: nothing before, \"ja\" now\)"):
        run(source, out=tmp_path / "out", min_score=0.25, language="ja")
    other = shutil.copy(source, tmp_path / "other.jsonl")
    with pytest.raises(
        InputError, match=r"different inputs \(.*pages\.jsonl: \d+ before, not there now; .*other\.jsonl: not there"
    ):
        run(other, out=tmp_path / "out", min_score=0.25)


def test_a_line_end_in_a_header_is_no_row(tmp_path: Path) -> None:
    lines = "".join(f"{number},shoes\r\n" for number in range(10))
    (tmp_path / "in.csv").write_bytes(f'"long\r\nname",title\r\n{lines}'.encode())
    run(tmp_path / "in.csv", out=tmp_path / "one.csv", one_file=True, format="csv")
    with (tmp_path / "one.csv").open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.reader(stream))) == 11


def test_bad_rows_of_any_format_keep_their_place(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"id": [1, 2, 3], "title": ["shoes", None, "bag"]}), buffer)
    (tmp_path / "in.parquet.gz").write_bytes(gzip.compress(buffer.getvalue()))
    totals = run(tmp_path / "in.parquet.gz", out=tmp_path / "out", format="jsonl")
    assert (totals.pages, totals.errors) == (3, 1)


def test_dates_that_python_does_not_know_are_text(tmp_path: Path) -> None:
    far = pa.array([2**62 // 1_000_000], pa.timestamp("ms"))
    pq.write_table(pa.table({"title": ["shoes"], "far": far}), tmp_path / "in.parquet")
    assert run(tmp_path / "in.parquet", out=tmp_path / "out", format="jsonl").errors == 0


def test_a_damaged_record_of_the_job_is_one_clear_error(source: Path, tmp_path: Path) -> None:
    run(source, out=tmp_path / "out")
    (tmp_path / "out" / JOB).write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is damaged"):
        run(source, out=tmp_path / "out")
    assert run(source, out=tmp_path / "out", restart=True).pages == 30


def test_a_part_of_another_size_is_made_again(source: Path, tmp_path: Path) -> None:
    run(source, out=tmp_path / "out")
    before = contents(tmp_path / "out")
    part = tmp_path / "out" / "part-000001.parquet"
    part.write_bytes(part.read_bytes()[:20])
    assert run(source, out=tmp_path / "out").found == 23
    assert contents(tmp_path / "out") == before


def test_what_nobody_thought_of_names_the_rows(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "tag_part", lambda *_, **__: 1 / 0)
    with pytest.raises(InputError, match="rows 1 to 7: cannot be tagged \\(ZeroDivisionError"):
        run(source, out=tmp_path / "out")


def test_a_part_of_parquet_holds_only_its_own_rows(tmp_path: Path) -> None:
    from batag.catalogue.rows import read_rows

    pq.write_table(pa.table({"title": ["shoes " * 200] * 20_000}), tmp_path / "in.parquet", row_group_size=20_000)
    part = next(Inputs(paths=(str(tmp_path / "in.parquet"),)).parts())
    before = pa.total_allocated_bytes()
    rows = read_rows(part, whole=False)
    assert rows.table.num_rows == 7
    assert pa.total_allocated_bytes() - before < 200_000


# What came in stays


def test_an_input_that_lies_where_the_parts_go_is_refused(source: Path, tmp_path: Path) -> None:
    inside = tmp_path / "out" / "part-000000.jsonl"
    inside.parent.mkdir()
    shutil.copy(source, inside)
    for given, out in ((inside, inside.parent), (inside.parent, inside.parent)):
        with pytest.raises(UsageError, match="written into the input folder"):
            find_inputs([str(given)], format=None, out=str(out))
    with pytest.raises(UsageError, match="written into the input folder"):
        find_inputs(["memory://shop/out/pages.jsonl"], format=None, out="memory://shop/out/")
    assert find_inputs([str(source)], format=None, out=str(tmp_path / "other")) == (str(source),)


def test_ids_and_empty_cells_come_out_as_they_came(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    rows = [{"id": 7, "title": "NORDVIK shoe", "price": None}, {"id": None, "title": "boot", "price": 2.5}]
    pq.write_table(pa.Table.from_pylist(rows), path)
    run(path, out=tmp_path / "out", format="jsonl")
    found = [json.loads(line) for line in (tmp_path / "out" / "part-000000.jsonl").read_text("utf-8").splitlines()]
    assert [(row["title"], row["price"]) for row in found] == [("NORDVIK shoe", None), ("boot", 2.5)]
    assert found[0]["id"] == 7
    assert isinstance(found[1]["id"], str)


def test_a_column_that_may_be_empty_in_one_input_only_becomes_one_table(tmp_path: Path) -> None:
    for name, empty in (("one", False), ("two", True)):
        schema = pa.schema([pa.field("title", pa.string(), nullable=empty)])
        pq.write_table(pa.table({"title": [f"NORDVIK {name}"]}, schema=schema), tmp_path / f"{name}.parquet")
    out = tmp_path / "all.parquet"
    run(tmp_path / "one.parquet", tmp_path / "two.parquet", out=out, one_file=True)
    assert pq.read_table(out)["title"].to_pylist() == ["NORDVIK one", "NORDVIK two"]


# Nothing of another job stays


def test_a_restart_with_fewer_parts_that_is_cut_leaves_no_old_part(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, few = tmp_path / "out", tmp_path / "few.jsonl"
    write_pages(PAGES[:8], few)
    run(source, out=out, format="jsonl")
    assert len(contents(out)) > 2
    with monkeypatch.context() as patch:
        patch.setattr("batag.catalogue.place.LocalPlace.remove", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(few, out=out, format="jsonl", restart=True)
    assert run(few, out=out, format="jsonl").pages == 8
    assert sorted(contents(out)) == ["part-000000.jsonl", "part-000001.jsonl"]
    assert sum(len(data.splitlines()) for data in contents(out).values()) == 8


def test_an_input_that_lost_its_last_rows_is_noticed(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(source, out=out)
    lines = source.read_bytes().splitlines(keepends=True)
    lost = sum(map(len, lines[7:]))
    source.write_bytes(b"".join(lines[:7]) + b" " * (lost - 1) + b"\n")
    with pytest.raises(InputError, match="fewer rows than when the job began"):
        run(source, out=out)


def test_a_finished_part_that_is_damaged_is_made_again(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(source, out=out)
    whole = contents(out)
    part = out / "part-000001.parquet"
    part.write_bytes(part.read_bytes()[:-8] + b"damaged!")
    assert run(source, out=out).found == len(PAGES) - 7
    assert contents(out) == whole


def test_limits_that_change_nothing_that_is_written_do_not_matter(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(source, out=tmp_path / "out")
    monkeypatch.setattr("batag.catalogue.job.settings", Settings(part_pages=7, shown_problems=3))
    assert run(source, out=tmp_path / "out").found == len(PAGES)


def test_what_is_refused_at_its_first_part_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"PAR1 is not enough")
    for options in ({"out": tmp_path / "out"}, {"out": tmp_path / "one.parquet", "one_file": True}):
        with pytest.raises(InputError, match="not a readable Parquet file"):
            run(path, **options)
    assert [each.name for each in tmp_path.iterdir()] == ["pages.parquet"]


def test_rows_of_a_damaged_row_group_are_errors_and_the_others_are_tagged(tmp_path: Path) -> None:
    titles = [f"acme running shoes {number:04d}" for number in range(28)]
    path = tmp_path / "in.parquet"
    pq.write_table(
        pa.table({"id": list(range(28)), "title": titles}), path, row_group_size=7, compression="zstd", use_dictionary=False
    )
    column = pq.ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    start = column.data_page_offset
    data[start + 30 : start + column.total_compressed_size] = bytes(column.total_compressed_size - 30)
    path.write_bytes(data)
    totals = run(path, out=tmp_path / "out")
    assert (totals.pages, totals.errors) == (28, 7)
    found = table(tmp_path / "out").to_pylist()
    assert [row["title"] for row in found] == [*titles[:7], *[None] * 7, *titles[14:]]
    assert "row 8: cannot be read" in found[7]["error"]
    assert [row["error"] is None for row in found] == [True] * 7 + [False] * 7 + [True] * 14


def test_parts_of_parquet_follow_the_bytes_of_each_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("inputs", "job"):
        monkeypatch.setattr(f"batag.catalogue.{module}.settings", Settings(part_pages=100, part_bytes=4_000))
    titles = ["shoes"] * 60 + [f"{number:02d}" * 500 for number in range(12)]
    writer = pq.ParquetWriter(tmp_path / "in.parquet", pa.schema({"title": pa.string()}), use_dictionary=False)
    for some in (titles[:60], titles[60:]):
        writer.write_table(pa.table({"title": some}))
    writer.close()
    parts = list(Inputs(paths=(str(tmp_path / "in.parquet"),)).parts())
    sizes = [sum(map(len, titles[part.first - 1 : part.first - 1 + part.rows])) for part in parts]
    assert sum(part.rows for part in parts) == len(titles)
    assert [part.first for part in parts] == [1 + sum(part.rows for part in parts[:n]) for n in range(len(parts))]
    assert max(sizes) <= 4_000
    assert parts[0].rows > 60


def test_whole_numbers_of_any_size_come_out_as_they_came(tmp_path: Path) -> None:
    line = b'{"id":"a","title":"shoes","n":77777777777777777777,"deep":[-9223372036854775809]}\n'
    (tmp_path / "in.jsonl").write_bytes(line)
    run(tmp_path / "in.jsonl", out=tmp_path / "out", format="jsonl")
    (part,) = (tmp_path / "out").glob("part-*.jsonl")
    found = json.loads(part.read_bytes())
    assert (found["n"], found["deep"]) == (77777777777777777777, [-9223372036854775809])


# Pages that do not tell their language

UNTOLD = ["外套", "NIKE", "T-100 大", "外套"]
TOLD = ["红色连衣裙", "男士运动鞋", "儿童雨衣", "Wooden dining table with four chairs"] * 4


def languages(tmp_path: Path, name: str, titles: list[str]) -> Path:
    rows = [{"id": str(number), "title": title} for number, title in enumerate(titles)]
    path = tmp_path / f"titles.{name}"
    if name == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif name == "csv":
        path.write_text("id,title\n" + "".join(f"{row['id']},{row['title']}\n" for row in rows), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("pages", [1, 3, 100])
def test_pages_that_do_not_tell_have_the_language_of_most_of_their_file_in_whatever_part_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pages: int
) -> None:
    for module in ("inputs", "job"):
        monkeypatch.setattr(f"batag.catalogue.{module}.settings", Settings(part_pages=pages))
    read: dict[str, str] = {}
    predict = tiny_tagger().predict_all

    def watched(given: Any, **more: Any) -> Any:
        found = predict(given, **more)
        read.update((each.page["title"], each.language) for each in found)
        return found

    monkeypatch.setattr(tiny_tagger(), "predict_all", watched)
    source = languages(tmp_path, name, [*UNTOLD, *TOLD])
    totals = run(source, out=tmp_path / "out")
    assert {title: read[title] for title in (*UNTOLD, *TOLD[-4:])} == dict.fromkeys([*UNTOLD, *TOLD[:3]], "zh-Hans") | {
        TOLD[3]: "en"
    }
    assert totals.languages_by_file == {"zh-Hans": len(UNTOLD)}
    whole = contents(tmp_path / "out")
    sorted((tmp_path / "out").glob("part-*"))[-1].unlink()
    assert run(source, out=tmp_path / "out").languages_by_file == {"zh-Hans": len(UNTOLD)}
    assert contents(tmp_path / "out") == whole


def test_each_file_of_a_job_has_a_usual_language_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "ja").mkdir()
    chinese = languages(tmp_path, "jsonl", [*UNTOLD, *TOLD])
    japanese = languages(tmp_path / "ja", "jsonl", ["外套", "こどもの雨具", "コーヒー豆 深煎り"])
    assert run(chinese, japanese, out=tmp_path / "out").languages_by_file == {"zh-Hans": len(UNTOLD), "ja": 1}
    assert run(chinese, japanese, out=tmp_path / "given", language="zh-Hant").problems == {}
