"""A run with its pages and its model; when training is finished, it becomes a finished run with a bundle."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from batag.engines.export import add_onnx
from batag.errors import UsageError
from batag.evaluation.charts import draw_curves, draw_dial
from batag.heads.torch_heads import MIXING_WEIGHT
from batag.objectives import build_objective
from batag.pages.file import locked
from batag.pages.page import without_surrogates
from batag.training.checkpoint import disk_errors, load_checkpoint, load_weights_file, save_checkpoint, save_weights
from batag.training.data import BUNDLE, RECIPE, Data
from batag.training.dial import DialOfDev, measure_dial
from batag.training.folder import BAD_BATCH, BEST, CURVES, DIAL, LAST, METRICS, tidy, write_text
from batag.training.loop import BadLossError, DivergedError, EpochDone, Learner, StepDone, repeatable, train_steps
from batag.training.metrics import Metrics, Selection
from batag.training.recipe import Recipe
from batag.training.shipping import ship
from batag.training.window_crf import choose_mixing_weight


@dataclass(frozen=True)
class FinishedRun:
    """The result of a training: dev scores, the dial, the window CRF's mixing weight (None without one), and the reason why the
    bundle has no ONNX engine (empty if it has one, or none was asked for)."""

    run: PreparedRun
    scores: dict[str, Any]
    dial: DialOfDev
    mixing_weight: float | None
    not_exported: str

    @property
    def folder(self) -> Path:
        return self.run.folder

    @property
    def data(self) -> Data:
        return self.run.data


class PreparedRun:
    """A run that is ready for training: `train` yields every step and epoch, keeps the folder up to date, and returns the
    finished run."""

    def __init__(
        self,
        folder: Path,
        recipe: Recipe,
        *,
        data: Data,
        learner: Learner,
        device: torch.device,
        fitting: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """`fitting` is the time spent before the first step, in seconds and in seconds of processor time."""
        self.folder, self.recipe, self.data, self.learner, self.device = folder, recipe, data, learner, device
        self.selection = Selection(recipe.training.selection)
        self.metrics = Metrics(folder / METRICS)
        self._fitting = fitting

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.data.train) // self.recipe.training.batch)

    @property
    def epochs(self) -> int:
        return self.recipe.training.epochs_of(self.steps_per_epoch)

    def go_on(self) -> None:
        """Restore the last checkpoint, if there is one."""
        saved = load_checkpoint(self.folder / LAST, self.learner)
        self.selection.epoch, self.selection.value = saved.get("best_epoch", 0), saved.get("best_value", -1.0)
        if self.learner.epochs > self.epochs:
            done = f"{self.learner.epochs} epochs are done already"
            raise UsageError(f"training.epochs={self.epochs}: {done}", todo="Ask for more, or leave it out")

    def finish(self) -> FinishedRun:
        """Train to the end."""
        steps = self.train()
        while True:
            try:
                next(steps)
            except StopIteration as end:
                finished: FinishedRun = end.value
                return finished

    def train(self) -> Generator[StepDone | EpochDone, None, FinishedRun]:
        """Train to the end with checkpoints and metrics; then write the bundle and the charts."""
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
        alone = locked(self.folder, ".lock", busy="another training is running in it", todo="Wait for it or stop it")
        with self._disk_errors(), alone, repeatable(threads, strict=strict):
            tidy(self.folder)
            write_text(self.folder / RECIPE, self.recipe.text())  # a resumed run may be longer than it began
            self.metrics.go_back(step=self.learner.step, epochs=self.learner.epochs)
            if self.learner.model.window_crf is not None and not self.learner.step:
                self.save()  # what was fitted is not fitted again
            began, busy = time.monotonic() - self._fitting[0], time.process_time() - self._fitting[1]
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
            return self._finish()

    def _disk_errors(self) -> AbstractContextManager[None]:
        todo = f"Free disk space, then resume with: batag train --resume {self.folder}"
        return disk_errors(self.folder, what="the run cannot be written", todo=todo)

    def save(self) -> None:
        """Save a checkpoint and the metrics up to it."""
        with self._disk_errors():
            self.metrics.flush()
        save_checkpoint(self.folder / LAST, self.learner, self.selection.to_dict())

    def _epoch(self, done: EpochDone, *, seconds: float, busy: float) -> None:
        by = self.data.statistics["measured_by"]
        self.metrics.add_epoch(done, selected=self.selection.metric, measured_by=by, seconds=seconds, busy=busy)
        if self.selection.better(done.epoch, done.scores.summary()):
            metadata = {"epoch": done.epoch, "step": done.step, "dev": done.scores.report()}
            save_weights(self.folder / BEST, self.learner.weights(), metadata)
        self.save()

    def _bad_loss(self, error: BadLossError) -> DivergedError:
        batch = [{"page": each.page, "words": each.words, "labels": each.labels} for each in error.examples]
        write_text(
            self.folder / BAD_BATCH,
            json.dumps({"step": error.step, "loss": str(error.loss), "pages": batch}, ensure_ascii=False, indent=1),
        )
        self.metrics.flush()
        # No checkpoint: if the weights went wrong earlier, the last good one must stay.
        todo = f"Its pages are in {self.folder / BAD_BATCH}; train again with a smaller schedule.scale, or training.clip=1"
        return DivergedError(f"{error.what}; the weights were not changed by it", where=str(self.folder), todo=todo)

    def _finish(self) -> FinishedRun:
        """Write the bundle of the best weights with their dev scores, and the charts."""
        weights, saved = load_weights_file(self.folder / BEST)
        tuned = self.data.dev if self.data.tuned_by_both else self.data.judge.examples
        weights = choose_mixing_weight(self.learner.model, weights, tuned)
        mixing_weight = weights[MIXING_WEIGHT].item() if self.learner.model.window_crf is not None else None
        name = without_surrogates(self.folder.resolve().name)
        before = self.data.base.description if self.data.base is not None else None
        dial = measure_dial(self.learner.model, weights, self.data, recipe=self.recipe, before=before)
        scores = {"epoch": saved["epoch"], "measured_by": self.data.statistics["measured_by"]} | dict(dial.scores)
        ship(
            self.folder / BUNDLE,
            name=name,
            recipe=self.recipe,
            data=self.data,
            weights=weights,
            pretrained=self.learner.model.featurizer.pretrained,
            learnt=dial.to_dict(self.data.scheme.classes) | self.data.learnt_from() | {"metrics": {"dev": scores}},
        )
        not_exported = ""
        if self.recipe.training.export:
            not_exported = add_onnx(self.folder / BUNDLE, [(each.words, each.labels) for each in self.data.dev])
        draw_dial(dial.sweep, self.folder / DIAL, title=f"{name} on dev")
        title = f"{name}: {self.recipe.encoder.name}, {self.recipe.objective.name}"
        draw_curves(self.metrics.lines(), self.folder / CURVES, title=title)
        return FinishedRun(self, scores, dial, mixing_weight, not_exported)
