"""Runs: what is in their folder, how they are resumed and refused, which epoch is chosen, and what is shipped."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.conftest import mostly_long
from tests.crash.nursery import TINY, differing, finished, new_run, outcome, resumed, small_files
from tests.strategies import read_all, written
from tests.tiny import as_dict
from torch import Tensor, nn

import batag
from batag.cli.train import train_watched
from batag.errors import InputError, UsageError
from batag.evaluation.charts import draw_curves
from batag.evaluation.dev_scores import DevScores
from batag.evaluation.tokens import TokenScores
from batag.features.batches import epoch_batches
from batag.heads.torch_heads import MIXING_WEIGHT
from batag.labels.scheme import Scheme
from batag.objectives import build_objective
from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag
from batag.sample import sample_pages
from batag.tagging.assessment import assess
from batag.training import loop
from batag.training import prepared as run_module
from batag.training.checkpoint import load_weights_file
from batag.training.data import DataFiles
from batag.training.loop import EpochDone, StepDone
from batag.training.metrics import Metrics, Selection
from batag.training.prepared import FinishedRun, PreparedRun
from batag.training.recipe import read_recipe
from batag.training.run import Run

SHORT = "training.epochs=2"


pytestmark = pytest.mark.usefixtures("few_rounds")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waiting for the disk takes longer than such a training."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """24 pages, four a step: six steps an epoch."""
    return small_files(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Any]) -> FinishedRun:
    """A run of two epochs, finished, with its picture; nobody writes into it."""
    run = finished(new_run(tmp_path_factory.mktemp("done") / "run", files, SHORT))
    assert isinstance(run, FinishedRun)
    return run


def stopped(run: Run, at: Callable[[StepDone | EpochDone], bool]) -> PreparedRun:
    """The run, prepared and trained up to a moment."""
    prepared = run.prepare(device="cpu")
    steps = prepared.train()
    for event in steps:
        if at(event):
            break
    steps.close()
    return prepared


def step(number: int) -> Callable[[StepDone | EpochDone], bool]:
    return lambda event: isinstance(event, StepDone) and event.step == number


# What is in the folder


def test_a_finished_run_holds_recipe_data_metrics_checkpoints_curves_bundle(done: FinishedRun, files: dict[str, Any]) -> None:
    names = {path.name for path in done.folder.iterdir() if path.name != ".lock"}
    assert names == {
        *("recipe.toml", "data.json", "metrics.jsonl", "last.safetensors", "best.safetensors", "bundle"),
        *("curves.png", "dial.png"),
    }
    assert (done.folder / "recipe.toml").read_text(encoding="utf-8") == done.run.recipe.text()
    assert read_recipe(done.folder / "recipe.toml") == done.run.recipe
    data = json.loads((done.folder / "data.json").read_text())
    assert [each["file"] for each in data["train"]] == [str(files["train"][0].resolve())]
    assert len(data["dev"][0]["sha256"]) == 64
    for name in ("curves.png", "dial.png"):
        assert (done.folder / name).read_bytes().startswith(b"\x89PNG")


def test_metrics_have_a_line_every_ten_steps_and_one_an_epoch(done: FinishedRun) -> None:
    lines = [json.loads(line) for line in (done.folder / "metrics.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["step"]) for line in lines] == [("epoch", 6), ("step", 10), ("epoch", 12)]
    assert set(lines[1]) == {"kind", "step", "epoch", "loss", "rate"}
    classes = {"none", *done.data.scheme.classes}
    for line in (lines[0], lines[2]):
        assert set(line["true"]) == set(line["predicted"]) == classes
        assert sum(line["true"].values()) == sum(line["predicted"].values()) == done.data.statistics["dev"]["tokens"]
        assert line["selected"] == line["tag_f2"]
        assert all(0 <= line[f"macro_{name}"] <= 1 for name in ("f1", "f2", "f1_without_none", "f2_without_none"))
        assert 0 <= line["tag_f1"] <= 1


def test_the_library_gives_the_same_as_its_parts(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    tagger = batag.train(
        files["train"][0], dev=str(files["dev"][0]), out=tmp_path / "run", settings=as_dict(*TINY, SHORT), device="cpu"
    )
    assert differing(outcome(tmp_path / "run"), outcome(done.folder)) == []
    assert tagger.labels == batag.load(done.folder, device="cpu").labels


def test_pages_that_are_in_no_file_are_written_beside_the_run_and_it_can_be_resumed(
    tmp_path: Path, files: dict[str, Any], done: FinishedRun
) -> None:
    pages = {part: read_all(files[part][0]) for part in ("train", "dev")}
    settings = [*TINY, "training.epochs=1"]
    batag.train(iter(pages["train"]), dev=pages["dev"], out=tmp_path / "run", settings=as_dict(*settings), device="cpu")
    resumed(tmp_path / "run", SHORT)
    assert differing(outcome(tmp_path / "run"), outcome(done.folder)) == []


def test_training_again_into_the_folder_of_a_run_leaves_its_pages_alone(tmp_path: Path) -> None:
    pages = list(sample_pages("en", pages=12, style="paper"))
    settings = [*TINY, "training.epochs=1"]
    batag.train(pages, dev=pages[:4], out=tmp_path / "run", settings=as_dict(*settings), device="cpu")
    with pytest.raises(InputError, match="is there already"):
        batag.train(pages[:6], dev=pages[:3], out=tmp_path / "run", settings=as_dict(*settings), device="cpu")
    # The run that was there can still be resumed.
    assert resumed(tmp_path / "run", SHORT).run.learner.epochs == 2


def test_training_sets_threads_and_determinism_and_gives_them_back(tmp_path: Path, files: dict[str, Any]) -> None:
    torch.set_num_threads(2)
    torch.manual_seed(9)
    run = new_run(tmp_path / "run", files, "training.epochs=1", "training.threads=1")
    run = run.prepare(device="cpu")
    for _ in run.train():
        assert torch.get_num_threads() == 1
        assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_num_threads() == 2
    assert not torch.are_deterministic_algorithms_enabled()
    drawn = torch.rand(3)
    torch.manual_seed(9)
    assert torch.equal(drawn, torch.rand(3)), "the program's own random numbers go on where they were"


def test_the_same_seed_gives_the_same_run_and_another_seed_another(
    tmp_path: Path, files: dict[str, Any], done: FinishedRun
) -> None:
    torch.set_num_threads(2)
    torch.rand(5)
    finished(new_run(tmp_path / "same", files, SHORT))
    assert differing(outcome(tmp_path / "same"), outcome(done.folder)) == []
    finished(new_run(tmp_path / "other", files, SHORT, "training.seed=1"))
    different = differing(outcome(tmp_path / "other"), outcome(done.folder))
    assert {"bundle", "metrics", "last.model.head.weight", "best.input.words.weight"} <= set(different)


# Going on


@pytest.mark.parametrize("at", [1, 5, 9])
def test_a_run_left_after_any_step_ends_as_one_that_was_not(
    tmp_path: Path, files: dict[str, Any], done: FinishedRun, at: int
) -> None:
    stopped(new_run(tmp_path / "run", files, SHORT), step(at))
    resumed(tmp_path / "run")
    assert differing(outcome(tmp_path / "run"), outcome(done.folder)) == []


def test_a_run_left_between_the_checkpoint_and_the_scores_of_an_epoch_scores_it(
    tmp_path: Path, files: dict[str, Any], done: FinishedRun
) -> None:
    run = new_run(tmp_path / "run", files, SHORT)
    run = run.prepare(device="cpu")
    copies = []
    for event in run.train():
        if isinstance(event, StepDone) and event.step % 6 == 0:
            copies.append(Path(shutil.copytree(run.folder, tmp_path / f"copy{event.step}")))
    for copy, epochs in zip(copies, (0, 1), strict=True):
        metadata = load_weights_file(copy / "last.safetensors")[1]
        assert (metadata["step"], metadata["epochs"]) == (6 * (epochs + 1), epochs)
        assert resumed(copy).run.learner.epochs == 2
        assert differing(outcome(copy), outcome(done.folder)) == []


def test_a_run_left_after_an_epoch_is_not_scored_twice(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    stopped(new_run(tmp_path / "run", files, SHORT), lambda event: isinstance(event, EpochDone))
    run = Run.open(tmp_path / "run")
    run = run.prepare(device="cpu")
    assert [(type(event), event.step) for event in run.train()][:2] == [(StepDone, 7), (StepDone, 8)]
    assert differing(outcome(tmp_path / "run"), outcome(done.folder)) == []


def test_a_finished_run_that_is_resumed_stays_as_it_is(tmp_path: Path, done: FinishedRun) -> None:
    copy = Path(shutil.copytree(done.folder, tmp_path / "copy"))
    run = Run.open(copy).prepare(device="cpu")
    with pytest.raises(StopIteration) as end:
        next(run.train())
    assert differing(outcome(copy), outcome(done.folder)) == []
    assert end.value.value.scores == done.scores


def test_more_epochs_on_resume_equal_a_longer_run(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    copy = Path(shutil.copytree(done.folder, tmp_path / "copy"))
    resumed(copy, "training.epochs=4")
    finished(new_run(tmp_path / "longer", files, "training.epochs=4"))
    assert differing(outcome(copy), outcome(tmp_path / "longer")) == []
    assert read_recipe(copy / "recipe.toml").training.epochs == 4


def test_other_checkpoint_steps_on_resume_change_no_number(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    stopped(new_run(tmp_path / "run", files, SHORT), step(4))
    resumed(tmp_path / "run", "training.checkpoint_steps=1")
    assert differing(outcome(tmp_path / "run"), outcome(done.folder)) == []


@pytest.mark.parametrize("setting", ["encoder.depth=2", "training.seed=1", "training.batch=8", "schedule.warmup=9"])
def test_what_would_make_it_another_run_cannot_be_changed_on_resume(done: FinishedRun, setting: str) -> None:
    before = (done.folder / "recipe.toml").read_bytes()
    with pytest.raises(UsageError, match="cannot be changed with --resume") as caught:
        Run.open(done.folder, settings=[setting])
    assert setting in str(caught.value)
    assert "training.epochs" in str(caught.value)
    assert (done.folder / "recipe.toml").read_bytes() == before


def test_a_bad_setting_on_resume_leaves_the_recipe_alone(done: FinishedRun) -> None:
    before = (done.folder / "recipe.toml").read_bytes()
    with pytest.raises(UsageError, match=r"training\.epochs"):
        Run.open(done.folder, settings=["training.epochs=0"])
    assert (done.folder / "recipe.toml").read_bytes() == before


def test_what_a_crash_left_behind_is_no_obstacle(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    folder = tmp_path / "run"
    stopped(new_run(folder, files, SHORT), step(4))
    for name in ("last.safetensors", "best.safetensors", "recipe.toml", "metrics.jsonl"):
        written(folder / f".{name}.{os.getpid()}.tmp", b"half")
        written(folder / f".{name}.1.tmp", b"half")
    for name in (f".bundle.{os.getpid()}.tmp", ".bundle.1.tmp", ".bundle.old"):
        (folder / name).mkdir()
        written(folder / name / "bundle.json", b"half")
    with open(folder / "metrics.jsonl", "ab") as stream:
        stream.write(b'{"kind": "step", "step": 5, "loss": 9.9, "rate": 1}\n{"kind": "step", "st')
    resumed(folder)
    assert differing(outcome(folder), outcome(done.folder)) == []


def test_class_names_with_line_ends_of_other_worlds_do_not_break_the_metrics(tmp_path: Path) -> None:
    pages = [
        Page(str(number), {"title": "a red b"}, language="en", tags=(Tag("title", 2, 5, "x\u2028y\x85z", "red"),))
        for number in range(8)
    ]
    for name in ("train", "dev"):
        write_pages(pages, tmp_path / f"{name}.jsonl")
    files = {name: (tmp_path / f"{name}.jsonl",) for name in ("train", "dev")}
    finished(new_run(tmp_path / "whole", files, SHORT))
    stopped(new_run(tmp_path / "run", files, SHORT), lambda event: isinstance(event, EpochDone))
    resumed(tmp_path / "run")
    assert differing(outcome(tmp_path / "run"), outcome(tmp_path / "whole")) == []


# Its pages


@pytest.mark.parametrize("part", ["train", "dev"])
@pytest.mark.parametrize("change", ["other", "gone"])
def test_pages_that_changed_since_the_run_began_are_refused(tmp_path: Path, part: str, change: str) -> None:
    files = small_files(tmp_path / "pages", train=8, dev=4)
    stopped(new_run(tmp_path / "run", files), step(1))
    path = files[part][0]
    before = path.read_bytes()
    if change == "other":
        path.write_bytes(before + before.splitlines(keepends=True)[0])
    else:
        path.unlink()
    with pytest.raises(InputError) as caught:
        Run.open(tmp_path / "run")
    assert str(path) in str(caught.value)
    assert ("has changed" if change == "other" else "No such file") in str(caught.value)
    path.write_bytes(before)
    assert resumed(tmp_path / "run", "training.epochs=1").run.learner.epochs == 1


def test_a_dictionary_that_changed_since_the_run_began_is_refused(tmp_path: Path, files: dict[str, Any]) -> None:
    path = written(tmp_path / "words.txt", "Air Max\n")
    stopped(new_run(tmp_path / "run", files, f"pages.dictionary={path}"), step(3))
    assert Run.open(tmp_path / "run").recipe.pages.dictionary == str(path)
    written(path, "with\nfor\nthe\n")
    with pytest.raises(InputError, match="has changed") as caught:
        Run.open(tmp_path / "run")
    assert str(path) in str(caught.value)


def test_a_run_can_be_resumed_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, Any]
) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir()
    far.mkdir()
    written(near / "words.txt", "Air Max\n")
    shutil.copy(files["train"][0], near / "train.jsonl")
    shutil.copy(files["dev"][0], near / "dev.jsonl")
    monkeypatch.chdir(near)
    relative = {part: (Path(f"{part}.jsonl"),) for part in ("train", "dev")}
    stopped(new_run(Path("run"), relative, "pages.dictionary=words.txt", "training.epochs=1"), step(3))
    monkeypatch.chdir(far)
    assert resumed(Path("../near/run")).run.learner.epochs == 1


# Refused


def test_a_new_run_into_a_folder_with_something_in_it_is_refused(
    tmp_path: Path, files: dict[str, Any], done: FinishedRun
) -> None:
    with pytest.raises(InputError, match="is there already") as caught:
        new_run(done.folder, files)
    assert f"batag train --resume {done.folder}" in str(caught.value)
    other = tmp_path / "other"
    other.mkdir()
    written(other / "mine.txt", "do not touch")
    with pytest.raises(InputError, match="is there already") as caught:
        new_run(other, files)
    assert "--resume" not in str(caught.value)
    assert "new folder" in str(caught.value)
    with pytest.raises(InputError, match="is there already"):
        new_run(other / "mine.txt", files)
    assert [(path.name, path.read_text()) for path in other.iterdir()] == [("mine.txt", "do not touch")]


def test_a_new_run_into_an_empty_folder_is_welcome(tmp_path: Path, files: dict[str, Any]) -> None:
    (tmp_path / "run").mkdir()
    assert new_run(tmp_path / "run", files).folder == tmp_path / "run"


def test_a_new_run_whose_pages_are_missing_leaves_no_folder(tmp_path: Path, files: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"nothing\.jsonl: cannot be opened"):
        new_run(tmp_path / "run", files | {"dev": (tmp_path / "nothing.jsonl",)})
    with pytest.raises(UsageError, match="no pages to train on"):
        Run.create(tmp_path / "run", read_recipe(None), DataFiles(()))
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_made_says_why(tmp_path: Path, files: dict[str, Any]) -> None:
    written(tmp_path / "file", "")
    with pytest.raises(InputError, match="Not a directory") as caught:
        new_run(tmp_path / "file" / "run", files)
    assert str(tmp_path / "file" / "run") in str(caught.value)


@pytest.mark.parametrize("name", ["recipe.toml", "data.json"])
def test_a_folder_without_recipe_or_data_is_not_a_run(tmp_path: Path, done: FinishedRun, name: str) -> None:
    for folder in (tmp_path / "gone", tmp_path):
        with pytest.raises(InputError, match="is not the folder of a run") as caught:
            Run.open(folder)
        assert str(folder) in str(caught.value)
    copy = Path(shutil.copytree(done.folder, tmp_path / "copy"))
    (copy / name).unlink()
    with pytest.raises(InputError, match="is not the folder of a run"):
        Run.open(copy)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"train": 3, "dev": [], "reading": {}}', "\udcff", '{"train": [{}]}', "[" * 100_000],
    ids=lambda content: repr(content)[:20],
)
def test_a_damaged_record_of_the_pages_is_one_clear_error(tmp_path: Path, done: FinishedRun, content: str) -> None:
    copy = Path(shutil.copytree(done.folder, tmp_path / "copy"))
    written(copy / "data.json", content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match="damaged") as caught:
        Run.open(copy)
    assert str(copy / "data.json") in str(caught.value)


@pytest.mark.parametrize("place", [0, -2])
@pytest.mark.parametrize(
    "line",
    [b"{", b"5", b"[]", b"{}", b'{"kind": "stop"}', b'{"kind": "step", "step": "x", "epoch": 1}', b"[" * 100_000],
    ids=repr,
)
def test_a_damaged_line_of_the_metrics_ends_them_and_stops_nobody(
    tmp_path: Path, done: FinishedRun, line: bytes, place: int
) -> None:
    lines = (done.folder / "metrics.jsonl").read_bytes().split(b"\n")
    lines[place] = line
    (tmp_path / "metrics.jsonl").write_bytes(b"\n".join(lines))
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.go_back(step=10**6, epochs=10**6)
    assert len(metrics.lines()) == (0 if place == 0 else len(lines) - 2)


def test_a_line_of_the_metrics_that_lacks_a_number_is_left_out_of_the_curves(tmp_path: Path, done: FinishedRun) -> None:
    whole = Metrics(done.folder / "metrics.jsonl").lines()
    for key in ("loss", "rate", "selected", "macro_f1", "tag_f2", "true", "predicted"):
        spoilt = [{name: value for name, value in line.items() if name != key} for line in whole]
        draw_curves([*spoilt, *whole], tmp_path / "curves.png", title="damaged")
        assert (tmp_path / "curves.png").stat().st_size > 0


def test_a_damaged_checkpoint_is_one_clear_error(tmp_path: Path, done: FinishedRun) -> None:
    copy = Path(shutil.copytree(done.folder, tmp_path / "copy"))
    data = (copy / "last.safetensors").read_bytes()
    (copy / "last.safetensors").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is damaged") as caught:
        resumed(copy)
    assert str(copy / "last.safetensors") in str(caught.value)


def test_two_trainings_in_one_folder_at_once_are_refused(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    folder = tmp_path / "run"
    first = new_run(folder, files, SHORT)
    first = first.prepare(device="cpu")
    steps = first.train()
    for _ in range(4):
        next(steps)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match="another training is running") as caught:
        resumed(folder)
    assert str(folder) in str(caught.value)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    # The first is not disturbed, and when it is gone the folder is free.
    for _ in steps:
        pass
    assert differing(outcome(folder), outcome(done.folder)) == []
    assert resumed(folder).run.learner.epochs == 2


def test_a_second_training_that_is_refused_changes_nothing_of_the_first(tmp_path: Path, files: dict[str, Any]) -> None:
    folder = tmp_path / "run"
    first = new_run(folder, files, SHORT)
    first = first.prepare(device="cpu")
    steps = first.train()
    next(steps)
    before = (folder / "recipe.toml").read_bytes()
    with pytest.raises(InputError, match="another training is running"):
        resumed(folder, "training.epochs=7")
    assert (folder / "recipe.toml").read_bytes() == before
    steps.close()


def test_a_training_that_was_never_begun_can_be_typed_again(tmp_path: Path, files: dict[str, Any]) -> None:
    run = new_run(tmp_path / "run", files | {"dev": (written(tmp_path / "empty.jsonl", ""),)})
    with pytest.raises(InputError):
        train_watched(run, device="cpu")
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match="device"):
        train_watched(new_run(tmp_path / "run", files), device="gpu")
    assert not (tmp_path / "run").exists()


def test_a_resumed_run_that_cannot_go_on_is_not_taken_away(tmp_path: Path, files: dict[str, Any]) -> None:
    # Killed before its first checkpoint; then somebody names a device that there is not.
    new_run(tmp_path / "run", files, "training.epochs=1")
    with pytest.raises(UsageError, match="device"):
        train_watched(Run.open(tmp_path / "run"), device="gpu")
    assert resumed(tmp_path / "run").run.learner.epochs == 1


# The best epoch


def test_the_best_epoch_has_the_highest_score_and_is_the_earliest_of_equals() -> None:
    chosen = Selection("macro_f2")
    scores = [0.0, 0.5, 0.5, 0.4, 0.7, 0.7, 0.1]
    chosen_epochs = [chosen.better(epoch, {"macro_f2": score, "macro_f1": epoch}) for epoch, score in enumerate(scores, 1)]
    assert chosen_epochs == [True, True, False, False, True, False, False]
    assert chosen.to_dict() == {"best_epoch": 5, "best_value": 0.7}


@pytest.mark.parametrize(
    ("metric", "best"),
    [
        ("tag_f2", 2),
        ("tag_f1", 3),
        *mostly_long(
            [("macro_f2", 2), ("macro_f1", 4), ("macro_f1_without_none", 3), ("macro_f2_without_none", 1)], "macro_f1"
        ),
    ],
)
@pytest.mark.parametrize("left", mostly_long([None, 2], 2))
def test_the_weights_of_the_epoch_that_dev_likes_best_are_shipped(
    tmp_path: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch, metric: str, best: int, left: int | None
) -> None:
    dev_scores = {
        "tag_f2": [0.4, 0.6, 0.5, 0.6],
        "tag_f1": [0.1, 0.2, 0.4, 0.3],
        "macro_f2": [0.1, 0.5, 0.5, 0.3],
        "macro_f1": [0.1, 0.2, 0.3, 0.4],
        "macro_f1_without_none": [0.0, 0.2, 0.9, 0.9],
        "macro_f2_without_none": [0.9, 0.1, 0.2, 0.3],
    }

    class Fixed(DevScores):
        """Scores of which only the number of the epoch is stored."""

        def summary(self) -> dict[str, float]:
            return {name: values[int(self.tag_f1)] for name, values in dev_scores.items()}

    def score(learner: Any, dev: Any, scheme: Scheme, **_: Any) -> DevScores:
        return Fixed(TokenScores(scheme), learner.epochs, learner.epochs)

    monkeypatch.setattr(loop, "score", score)
    begun = new_run(tmp_path / "run", files, "training.epochs=4", f"training.selection={metric}", "training.batch=12")
    shipped: dict[int, dict[str, Tensor]] = {}
    for _ in range(1 if left is None else 2):
        run = begun.prepare(device="cpu")
        steps = run.train()
        for event in steps:
            if isinstance(event, EpochDone):
                shipped[event.epoch] = {name: value.detach().clone() for name, value in run.learner.weights().items()}
                if event.epoch == left:
                    steps.close()
                    begun = Run.open(tmp_path / "run")
                    break
    found, metadata = load_weights_file(tmp_path / "run" / "best.safetensors")
    assert metadata["epoch"] == best
    assert all(torch.equal(found[name], value) for name, value in shipped[best].items())
    weights = batag.load(tmp_path / "run", device="cpu").bundle.weights
    assert all(torch.equal(weights[name], value) for name, value in shipped[best].items() if name != MIXING_WEIGHT)
    assert any(not torch.equal(weights[name], value) for name, value in shipped[1 + best % 4].items())
    assert json.loads((tmp_path / "run/bundle/bundle.json").read_bytes())["metrics"]["dev"]["epoch"] == best


# What is shipped


def test_the_bundle_tags_as_the_run_does(done: FinishedRun, files: dict[str, Any]) -> None:
    tagger = batag.load(done.folder, device="cpu")
    weights, metadata = load_weights_file(done.folder / "best.safetensors")
    model = done.run.learner.model
    mixed = tagger.bundle.weights[MIXING_WEIGHT]  # chosen when all epochs are over
    expected = loop.probabilities_with(model, weights | {MIXING_WEIGHT: mixed}, done.data.dev)
    pages = read_all(files["dev"][0])
    for page, example, rows, prediction in zip(pages, done.data.dev, expected, tagger.predict(pages), strict=True):
        assert example.page == page.id
        # Without the marks that announce fields.
        kept = [place for place, word in enumerate(example.words) if word != "<description>"]
        np.testing.assert_allclose(np.concatenate(prediction.probabilities), rows[kept], atol=1e-5)
    description = tagger.bundle.description
    assert tagger.labels == done.data.scheme.classes
    assert description.recipe == done.run.recipe.model_dump()
    assert metadata["epoch"] == done.scores["epoch"]


@pytest.mark.parametrize(("scheme", "window"), mostly_long([("flat", 256), ("bio", 256), ("flat", 24)], ("bio", 256)))
def test_the_scores_of_the_run_are_those_of_its_bundle_on_dev(
    tmp_path: Path, files: dict[str, Any], scheme: str, window: int
) -> None:
    # Dev is train, so that it tags something soon; with windows of 24 tokens every page is read in several.
    same = {"train": files["train"], "dev": files["train"]}
    fast = ("training.average=0", "input.dropout=0", "encoder.dropout=0", "input.word_dropout=0", "schedule.warmup=20")
    size = (
        f"pages.scheme={scheme}",
        f"training.window={window}",
        "training.overlap=12",
        f"training.epochs={12 if scheme == 'flat' else 25}",
    )
    run = finished(new_run(tmp_path / "run", same, *fast, *size, "training.checkpoint_steps=100"))
    tagger, pages = batag.load(run.folder, device="cpu"), read_all(files["train"][0])
    for name in ("clean", "balanced", "rich"):
        point = run.scores["points"][name]
        scores = assess(tagger, pages, richness=name).report()
        assert {key: scores["tokens"][key] for key in ("macro_f1", "macro_f2")} == {
            key: point[key] for key in ("macro_f1", "macro_f2")
        }
        for key in ("f1", "f2"):
            assert point[f"tag_{key}"] == pytest.approx(scores["tags"]["micro"][key])
    report = assess(tagger, pages).report()
    assert report["tags"]["micro"]["found"] > 10
    for key in ("pages", "pages_all_right", "stop_words", "tokens", "tags"):
        assert run.scores[key] == report[key], key


# A loss that is not finite


class Spoilt(nn.Module):
    """An objective that is not a number (or whose gradient is none) from one call on."""

    def __init__(self, inner: nn.Module, *, call: int, what: str) -> None:
        super().__init__()
        self.inner, self.call, self.what, self.calls = inner, call, what, 0

    def forward(self, logits: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        self.calls += 1
        if self.calls >= self.call and self.what == "gradient":
            logits.register_hook(lambda gradient: gradient * torch.nan)
        loss: Tensor = self.inner(logits, targets, weights)
        return loss * float(self.what) if self.calls >= self.call and self.what != "gradient" else loss


def bits_of(model: nn.Module) -> dict[str, bytes]:
    return {name: value.detach().numpy().tobytes() for name, value in model.named_parameters()}


@pytest.mark.parametrize(
    ("what", "settings"),
    mostly_long(
        [("nan", ()), ("inf", ()), ("gradient", ("training.clip=1",)), ("gradient", ())], ("nan", ()), ("gradient", ())
    ),
    ids=["nan", "inf", "gradient, clipped", "gradient"],
)
def test_a_loss_that_is_not_finite_keeps_the_weights_and_the_batch_and_can_be_gone_on_from(
    tmp_path: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch, what: str, settings: tuple[str, ...]
) -> None:
    folder = tmp_path / "run"
    # Adversarial training would ask for a loss twice a step, and pages are learnt without the objective.
    settings = (*settings, "training.adversarial_epsilon=0", "objective.level=token")
    run = new_run(folder, files, SHORT, *settings)
    run = run.prepare(device="cpu")
    model = run.learner.model
    at: dict[int, dict[str, bytes]] = {}
    # Step 9 would be a checkpoint.
    with monkeypatch.context() as bad:
        bad.setattr(
            run_module,
            "build_objective",
            lambda *arguments, **named: Spoilt(build_objective(*arguments, **named), call=9, what=what),
        )
        with pytest.raises(InputError) as caught:
            at.update((event.step, bits_of(model)) for event in run.train())
    message = str(caught.value)
    assert "of step 9 is" in message
    assert str(folder / "bad-batch.json") in message
    assert "schedule.scale" in message
    assert "\n" not in message
    assert bits_of(model) == at[8]

    tensors, metadata = load_weights_file(folder / "last.safetensors")
    assert {name: tensors[f"model.{name}"].numpy().tobytes() for name in at[8]} == at[metadata["step"]]
    assert all(torch.isfinite(value).all() for value in tensors.values())

    kept = json.loads((folder / "bad-batch.json").read_text(encoding="utf-8"))
    lengths = [len(example.words) for example in run.data.train]
    batch = [run.data.train[each] for each in epoch_batches(lengths, batch=4, seed=0, epoch=2)[2]]
    assert kept["step"] == 9
    assert kept["pages"] == [{"page": each.page, "words": each.words, "labels": each.labels} for each in batch]

    resumed(folder)
    finished(new_run(tmp_path / "other", files, SHORT, *settings))
    assert differing(outcome(folder), outcome(tmp_path / "other")) == []


@pytest.mark.usefixtures("with_picture")
def test_the_curves_are_drawn_for_a_run_with_odd_names(tmp_path: Path) -> None:
    # Dollars and underscores would be mathematics to the one who draws.
    pages = [
        Page(str(number), {"title": "a red b"}, language="en", tags=(Tag("title", 2, 5, "$x_商品$", "red"),))
        for number in range(8)
    ]
    for name in ("train", "dev"):
        write_pages(pages, tmp_path / f"{name}.jsonl")
    files = {name: (tmp_path / f"{name}.jsonl",) for name in ("train", "dev")}
    finished(new_run(tmp_path / "$a_b$ run", files, "training.epochs=1"))
    assert (tmp_path / "$a_b$ run" / "curves.png").stat().st_size > 10_000
