"""What is not a job's own: files that lie where it writes, files under the names that it wants, records that people edit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tiny import catalogue, tiny_run, tiny_tagger, typed

from batag.pages.formats import write_pages
from batag.settings import Settings

PAGES = catalogue(10, split="test")
FOREIGN = ("part-list.txt", "part-prices.csv", "part-7.parquet", "part-000001.csv", ".notes.tmp", ".a.tmp", "_batag/my.tmp")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = tiny_tagger()
    monkeypatch.setattr("batag.tagging.tagger.Tagger.load", lambda *_, **__: tagger)
    for module in ("inputs", "job"):
        monkeypatch.setattr(f"batag.catalogue.{module}.settings", Settings(part_pages=7))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    write_pages(PAGES, path)
    return path


def tag(source: Path, out: object, *more: object) -> Any:
    return typed("tag", tiny_run(), source, "-o", out, "--workers", 1, "--engine", "torch", *more)


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("part-00000?.parquet")}


def put_foreign(folder: Path) -> dict[Path, str]:
    """Files of the user's, and what they hold."""
    found = {folder / name: f"mine: {name}" for name in (*FOREIGN, "sub/part-000000.parquet", "sub/.x.9.tmp")}
    for path, text in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return found


def untouched(found: dict[Path, str]) -> bool:
    return all(path.read_text(encoding="utf-8") == text for path, text in found.items())


def test_a_job_touches_nothing_in_its_folder_that_it_did_not_write(source: Path, tmp_path: Path) -> None:
    assert tag(source, f"{tmp_path}/alone/").returncode == 0
    mine = put_foreign(tmp_path / "out")
    for more in ((), (), ("--restart",), ("--restart", "--to", "jsonl"), ("--restart",)):
        done = tag(source, f"{tmp_path}/out/", *more)
        assert done.returncode == 0, done.stderr
        assert untouched(mine)
    assert parts(tmp_path / "out") == parts(tmp_path / "alone")
    assert not list((tmp_path / "out").glob("part-*.jsonl"))


def test_a_job_that_comes_to_nothing_touches_nothing_either(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("not a page\n", encoding="utf-8")
    mine = put_foreign(tmp_path / "out")
    (tmp_path / "empty").mkdir()
    assert tag(tmp_path / "in.jsonl", f"{tmp_path}/out/").returncode == 1
    assert tag(tmp_path / "in.jsonl", f"{tmp_path}/empty/", "--format", "csv").returncode == 1
    assert untouched(mine)
    assert (tmp_path / "empty").is_dir()


@pytest.mark.parametrize("more", [(), ("--restart",)])
def test_a_file_under_the_name_of_a_part_that_no_job_recorded_is_kept(
    source: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    taken = tmp_path / "out" / "part-000003.parquet"
    taken.parent.mkdir()
    taken.write_text("mine", encoding="utf-8")
    done = tag(source, f"{tmp_path}/out/", *more)
    assert done.returncode == 1
    assert "part-000003.parquet" in done.stderr
    assert taken.read_text(encoding="utf-8") == "mine"
    assert [path.name for path in taken.parent.glob("part-*")] == ["part-000003.parquet"]
    taken.unlink()
    assert tag(source, f"{tmp_path}/out/").returncode == 0


def test_a_finished_file_is_replaced_only_if_that_is_said(source: Path, tmp_path: Path) -> None:
    for name in ("one.csv", "one.conll"):
        out = tmp_path / name
        out.write_text("labels of people", encoding="utf-8")
        done = tag(source, out)
        assert done.returncode == 1
        assert "is there already" in done.stderr
        assert "--restart" in done.stderr
        assert out.read_text(encoding="utf-8") == "labels of people"
        assert tag(source, out, "--restart").returncode == 0
        assert out.read_text(encoding="utf-8") != "labels of people"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.conll", "one.csv", "pages.jsonl"]


def cut_off_at(name: str, patch: pytest.MonkeyPatch) -> None:
    """End the job just before a file gets its name (a full disk, a kill)."""
    replace = os.replace

    def placed(old: Any, new: Any) -> None:
        if Path(new).name == name:
            raise KeyboardInterrupt
        replace(old, new)

    patch.setattr(os, "replace", placed)


def test_a_file_that_comes_while_a_job_for_it_is_left_is_not_replaced(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "one.jsonl"
    for cut in ("part-000002.jsonl", "whole-one.jsonl", "one.jsonl"):
        with monkeypatch.context() as patch:
            cut_off_at(cut, patch)
            assert tag(source, out).returncode == 130
        out.write_text("mine", encoding="utf-8")
        assert "is there already" in tag(source, out).stderr
        assert out.read_text(encoding="utf-8") == "mine"
        out.unlink()
    done = tag(source, out)
    assert "30 pages tagged" in done.stderr
    assert "30 of them before" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jsonl", "pages.jsonl"]


def test_a_job_that_replaces_a_file_goes_on_without_being_told_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "one.jsonl"
    out.write_text("old", encoding="utf-8")
    with monkeypatch.context() as patch:
        cut_off_at("part-000002.jsonl", patch)
        assert tag(source, out, "--restart").returncode == 130
    assert out.read_text(encoding="utf-8") == "old"
    done = tag(source, out)
    assert "14 of them before" in done.stderr
    assert len(out.read_text(encoding="utf-8").splitlines()) == 30


def test_the_file_that_a_job_replaces_is_never_taken_for_the_jobs_own_however_often_it_is_cut_off(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "one.jsonl"
    out.write_text("old", encoding="utf-8")
    for cut, more in (("one.jsonl", ["--restart"]), ("whole-one.jsonl", []), ("one.jsonl", [])):
        with monkeypatch.context() as patch:
            cut_off_at(cut, patch)
            assert tag(source, out, *more).returncode == 130
        assert out.read_text(encoding="utf-8") == "old"
    assert tag(source, out).returncode == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 30


def test_a_file_that_is_in_place_is_known_as_the_jobs_own_if_only_the_tidying_was_cut_off(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from batag.catalogue.place import LocalPlace

    out = tmp_path / "one.jsonl"
    removed: list[str] = []
    remove = LocalPlace.remove

    def gone(place: LocalPlace, name: str) -> None:
        if place.holds(name):
            removed.append(name)
        if len(removed) > 3:
            raise KeyboardInterrupt
        remove(place, name)

    with monkeypatch.context() as patch:
        patch.setattr(LocalPlace, "remove", gone)
        assert tag(source, out).returncode == 130
    assert removed
    whole = out.read_bytes()
    done = tag(source, out)
    assert "30 pages tagged" in done.stderr, done.stderr
    assert out.read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jsonl", "pages.jsonl"]


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "rows that are too many": lambda description: description.update(rows=10**9),
    "rows that are a text": lambda description: description.update(rows="7"),
    "tags that are a list": lambda description: description.update(tags=[1]),
    "tags with counts of nothing": lambda description: description.update(tags={"brand": None}),
    "problems that are a number": lambda description: description.update(problems=3),
    "failures that are numbers": lambda description: description.update(failed=[1, {}]),
    "a list of anything": lambda description: description.update(listed=[7]),
    "a size that is none": lambda description: description.update(bytes=None),
    "another part's number": lambda description: description.update(number=3),
    "fewer errors": lambda description: description.update(errors=-5),
    "a file elsewhere": lambda description: description.update(file="../pages.jsonl"),
    "a key more": lambda description: description.update(more=1),
    "a key less": lambda description: description.pop("source"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_record_that_somebody_edited_is_not_believed(
    source: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], object]
) -> None:
    out = tmp_path / "out"
    assert tag(source, f"{out}/").returncode == 0
    before, lines = parts(out), source.read_bytes()
    record = out / "_batag" / "part-000002.json"
    changed = json.loads(record.read_bytes())
    edit(changed)
    record.write_text(json.dumps(changed), encoding="utf-8")
    done = tag(source, f"{out}/", "--json")
    assert done.returncode == 0, done.stderr
    totals = json.loads(done.stdout)
    assert (totals["pages"], totals["pages_found_tagged"], totals["errors"]) == (30, 23, 0)
    assert parts(out) == before
    assert source.read_bytes() == lines


@pytest.mark.parametrize("text", ["[]", "3", '{"job": 5}', "{", '{"job": null}', "[" * 100_000])
def test_a_job_file_that_somebody_edited_is_one_clear_error(source: Path, tmp_path: Path, text: str) -> None:
    out = tmp_path / "out"
    assert tag(source, f"{out}/").returncode == 0
    before = parts(out)
    (out / "_batag" / "job.json").write_text(text, encoding="utf-8")
    done = tag(source, f"{out}/")
    assert done.returncode == 1
    assert "is damaged. Use --restart" in done.stderr
    assert parts(out) == before
    assert tag(source, f"{out}/", "--restart").returncode == 0
    assert parts(out) == before


def test_a_column_that_one_file_of_a_folder_lacks_is_said_of_that_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,name\n1,ACME shoes\n", encoding="utf-8")
    (tmp_path / "in" / "b.jsonl").write_text('{"id": "2", "names": "ACME shoes"}\n', encoding="utf-8")
    done = tag(tmp_path / "in", f"{tmp_path}/out/", "--columns", "title=name")
    message = " ".join(done.stderr.split())
    assert done.returncode == 1
    assert (
        "b.jsonl: has no column 'name' (for the field title). Did you mean --columns title=names? The columns are id" in message
    )
