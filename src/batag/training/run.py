"""A run: the folder of one training. It can be left at any moment and resumed as if nothing had happened."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import torch

from batag.encoders.device import choose_device
from batag.engines.export import add_onnx
from batag.errors import BatagError, InputError, UsageError
from batag.evaluation.charts import draw_curves, draw_dial
from batag.heads.torch_heads import MIXING_WEIGHT
from batag.objectives import build_objective
from batag.pages.file import locked, open_output
from batag.pages.page import without_surrogates
from batag.pages.problems import Problems
from batag.training.base_bundle import load_base
from batag.training.checkpoint import load_checkpoint, load_weights_file, save_checkpoint, save_weights
from batag.training.data import BUNDLE, DATA, RECIPE, Data, DataFiles, read_data
from batag.training.dial import DialOfDev, measure_dial
from batag.training.folder import BAD_BATCH, BEST, CURVES, DIAL, LAST, METRICS, check_new, check_whole, tidy
from batag.training.fresh import fresh_classifier
from batag.training.guard import disk_errors, repeatable
from batag.training.loop import BadLossError, EpochDone, Learner, StepDone, build_learner, train_steps
from batag.training.metrics import Metrics
from batag.training.pretrained import choose_pretrained, pretrained_files
from batag.training.recipe import Recipe, read_recipe
from batag.training.selection import Selection
from batag.training.shipping import ship
from batag.training.window_crf import choose_mixing_weight, fit_window_crf

_MAY_CHANGE = {"training.epochs", "training.checkpoint_steps", "training.threads", "dial.clean", "dial.balanced", "dial.rich"}


class DivergedError(InputError):
    """A loss or gradient that is not finite ended the run."""


class Run:
    """One training: `train` yields its facts and keeps the folder up to date."""

    def __init__(self, folder: Path, recipe: Recipe, files: DataFiles) -> None:
        self.folder, self.recipe, self.files = folder, recipe, files
        self.new = False
        self.device = torch.device("cpu")
        self.selection = Selection(recipe.training.selection)
        self.metrics = Metrics(folder / METRICS)
        self.data: Data | None = None
        self.learner: Learner | None = None
        self.scores: dict[str, Any] = {}
        self.dial: DialOfDev | None = None
        self.fitting = 0.0, 0.0
        self.mixing_weight: float | None = None
        self.not_exported = ""

    @classmethod
    def create(cls, folder: Path, recipe: Recipe, files: DataFiles) -> Self:
        """A new run in a new (or empty) folder."""
        check_new(folder)
        if not files.train:
            raise UsageError("no pages to train on", todo="Name a file of labelled pages")
        if recipe.pages.dictionary:
            files = replace(files, dictionary=(Path(recipe.pages.dictionary),))
        files = replace(files, pretrained=pretrained_files(recipe))
        facts = files.facts()
        run = cls(folder, recipe, files)
        run.new = True
        try:
            with disk_errors(folder, what="the run cannot be begun", todo="Make room, or name another folder with --out"):
                folder.mkdir(parents=True, exist_ok=True)
                _write(folder / DATA, json.dumps(facts, indent=2))  # in ASCII: names of files need not be text
                _write(folder / RECIPE, recipe.text())  # last: with it the folder is that of a run
        except InputError:
            run.abandon()
            raise
        return run

    @classmethod
    def open(cls, folder: Path, *, settings: Sequence[str] | None = None) -> Self:
        """A run that began before; of its recipe only how long it takes, and what the dial is chosen for, may change."""
        if not (folder / RECIPE).is_file() or not (folder / DATA).is_file():
            raise InputError("is not the folder of a run", where=str(folder), todo="Name the folder that training wrote")
        for setting in settings or []:
            if setting.partition("=")[0].strip() not in _MAY_CHANGE:
                todo = f"With --resume only {', '.join(sorted(_MAY_CHANGE))} may change"
                raise UsageError(f"--set {setting} would make it another run", todo=todo)
        recipe = read_recipe(folder / RECIPE, settings=settings or [])
        try:
            facts = json.loads((folder / DATA).read_bytes())
            files = DataFiles.of_facts(facts)
        except BatagError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"is damaged ({error})", where=str(folder / DATA), todo="Train anew") from error
        check_whole(folder)
        return cls(folder, recipe, files)

    @property
    def steps_an_epoch(self) -> int:
        assert self.data is not None
        return -(-len(self.data.train) // self.recipe.training.batch)

    @property
    def epochs(self) -> int:
        return self.recipe.training.epochs_of(self.steps_an_epoch)

    def prepare(
        self, *, device: str = "auto", problems: Problems | None = None, watch: Any = iter, fitting: Any = iter
    ) -> None:
        """Read the pages, build the model, and go to where the run was left; a new run that cannot begin leaves nothing."""
        try:
            # Whatever is wrong with the device is said before a long reading.
            self.device = choose_device(device)
            self._build(problems=Problems() if problems is None else problems, watch=watch)
            if not (self.folder / LAST).exists():
                self._fit(fitting)
        except BaseException:
            self.abandon()
            raise
        assert self.learner is not None
        if (self.folder / LAST).exists():
            facts = load_checkpoint(self.folder / LAST, self.learner)
            self.selection.epoch, self.selection.value = facts.get("best_epoch", 0), facts.get("best_value", -1.0)
            if self.learner.epochs > self.epochs:
                done = f"{self.learner.epochs} epochs are done already"
                raise UsageError(f"training.epochs={self.epochs}: {done}", todo="Ask for more, or leave it out")

    def _build(self, *, problems: Problems, watch: Any) -> None:
        """The pages, and a learner at its start."""
        self.data = read_data(self.files, self.recipe, problems=problems, watch=watch)
        pretrained = choose_pretrained(self.recipe, self.files, self.data)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.recipe.training.seed)
            model = fresh_classifier(self.recipe, self.data.vocabulary, self.data.scheme, pretrained=pretrained)
            if self.data.base is not None:
                load_base(model, self.data.base, vocabulary=self.data.vocabulary, labels=self.data.scheme.labels)
        self.learner = build_learner(model, average=self.recipe.training.average, device=self.device)
        self.learner.fresh = self.data.base is None

    def _fit(self, watch: Any) -> None:
        """What is learnt at one stroke, before the first step."""
        assert self.data is not None
        assert self.learner is not None
        began = time.monotonic(), time.process_time()
        with repeatable(self.recipe.training.threads, strict=self.device.type == "cpu"):
            fit_window_crf(self.learner.model, self.data.train, watch=watch)
        self.fitting = time.monotonic() - began[0], time.process_time() - began[1]

    def train(self) -> Iterator[StepDone | EpochDone]:
        """Train to the end, keeping checkpoints and metrics; then write the bundle and the curves."""
        assert self.data is not None, "prepare first"
        assert self.learner is not None
        chosen = self.recipe.objective
        objective = build_objective(chosen.name, self.data.counts, weights=chosen.weights)
        judge, old = self.data.judge, self.data.old_dev
        steps = train_steps(
            self.learner,
            objective,
            self.data.train,
            judge.examples,
            recipe=self.recipe,
            scheme=self.data.scheme,
            old=old.examples if judge is not old else (),
        )
        threads, strict = self.recipe.training.threads, self.device.type == "cpu"
        alone = locked(self.folder, ".lock", busy="another training is at work in it", todo="Wait for it or stop it")
        with self._disk_errors(), alone, repeatable(threads, strict=strict):
            tidy(self.folder)
            self._write_recipe()
            self.metrics.go_back(step=self.learner.step, epochs=self.learner.epochs)
            if self.learner.model.window_crf is not None and not self.learner.step:
                self.save()  # what was fitted is not fitted again
            began, busy = time.monotonic() - self.fitting[0], time.process_time() - self.fitting[1]
            while True:
                try:
                    done = next(steps, None)
                except BadLossError as error:
                    raise self._bad_loss(error) from error
                if done is None:
                    break
                if isinstance(done, EpochDone):
                    self._epoch(done, seconds=time.monotonic() - began, busy=time.process_time() - busy)
                else:
                    self.metrics.add_step(done)
                    if done.step % self.recipe.training.checkpoint_steps == 0:
                        self.save()
                yield done
            self._finish()

    def _write_recipe(self) -> None:
        """As it is now: a resumed run may be longer than it began."""
        _write(self.folder / RECIPE, self.recipe.text())

    def _disk_errors(self) -> AbstractContextManager[None]:
        todo = f"Make room, then go on with: batag train --resume {self.folder}"
        return disk_errors(self.folder, what="the run cannot be written", todo=todo)

    def abandon(self) -> None:
        """Take back a run that has not learnt anything yet."""
        if self.new:
            with suppress(OSError):
                for name in (RECIPE, DATA):
                    (self.folder / name).unlink(missing_ok=True)
                self.folder.rmdir()

    def save(self) -> None:
        """A checkpoint of where the run is now, and the metrics up to it."""
        assert self.learner is not None
        with self._disk_errors():
            self.metrics.flush()
        save_checkpoint(self.folder / LAST, self.learner, self.selection.facts())

    def _epoch(self, done: EpochDone, *, seconds: float, busy: float) -> None:
        assert self.learner is not None
        assert self.data is not None
        by = self.data.facts["measured_by"]
        self.metrics.add_epoch(done, selected=self.selection.metric, measured_by=by, seconds=seconds, busy=busy)
        if self.selection.better(done.epoch, done.scores.summary()):
            facts = {"epoch": done.epoch, "step": done.step, "dev": done.scores.report()}
            save_weights(self.folder / BEST, self.learner.weights(), facts)
        self.save()

    def _bad_loss(self, error: BadLossError) -> DivergedError:
        batch = [{"page": each.page, "words": each.words, "labels": each.labels} for each in error.examples]
        _write(
            self.folder / BAD_BATCH,
            json.dumps({"step": error.step, "loss": str(error.loss), "pages": batch}, ensure_ascii=False, indent=1),
        )
        self.metrics.flush()
        # No checkpoint: if the weights went wrong earlier, the last good one must stay.
        todo = f"Its pages are in {self.folder / BAD_BATCH}; train anew with a smaller schedule.scale, or training.clip=1"
        return DivergedError(f"{error.what}; no weight was touched by it", where=str(self.folder), todo=todo)

    def _finish(self) -> None:
        """The best weights as a bundle, with their scores on dev; the curves."""
        assert self.data is not None
        assert self.learner is not None
        weights, facts = load_weights_file(self.folder / BEST)
        tuned = self.data.dev if self.data.tuned_by_both else self.data.judge.examples
        weights = choose_mixing_weight(self.learner.model, weights, tuned)
        self.mixing_weight = weights[MIXING_WEIGHT].item() if self.learner.model.window_crf is not None else None
        name = without_surrogates(self.folder.resolve().name)
        before = self.data.base.description if self.data.base is not None else None
        dial = measure_dial(self.learner.model, weights, self.data, recipe=self.recipe, before=before)
        measured = {"epoch": facts["epoch"], "measured_by": self.data.facts["measured_by"]}
        self.scores, self.dial = measured | dict(dial.scores), dial
        ship(
            self.folder / BUNDLE,
            name=name,
            recipe=self.recipe,
            data=self.data,
            weights=weights,
            scores=self.scores,
            dial=dial,
            pretrained=self.learner.model.featurizer.pretrained,
        )
        if self.recipe.training.export:
            self.not_exported = add_onnx(self.folder / BUNDLE, [(each.words, each.labels) for each in self.data.dev])
        draw_dial(dial.sweep, self.folder / DIAL, title=f"{name} on dev")
        title = f"{name}: {self.recipe.encoder.name}, {self.recipe.objective.name}"
        draw_curves(self.metrics.lines(), self.folder / CURVES, title=title)


def _write(path: Path, text: str) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        what = "cannot hold the name of a file that is not UTF-8"
        raise InputError(what, where=str(path), todo="Give the files that the recipe names other names") from error
    with open_output(path) as stream:
        stream.write(data)
