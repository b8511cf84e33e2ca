"""A cell: its address, its numbers, and that it can be left and gone on with."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.paper.corner import SMALL, corner_corpus
from tests.tiny import catalogue

from batag.errors import InputError
from batag.evaluation.fscore import macro_fbeta
from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag
from batag.paper import cell as cells
from batag.paper.cell import Cell, run_cell
from batag.paper.corpus import Corpus
from batag.paper.definition import PAPER_SETTINGS
from batag.paper.store import Store
from batag.paper.work import _finish_one, check_key, finish
from batag.training.recipe import read_recipe
from batag.training.run import Run


def cell(corpus: Corpus, *more: str) -> Cell:
    return Cell(read_recipe(None, settings=(*PAPER_SETTINGS, *SMALL, "training.epochs=3", *more)), corpus)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corner_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def result(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_cell(cell(corpus), tmp_path_factory.mktemp("runs") / "run")


def without_times(result: dict[str, Any]) -> str:
    epochs = [{key: value for key, value in line.items() if key != "seconds"} for line in result["epochs"]]
    kept = {key: value for key, value in result.items() if key not in ("seconds", "date", "epochs")}
    return json.dumps(kept | {"epochs": epochs}, sort_keys=True)


def test_the_address_follows_what_decides_the_numbers(corpus: Corpus, tmp_path: Path) -> None:
    base = cell(corpus)
    assert base.key == cell(corpus).key
    for change in ("training.seed=1", "objective.name=WCE", "encoder.name=transformer", "training.epochs=4"):
        assert cell(corpus, change).key != base.key
    assert cell(corpus, "training.checkpoint_steps=7").key == base.key
    moved = corner_corpus(tmp_path / "elsewhere", name="other name")
    assert cell(moved).key == base.key
    moved.test.write_bytes(moved.test.read_bytes() + b"\n" + moved.test.read_bytes())
    assert cell(corner_corpus(tmp_path / "third")).key == base.key
    assert cell(replace(moved)).key != base.key


def test_scores_are_those_of_the_pages_together(result: dict[str, Any]) -> None:
    for moment in ("end", "best"):
        scores = result["test"][moment]
        size = len(result["classes"])
        confusion = np.array(scores["pages"]).sum(0).reshape(size, size)
        assert confusion.tolist() == scores["confusion"]
        assert scores["macro_f1"] == pytest.approx(macro_fbeta(confusion, 1))
        assert scores["macro_f2_without_none"] == pytest.approx(macro_fbeta(confusion, 2, skip_none=True))
        assert scores["predicted"] == dict(zip(result["classes"], confusion.sum(0).tolist(), strict=True))
    assert result["test"]["end"]["epoch"] == 3
    best = max(result["epochs"], key=lambda line: line["macro_f2"])
    assert result["test"]["best"]["epoch"] == best["epoch"]
    assert [line["epoch"] for line in result["epochs"]] == [1, 2, 3]
    assert result["pages"] == {"train": 72, "dev": 18, "test": 24}


def test_the_same_cell_gives_the_same_numbers(corpus: Corpus, result: dict[str, Any], tmp_path: Path) -> None:
    assert without_times(run_cell(cell(corpus), tmp_path / "run")) == without_times(result)


def test_a_training_that_was_left_is_gone_on_with(corpus: Corpus, result: dict[str, Any], tmp_path: Path) -> None:
    from batag.training.data import DataFiles

    one = cell(corpus)
    run = Run.create(tmp_path / "run", one.recipe, DataFiles((corpus.train,), (corpus.dev,), corpus.reading))
    run = run.prepare(device="cpu")
    steps = run.train()
    for _ in range(run.steps_per_epoch + 2):
        next(steps)
    run.save()
    steps.close()
    began = json.loads((tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert began["epoch"] == 1
    assert without_times(run_cell(one, tmp_path / "run")) == without_times(result)


def test_a_loss_that_is_no_number_is_a_result(corpus: Corpus, tmp_path: Path) -> None:
    wild = cell(corpus, "schedule.scale=1e30")
    found = run_cell(wild, tmp_path / "run")
    assert "loss" in found["failed"] or "gradient" in found["failed"]
    assert "test" not in found


def test_a_corpus_that_cannot_be_learnt_from_is_the_users_mistake(corpus: Corpus, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "1", "title": "no tags"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="no labelled page"):
        run_cell(cell(replace(corpus, train=empty)), tmp_path / "run")


@pytest.mark.long
def test_finished_cells_are_kept_and_never_trained_again(corpus: Corpus, tmp_path: Path) -> None:
    store = Store(tmp_path)
    cells = [cell(corpus, "training.epochs=1", f"training.seed={seed}") for seed in (0, 1, 0)]
    done = list(finish(cells, store, jobs=2))
    assert len(done) == 2
    assert not [path for path in (tmp_path / "runs").iterdir() if path.is_dir()]
    times = {path: path.stat().st_mtime_ns for path in store.cells.iterdir()}
    assert len(times) == 2
    assert list(finish(cells, store, jobs=2)) == []
    assert {path: path.stat().st_mtime_ns for path in store.cells.iterdir()} == times


@pytest.mark.long
def test_one_cell_that_cannot_be_trained_does_not_stop_the_others(corpus: Corpus, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "1", "title": "no tags"}\n', encoding="utf-8")
    bad, good = cell(replace(corpus, train=empty), "training.epochs=1"), cell(corpus, "training.epochs=1")
    done = {one.key: found for one, found in finish([bad, good], Store(tmp_path / "store"), jobs=1)}
    assert isinstance(done[bad.key], InputError)
    assert isinstance(done[good.key], dict)


def test_a_cell_is_found_whichever_commit_trained_it_but_only_its_own_resumes_it(
    corpus: Corpus, result: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, one = Store(tmp_path), cell(corpus)
    store.put(one, result)
    before = store.run_folder(one)
    monkeypatch.setattr("batag.paper.store.commit", lambda: "another")
    assert store.find(one) == json.loads(json.dumps(result))
    assert store.run_folder(one) != before


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_of_the_sources_says_whether_they_have_changed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        return subprocess.run(["git", "-C", tmp_path, *identity, *words], capture_output=True, text=True, check=True).stdout

    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(cells.resources, "files", lambda package: tmp_path / package)
    commit = cells.commit.__wrapped__
    (tmp_path / "batag").mkdir()
    (tmp_path / "batag" / "one.py").write_text("X = 1\n")
    assert commit() is None  # no repository
    git("init", "-q")
    assert commit() is None  # somebody else's, which does not have the sources
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "beside").write_text("not of the sources\n")
    assert commit() == git("rev-parse", "--short=12", "HEAD").strip()
    (tmp_path / "batag" / "one.py").write_text("X = 2\n")
    assert commit() == git("rev-parse", "--short=12", "HEAD").strip() + "-dirty"


def test_a_damaged_cell_is_named(corpus: Corpus, tmp_path: Path) -> None:
    store, one = Store(tmp_path), cell(corpus)
    store.put(one, {"key": one.key})
    (store.cells / f"{one.key}.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        store.find(one)


def test_test_pages_without_labels_are_named_before_anything_is_trained(corpus: Corpus, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "1", "title": "no tags"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="no labelled page to score"):
        run_cell(cell(replace(corpus, test=empty)), tmp_path / "run")
    assert not (tmp_path / "run" / "last.safetensors").exists()


def test_a_cell_is_not_stored_under_a_key_that_no_longer_fits(tmp_path: Path) -> None:
    moving = corner_corpus(tmp_path / "corpus")
    one = cell(moving, "training.epochs=1")
    assert one.key
    check_key(one)
    moving.test.write_bytes(moving.dev.read_bytes())
    with pytest.raises(InputError, match="have changed since the table was started"):
        _finish_one(one, Store(tmp_path))
    assert not (tmp_path / "cells").exists()


def test_a_cell_that_another_process_works_on_is_waited_for_and_not_trained_twice(
    corpus: Corpus, result: dict[str, Any], tmp_path: Path
) -> None:
    store, one = Store(tmp_path), cell(corpus)
    with store.at_work(one, wait=False) as alone:
        assert alone
        assert _finish_one(one, store) is None
        store.put(one, result)
    assert _finish_one(one, store, wait=True) == json.loads(json.dumps(result))


def test_a_training_whose_pages_have_moved_begins_anew(corpus: Corpus, result: dict[str, Any], tmp_path: Path) -> None:
    from batag.training.data import DataFiles

    gone = corner_corpus(tmp_path / "gone")
    Run.create(tmp_path / "run", cell(gone).recipe, DataFiles((gone.train,), (gone.dev,), gone.reading))
    gone.train.unlink()
    assert without_times(run_cell(cell(corpus), tmp_path / "run")) == without_times(result)


def test_seconds_go_on_after_a_resume(corpus: Corpus, tmp_path: Path) -> None:
    found = run_cell(cell(corpus), tmp_path / "run")
    path = tmp_path / "run" / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line, seconds in zip((line for line in lines if line["kind"] == "epoch"), (10.0, 20.0, 5.0), strict=True):
        line["busy"] = seconds
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    again = run_cell(cell(corpus), tmp_path / "run")
    assert [line["seconds"] for line in again["epochs"]] == [10.0, 20.0, 25.0]
    assert again["seconds"] == 25.0
    assert without_times(again) == without_times(found)


def test_test_pages_are_read_in_the_language_of_most_of_their_file_as_dev_pages_are(tmp_path: Path) -> None:
    japanese = [replace(page, language=None) for page in catalogue(12) if page.language == "ja"]
    short = Page("short", {"title": "羽毛球"}, tags=(Tag("title", 0, 3, japanese[0].tags[0].label, "羽毛球"),))
    write_pages([*japanese, short], path := tmp_path / "pages.jsonl")
    found = run_cell(cell(Corpus("ja", path, path, path), "training.epochs=1"), tmp_path / "run")
    assert found["test"]["end"]["true"] == found["epochs"][-1]["true"]
