"""Learn from the labels: a training from the base bundle with made-up pages mixed in, fitted to the time that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from batag.labels.provenance import MADE_UP
from batag.pages.formats import write_pages
from batag.pages.problems import Problems
from batag.sample import LANGUAGES, sample_pages
from batag.start.folder import read_json, write_json
from batag.start.learning.budget import Budget, epochs_for
from batag.training.base_bundle import recipe_of
from batag.training.data import BUNDLE, RECIPE, DataFiles, OldPages
from batag.training.loop import EpochDone, StepDone
from batag.training.prepared import PreparedRun
from batag.training.recipe import read_recipe
from batag.training.run import Run, nested
from batag.training.window_crf import ROUNDS

FEWEST_EPOCHS, MOST_EPOCHS = 2, 12
PAGES_A_MINUTE = 500
"""So many pages are learnt from for each minute of the budget."""
_OLD_DEV = 240
SETTINGS: Mapping[str, Any] = {
    "sources.column": 1.0,
    "sources.terms": 0.7,
    "sources.model": 0.5,
    "training.replay": 0.5,
    "training.checkpoint_steps": 50,
}
"""How the recipe of the base bundle is changed."""
Reading = Callable[..., Any]
"""Yields the items that it is given, and shows how far it is; `doing`, `total`, `unit` and `every` say what and how often."""
Watch = Callable[[StepDone | EpochDone, int, int, str], None]
"""Called after every step and epoch, with the steps of an epoch, the number of epochs (0 while it is not known), and the pages
that scores are measured on, in words."""


def silently(items: Iterable[Any], **how: Any) -> Iterable[Any]:
    """The items, without showing anything."""
    return items


@dataclass(frozen=True)
class Learnt:
    """What a training did: epochs, seconds an epoch, pages, and scores on made-up pages (or people's, if there are enough)."""

    epochs: int
    epoch_seconds: float
    pages: int
    measured_by: str
    scores: Mapping[str, Any]


def made_up(folder: Path, languages: Sequence[str], *, pages: int, split: str) -> Path:
    """Write made-up pages with labels in these languages (all, if the sample has none of them), if they are not there yet."""
    path = folder / f"sample-{split}.jsonl"
    if not path.is_file():
        own = [language for language in languages if language in LANGUAGES] or list(LANGUAGES)
        each = -(-pages // len(own))
        pages_of = (page for name in own for page in sample_pages(name, pages=each, split=split))
        write_pages((replace(page, extra={**page.extra, MADE_UP: True}) for page in pages_of), path)
    return path


def made_up_dev(folder: Path) -> Path:
    """The made-up pages on which a training in this folder was measured."""
    return folder / "sample-dev.jsonl"


def train(
    folder: Path,
    *,
    base: Path,
    labels: Sequence[Path],
    languages: Sequence[str],
    pages: int,
    budget: Budget,
    share: float = 1.0,
    settings: Mapping[str, Any] | None = None,
    most_epochs: int = MOST_EPOCHS,
    watch: Watch = lambda done, steps, epochs, measured: None,
    reading: Reading = silently,
) -> Learnt:
    """Train a run in a folder, or go on with it; the first epoch tells how many fit into the time."""
    folder.mkdir(parents=True, exist_ok=True)
    run_folder, state = folder / "run", folder / "state.json"
    if (done := read_json(state)).get("learnt"):
        return Learnt(**done["learnt"])
    run = _run(run_folder, base=base, labels=labels, languages=languages, pages=pages, settings=settings or {}, folder=folder)
    labelled = partial(reading, doing="reading labels")
    fitting = partial(reading, doing="fitting the window CRF", total=ROUNDS, unit="rounds", every=1)
    prepared = run.prepare(device="cpu", problems=Problems(), watch=labelled, fitting=fitting)
    epochs = int(done.get("epochs", 0))
    if not epochs:
        seconds = _measured(prepared, watch)
        left = budget.left(share=share)
        epochs = 1 + epochs_for(left, of_epoch=seconds, fewest=FEWEST_EPOCHS - 1, most=most_epochs - 1)
        done = {"epochs": epochs, "seconds": seconds}
        write_json(state, done)
    prepared.recipe = _with_epochs(prepared, epochs)
    finished = None
    steps = prepared.train()
    with closing(steps):
        while finished is None:
            try:
                watch(next(steps), prepared.steps_per_epoch, epochs, _measured_on(prepared))
            except StopIteration as end:
                finished = end.value
    learnt = Learnt(epochs, float(done.get("seconds", 0.0)), pages, finished.scores["measured_by"], _short(finished.scores))
    write_json(state, done | {"learnt": learnt.__dict__})
    return learnt


def _run(
    run_folder: Path,
    *,
    base: Path,
    labels: Sequence[Path],
    languages: Sequence[str],
    pages: int,
    settings: Mapping[str, Any],
    folder: Path,
) -> Run:
    """The run in a folder: the one that is there, or a new one."""
    if (run_folder / RECIPE).is_file():
        return Run.open(run_folder)
    recipe = read_recipe(None, changes=nested({**SETTINGS, "training.epochs": 1, **settings}), base=recipe_of(base))
    files = DataFiles(tuple(labels)).going_on_from(base, replay=False)
    replay = max(round(pages * recipe.training.replay), 1)
    old = made_up(folder, languages, pages=replay, split="train") if recipe.training.replay else None
    dev = made_up(folder, languages, pages=_OLD_DEV, split="dev")
    reading: dict[str, Any] = {}
    files = replace(files, replay=() if old is None else (OldPages(old, reading),), old_dev=(OldPages(dev, reading),))
    return Run.create(run_folder, recipe, files)


def _measured(prepared: PreparedRun, watch: Watch) -> float:
    """Train the first epoch, and return the seconds that it took (those of all steps, if it was interrupted)."""
    began, step = monotonic(), prepared.learner.step
    if prepared.learner.epochs:  # it was interrupted just then
        spent = [line["seconds"] for line in prepared.metrics.lines() if isinstance(line.get("seconds"), (int, float))]
        return float(spent[0]) if spent else 60.0
    with closing(prepared.train()) as steps:
        for done in steps:
            watch(done, prepared.steps_per_epoch, 0, _measured_on(prepared))
            if isinstance(done, EpochDone):
                break
    steps_done = max(prepared.learner.step - step, 1)
    return (monotonic() - began) / steps_done * prepared.steps_per_epoch


def _measured_on(prepared: PreparedRun) -> str:
    """The pages that scores are measured on: made-up ones, or those of people that were held back."""
    number, by = len(prepared.data.judge.pages), prepared.data.statistics["measured_by"]
    return f"{number:,} {'made-up' if by == MADE_UP else 'labelled'} page{'' if number == 1 else 's'}"


def _with_epochs(prepared: PreparedRun, epochs: int) -> Any:
    recipe = prepared.recipe
    return recipe.model_copy(update={"training": recipe.training.model_copy(update={"epochs": epochs})})


def _short(scores: Mapping[str, Any]) -> dict[str, Any]:
    """The scores of tags by label."""
    tags = scores["tags"]
    return {name: {key: row[key] for key in ("precision", "recall", "f1")} for name, row in tags["classes"].items()} | {
        "micro": {key: tags["micro"][key] for key in ("precision", "recall", "f1")}
    }


def bundle_of(folder: Path) -> Path:
    """The bundle of a finished training."""
    return folder / "run" / BUNDLE
