"""One reader for all: `read_pages` and a catalogue job see the same records of every format, good ones and bad ones."""

from __future__ import annotations

import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.strategies import WRITABLE
from tests.tiny import catalogue, tiny_run, tiny_tagger

from batag.catalogue.inputs import Inputs
from batag.catalogue.job import Job
from batag.catalogue.rows import read_rows
from batag.catalogue.tagged import Options
from batag.pages.formats import FORMATS, NEEDS_TOKENS, read_pages, write_pages
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.segmentation.segmentation import Segmentation, bring_tokens
from batag.settings import Settings

PAGES = catalogue(4, split="test")


@pytest.fixture(autouse=True)
def one_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = tiny_tagger()
    monkeypatch.setattr("batag.tagging.tagger.Tagger.load", lambda *_, **__: tagger)


def good(folder: Path, name: str) -> Path:
    """The same pages in a file of the format."""
    path = folder / f"pages.{name}"
    if name == "spans":
        records = [{"id": page.id, "language": page.language, **page.fields} for page in PAGES]
        path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
        return path
    write_pages([bring_tokens(page, Segmentation()) if name in NEEDS_TOKENS else page for page in PAGES], path, format=name)
    return path


TEXTS = {
    "jsonl": ('{"id": "1", "title": "ACME shoes"}\nnot json\n{"id": "3", "title": "bag"}\n', "bad-json"),
    "csv": ('id,title\n1,ACME shoes\n2,"open\n3,bag\n', "bad-row"),
    "tsv": ("id\ttitle\n1\tACME shoes\n2\ta\tb\tc\n3\tbag\n", "bad-row"),
    "conll": ("# id = 1\nACME O\nshoes O\n\n# id = 2\nalone\n\n# id = 3\nbag O\n", "bad-line"),
    "words": ("# id = 1\nACME\tnone\nshoes\tnone\n\n# id = 2\nalone\n\n# id = 3\nbag\tnone\n", "bad-line"),
    "doccano": ('{"id": 1, "text": "ACME shoes"}\n{"id": 2, "label": []}\n{"id": 3, "text": "bag"}\n', "empty-page"),
    "label-studio": ('[{"data": {"id": 1, "title": "ACME"}}, {"data": 5}, {"data": {"id": 3, "title": "bag"}}]', "bad-field"),
    "spans": ('[{"id": 1, "text": "ACME shoes"}, 2, {"id": 3, "text": "bag"}]', "bad-json"),
}  # fmt: skip


def with_a_bad_row(folder: Path, name: str) -> tuple[Path, str]:
    """A file of a good row, a bad one and a good one, and the kind of what is wrong."""
    path = folder / f"bad.{name}"
    columns: dict[str, list[Any]] = {"id": ["1", "2", "3"], "title": ["ACME shoes", None, "bag"]}
    if name == "parquet":
        pq.write_table(pa.table(columns), path)
    elif name == "xlsx":
        book = openpyxl.Workbook()
        for row in [list(columns), *zip(*columns.values(), strict=True)]:
            book.worksheets[0].append(row)
        book.save(path)
    else:
        path.write_text(TEXTS[name][0], encoding="utf-8")
    return path, TEXTS[name][1] if name in TEXTS else "empty-page"


def tag(path: Path, out: Path, *, format: str, to: str = "jsonl", problems: Problems | None = None) -> Path:
    inputs, options = Inputs(paths=(str(path),), format=format), Options(format=to)
    job = Job(bundle=tiny_run(), engine="torch", inputs=inputs, out=str(out), options=options, one_file=True, workers=1)
    job.run(problems=Problems() if problems is None else problems)
    return out


def tags_of(rows: list[Any]) -> list[list[tuple[Any, ...]]]:
    return [[(tag["field"], tag["start"], tag["end"], tag["label"], tag["text"]) for tag in row["tags"]] for row in rows]


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def seen(page: Page) -> tuple[Any, ...]:
    return page.id, dict(page.fields), page.language, page.tokens, page.where


@pytest.mark.parametrize("name", FORMATS)
def test_a_job_sees_the_pages_that_read_pages_gives(tmp_path: Path, name: str) -> None:
    path = good(tmp_path, name)
    read = list(read_pages(path, format=name))
    assert [(page.id, page.fields) for page in read] == [(page.id, page.fields) for page in PAGES]
    pages = [page for part in Inputs(paths=(str(path),), format=name).parts() for page in read_rows(part).pages]
    assert [seen(page) for page in pages if page is not None] == [seen(page) for page in read]


@pytest.mark.parametrize("name", FORMATS)
def test_a_job_gives_the_tags_that_the_tagger_gives(tmp_path: Path, name: str) -> None:
    path = good(tmp_path, name)
    found = tags_of(lines(tag(path, tmp_path / "out.jsonl", format=name)))
    tagged = tiny_tagger().tag_many(read_pages(path, format=name))
    assert found == [[(tag.field, tag.start, tag.end, tag.label, tag.text) for tag in tags] for tags in tagged]
    assert any(found)


@pytest.mark.parametrize("name", WRITABLE)
def test_a_job_writes_the_same_tags_in_every_format(tmp_path: Path, name: str) -> None:
    path = good(tmp_path, "jsonl")
    expected = tags_of(lines(tag(path, tmp_path / "expected.jsonl", format="jsonl")))
    again = list(read_pages(tag(path, tmp_path / f"out.{name}", format="jsonl", to=name), format=name))
    assert [page.id for page in again] == [page.id for page in PAGES]
    assert [[(each.field, each.start, each.end, each.label, each.text) for each in page.tags] for page in again] == expected


@pytest.mark.parametrize("name", FORMATS)
def test_a_bad_row_is_the_same_problem_to_both_and_keeps_its_place_in_a_job(tmp_path: Path, name: str) -> None:
    path, kind = with_a_bad_row(tmp_path, name)
    to_reader, to_job = Problems(), Problems()
    assert [page.id for page in read_pages(path, format=name, problems=to_reader)] == ["1", "3"]
    rows = lines(tag(path, tmp_path / "out.jsonl", format=name, problems=to_job))
    assert list(map(astuple, to_job.listed)) == list(map(astuple, to_reader.listed))
    (problem,) = to_job.listed
    assert (problem.kind, problem.effect) == (kind, "page skipped")
    assert problem.where.startswith(
        f"{path}:" if name in ("jsonl", "csv", "tsv", "conll", "words", "doccano") else f"{path}, r"
    )
    assert [bool(row["error"]) for row in rows] == [False, True, False]
    assert rows[1]["error"] == f"{problem.where}: {problem.reason}"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("bad", [False, True])
def test_wherever_parts_are_cut_the_result_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, bad: bool
) -> None:
    path = with_a_bad_row(tmp_path, name)[0] if bad else good(tmp_path, name)
    results = []
    for size in (1, 2, 5, 1_000):
        for module in ("inputs", "job"):
            monkeypatch.setattr(f"batag.catalogue.{module}.settings", Settings(part_pages=size))
        out = tag(path, tmp_path / f"out-{size}.jsonl", format=name)
        results.append(lines(out))
    # A part is a batch, and a processor may round the last digit of a score in another way for another batch.
    scores = [[tag.pop("score") for row in rows for tag in row["tags"]] for rows in results]
    assert all(rows == results[0] for rows in results)
    assert all(own == pytest.approx(scores[0], abs=1e-5) for own in scores)


def test_problems_of_a_record_that_is_read_all_the_same_reach_both(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes('{"id": "1", "title": "跑鞋"}\n'.encode() * 3 + b'{"id": 2, "title": "sh\xff"}\n{"id": 3, "title": 5}\n')
    to_reader, to_job = Problems(), Problems()
    ids = {page.id for page in read_pages(path, problems=to_reader)}
    tag(path, tmp_path / "out.jsonl", format="jsonl", problems=to_job)
    assert ids == {"1", "2", "3"}
    assert [problem.kind for problem in to_job.listed] == ["bad-encoding", "number-as-text"]
    assert to_job.listed == [problem for problem in to_reader.listed if problem.kind != "duplicate-id"]
