"""The folder of a run: what lies there is not learnt over, and what is not the run's own is not touched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.crash.nursery import TINY, differing, finished, new_run, outcome, resumed, small_files
from tests.tiny import as_dict

import batag
from batag.errors import BatagError, InputError
from batag.pages.formats import read_pages
from batag.pages.page import Page

pytestmark = pytest.mark.usefixtures("few_rounds")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return small_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Any]) -> Path:
    """A run of three epochs."""
    folder = tmp_path_factory.mktemp("runs") / "done"
    finished(new_run(folder, files, "training.epochs=3"))
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lose(*names: str) -> Callable[[Path], object]:
    def gone(folder: Path) -> None:
        for name in names:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return gone


LOST: dict[str, tuple[tuple[str, ...], str]] = {
    "the last checkpoint of a finished run": (("last.safetensors",), "last.safetensors"),
    "of a run that has no bundle yet": (("last.safetensors", "bundle"), "last.safetensors"),
    "with its best weights": (("last.safetensors", "best.safetensors", "bundle"), "last.safetensors"),
    "with its metrics": (("last.safetensors", "metrics.jsonl"), "last.safetensors"),
    "the best weights": (("best.safetensors",), "best.safetensors"),
    "the best weights and the bundle": (("best.safetensors", "bundle"), "best.safetensors"),
    "the metrics": (("metrics.jsonl",), "metrics.jsonl"),
}


@pytest.mark.parametrize(("names", "missed"), LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("settings", [(), ("training.epochs=4",)], ids=["as it was", "longer"])
def test_a_run_that_lost_what_it_goes_on_from_is_refused_and_left_as_it_is(
    tmp_path: Path, done: Path, names: tuple[str, ...], missed: str, settings: tuple[str, ...]
) -> None:
    copy = Path(shutil.copytree(done, tmp_path / "copy"))
    lose(*names)(copy)
    before = everything(copy)
    with pytest.raises(InputError, match="is missing") as caught:
        resumed(copy, *settings)
    assert str(copy / missed) in str(caught.value)
    assert "train again into a new folder" in str(caught.value)
    assert everything(copy) == before


def test_best_weights_of_an_earlier_epoch_are_noticed(tmp_path: Path, done: Path, files: dict[str, Any]) -> None:
    from batag.training.checkpoint import load_weights_file, save_weights

    copy = Path(shutil.copytree(done, tmp_path / "copy"))
    weights, metadata = load_weights_file(copy / "last.safetensors")
    save_weights(copy / "last.safetensors", weights, metadata | {"best_epoch": 3})
    weights, metadata = load_weights_file(copy / "best.safetensors")
    save_weights(copy / "best.safetensors", weights, metadata | {"epoch": 1})
    with pytest.raises(InputError, match="earlier epoch"):
        resumed(copy)


def test_a_run_that_was_cut_off_in_its_first_epoch_begins_again(tmp_path: Path, done: Path, files: dict[str, Any]) -> None:
    folder = tmp_path / "run"
    finished(new_run(folder, files, "training.epochs=1"))
    # As a crash leaves it between the best weights of the first epoch and its checkpoint.
    lose("last.safetensors", "bundle", "curves.png", "dial.png")(folder)
    resumed(folder, "training.epochs=3")
    assert differing(outcome(folder), outcome(done)) == []


@pytest.mark.parametrize("name", [".notes.tmp", "notes.tmp", "data.json", ".data.json.tmp", ".mine.7.tmp"])
def test_a_run_does_not_begin_where_anything_of_the_users_lies(tmp_path: Path, files: dict[str, Any], name: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).write_text('{"mine": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="is there already"):
        new_run(tmp_path / "run", files)
    assert everything(tmp_path / "run") == {name: b'{"mine": 1}'}


def test_a_run_that_goes_on_leaves_the_users_files_alone(tmp_path: Path, done: Path) -> None:
    copy = Path(shutil.copytree(done, tmp_path / "copy"))
    for name in (".notes.tmp", ".mine.7.tmp"):
        (copy / name).write_text("mine", encoding="utf-8")
    (copy / ".last.safetensors.7.tmp").write_text("half", encoding="utf-8")
    resumed(copy)
    assert sorted(path.name for path in copy.glob(".*.tmp")) == [".mine.7.tmp", ".notes.tmp"]


# From Python


def test_several_files_are_trained_on_as_one(tmp_path: Path, files: dict[str, Any], done: Path) -> None:
    lines = files["train"][0].read_bytes().splitlines(keepends=True)
    names = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, part in zip(names, (lines[:10], lines[10:]), strict=True):
        path.write_bytes(b"".join(part))
    settings = [*TINY, "training.epochs=3"]
    given = [str(names[0]), names[1]]
    batag.train(given, dev=list(files["dev"]), out=tmp_path / "run", settings=as_dict(*settings), device="cpu")
    assert differing(outcome(tmp_path / "run"), outcome(done)) == []
    batag.train(iter(map(str, names)), out=tmp_path / "held", settings=as_dict(*TINY, "training.epochs=1"), device="cpu")
    assert len(json.loads((tmp_path / "held" / "data.json").read_bytes())["train"]) == 2


@pytest.mark.parametrize("what", ["numbers", "records", "a name among pages", "a page among names", "one page", "nothing"])
def test_what_is_neither_pages_nor_files_is_one_clear_error(tmp_path: Path, files: dict[str, Any], what: str) -> None:
    page: Page = next(iter(read_pages(files["train"][0])))
    given: Any = {
        "numbers": [1, 2],
        "records": [{"title": "shoes"}],
        "a name among pages": [page, "a.jsonl"],
        "a page among names": ["a.jsonl", page],
        "one page": page,
        "nothing": [],
    }[what]
    with pytest.raises(BatagError, match="pages") as caught:
        batag.train(given, out=tmp_path / "run", device="cpu")
    with pytest.raises(BatagError, match="dev pages"):
        batag.train(files["train"][0], dev=given, out=tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()
    if what not in ("nothing", "one page"):
        assert "a list of names" in str(caught.value)
