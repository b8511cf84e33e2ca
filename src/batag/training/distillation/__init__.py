"""Distillation: a small student learns to imitate a bundle, its teacher, on unlabelled pages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import torch
from torch import Tensor

from batag.bundles.bundle import Bundle
from batag.bundles.description import DESCRIPTION
from batag.encoders.device import choose_device
from batag.encoders.input import tensors
from batag.encoders.sequence import page_words, windows
from batag.engines.export import add_onnx
from batag.errors import InputError, UsageError
from batag.features.batches import Floats, epoch_batches
from batag.features.pretrained import PretrainedFeatures, join
from batag.heads.classifier import TokenClassifier
from batag.heads.torch_heads import Scores
from batag.labels.provenance import Measuring
from batag.labels.scheme import IGNORED
from batag.pages.file import digest
from batag.pages.page import Page, without_surrogates
from batag.segmentation.segmentation import language_of
from batag.training.base_bundle import recipe_of
from batag.training.checkpoint import disk_errors
from batag.training.data import Data
from batag.training.dial import measure_dial
from batag.training.distillation.agreement import Agreement, compare
from batag.training.distillation.imitation import imitation_loss, inherit_chain
from batag.training.distillation.projection import project
from batag.training.examples import Dev, Example, label_words, make_examples
from batag.training.loop import (
    BadLossError,
    DivergedError,
    StepDone,
    build_learner,
    learn,
    probabilities_with,
    rate_of,
    repeatable,
)
from batag.training.model import fresh_classifier
from batag.training.recipe import Recipe, read_recipe
from batag.training.shipping import ship

_HELD_OUT, _MOST_PAGES, _SWAPPED = 10, 50_000, 0.9
_MAY_CHANGE = ("encoder.", "schedule.", "training.", "dial.", "input.dropout", "input.word_dropout", "head.chain")
_SWIFT: Mapping[str, Mapping[str, Any]] = {
    "input": {"word_dropout": 0.0, "dropout": 0.0},
    "encoder": {"width": 32, "depth": 2, "heads": 2, "inner": 64, "dropout": 0.0},
    "head": {"chain": True, "window_crf": 0},
    # It learns from harder pages already: those with words exchanged.
    "training": {"adversarial_epsilon": 0.0},
}
"""The default recipe of a student."""


@dataclass(frozen=True, slots=True)
class DistillationEpoch:
    """One epoch: the mean loss of its steps, and the agreement with the teacher on held-out pages."""

    epoch: int
    step: int
    loss: float
    agreement: Agreement


def student_recipe(teacher: Bundle, *, settings: Iterable[str] = ()) -> Recipe:
    """The recipe of a student: segmentation, word features and windows are the teacher's, the rest is small and can be set."""
    chosen = list(settings)
    for setting in chosen:
        if not setting.strip().startswith(_MAY_CHANGE):
            todo = f"A setting of a student begins with {', '.join(_MAY_CHANGE)}; the rest is the teacher's"
            raise UsageError(f"--set {setting} is not for a student", todo=todo)
    recipe = recipe_of(teacher.folder)
    training = {key: recipe["training"][key] for key in ("window", "overlap")} | dict(_SWIFT["training"])
    own = {
        "pages": recipe["pages"],
        "input": recipe["input"] | _SWIFT["input"],
        "dial": recipe.get("dial", {}),
        "training": training,
    }
    return read_recipe(None, settings=chosen, base={**_SWIFT, **own})


@dataclass(frozen=True)
class Distillation:
    """A teacher and the recipe of its student. Its phases are types, like those of a run: `read` returns a
    `PreparedDistillation`, which is trained and then shipped; nothing is written before that."""

    teacher: Bundle
    recipe: Recipe
    device: str = "auto"

    @property
    def pretrained(self) -> PretrainedFeatures | None:
        """The student's pretrained features: only those of words, which are looked up once per word, since a backbone would be
        too slow."""
        return join(self.teacher.pretrained.words) if self.teacher.pretrained is not None else None

    def read(self, pages: Iterable[Page], *, dev: Iterable[Page] | None = None, where: str = "pages") -> PreparedDistillation:
        """Read the words of all pages and hold out a fixed tenth; labels are only used on dev pages."""
        teacher, chosen = self.teacher, self.recipe.training
        # Errors about the device or the teacher come before the pages are read, which takes long.
        model = teacher.model().to(choose_device(self.device))
        kept, aside = (_Draw(most, seed=chosen.seed) for most in (_MOST_PAGES, _MOST_PAGES // _HELD_OUT))
        known: dict[str, str] = {}
        languages = Counter[str]()
        for page, fields in teacher.segmentation.many(pages):
            # Each distinct word is held once, however many pages have it.
            words = [known.setdefault(word, word) for word in page_words(fields)[0]]
            part = aside if crc32(" ".join(words).encode(errors="replace")) % _HELD_OUT == 0 else kept
            part.add(words)
            languages[language_of(page)] += 1
        texts, held_out = (
            [
                words[each.start : each.stop]
                for words in part.pages
                for each in windows(len(words), size=chosen.window, overlap=0)
            ]
            for part in (kept, aside)
        )
        if not texts or not held_out:
            raise InputError("too few pages to teach a student on", where=where, todo="Name files of some hundred pages")
        statistics: dict[str, Any] = {
            "pages": len(kept.pages),
            "tokens": sum(map(len, texts)),
            "held_out": len(aside.pages),
            "left_out": languages.total() - len(kept.pages) - len(aside.pages),
            "languages": dict(languages.most_common()),
        }
        judges = Dev()
        if dev is not None:
            measuring = Measuring(dev)
            judges.pages = list(measuring)
            found = label_words(judges.pages, teacher.segmentation)
            judges.examples = make_examples(found, teacher.scheme, window=chosen.window, overlap=chosen.overlap)
            statistics |= {"dev_pages": len(found.pages), "measured_by": measuring.by}
            if not judges:
                todo = "Label some (see docs/labelling.md), or leave --dev out"
                raise InputError("no token of dev can be scored", where="--dev", todo=todo)
        allowed = teacher.description.tagged_stop_words
        known_words = teacher.scheme, teacher.vocabulary, teacher.dictionary, teacher.segmentation
        data = Data(*known_words, train=[], new_dev=judges, statistics=statistics, allowed=allowed, terms=teacher.terms)
        return PreparedDistillation(self, model, data, texts=texts, held_out=[Example("", words, []) for words in held_out])


@dataclass(frozen=True)
class FinishedDistillation:
    """The scores of a student, on dev (if there is one) and against its teacher, and the reason why its bundle has no ONNX
    engine."""

    scores: dict[str, Any]
    not_exported: str


class PreparedDistillation:
    """A student that is initialised with its teacher's word vectors, and the texts to train it on."""

    def __init__(
        self,
        distillation: Distillation,
        teacher: TokenClassifier,
        data: Data,
        *,
        texts: Sequence[Sequence[str]],
        held_out: Sequence[Example],
    ) -> None:
        self.bundle, self.recipe, self.pretrained = distillation.teacher, distillation.recipe, distillation.pretrained
        self.teacher, self.data, self.texts, self.held_out = teacher, data, texts, held_out
        self.device = next(teacher.parameters()).device
        with self._repeatable():
            torch.manual_seed(self.recipe.training.seed)
            made = data.vocabulary, data.scheme
            student = fresh_classifier(self.recipe, *made, pretrained=self.pretrained, terms=data.terms).to(self.device)
            project(teacher, student, texts)
            if student.chain is not None:
                inherit_chain(teacher, student.chain)
        self.learner = build_learner(student, average=self.recipe.training.average, device=self.device)

    def _repeatable(self) -> AbstractContextManager[None]:
        return repeatable(self.recipe.training.threads, strict=self.device.type == "cpu")

    @property
    def steps_per_epoch(self) -> int:
        """The number of steps per epoch; every text is used twice, each time with other words swapped in."""
        return -(-2 * len(self.texts) // self.recipe.training.batch)

    @property
    def epochs(self) -> int:
        return self.recipe.training.epochs_of(self.steps_per_epoch)

    def train(self) -> Iterator[StepDone | DistillationEpoch]:
        """Train the student to the end."""
        chosen = self.recipe.training
        with self._repeatable():
            taught = probabilities_with(self.teacher, self.teacher.state_dict(), self.held_out)
            lengths = 2 * list(map(len, self.texts))
            for epoch in range(1, self.epochs + 1):
                rng = random.Random(f"{chosen.seed}/{epoch}/swapped")
                for numbers in epoch_batches(lengths, batch=chosen.batch, seed=chosen.seed, epoch=epoch):
                    texts = [self._swapped(self.texts[number % len(self.texts)], rng) for number in numbers]
                    yield self._step(texts, epoch=epoch)
                loss, self.learner.loss_sum = self.learner.loss_sum / self.steps_per_epoch, 0.0
                yield DistillationEpoch(epoch, self.learner.step, loss, self._compare(taught))

    def _swapped(self, text: Sequence[str], rng: random.Random) -> list[str]:
        """A text with a random fraction of its words replaced by words of other texts, as data augmentation."""
        share = rng.uniform(0, _SWAPPED)
        return [rng.choice(rng.choice(self.texts)) if rng.random() < share else word for word in text]

    def _compare(self, taught: Sequence[Floats]) -> Agreement:
        """Compare teacher and student on the held-out pages, both at the teacher's operating points."""
        found = probabilities_with(self.learner.model, self.learner.weights(), self.held_out)
        return compare(taught, found, self.bundle.scheme, dial=self.bundle.dial)

    def _step(self, texts: Sequence[Sequence[str]], *, epoch: int) -> StepDone:
        """Take one training step towards the teacher's probabilities on these texts."""
        # Both know the same words by the same features, so that one batch serves both.
        batch = tensors(self.teacher.featurizer.batch(texts), self.device)
        with torch.no_grad():
            taught = self.teacher(batch).log_probabilities(self.teacher.continuation).exp()
        if self.pretrained is not None and batch.pretrained is not None:  # beside a backbone words are last
            batch = replace(batch, pretrained=batch.pretrained[..., -self.pretrained.width :])

        def loss_of(scores: Scores) -> Tensor:
            return imitation_loss(scores, taught, batch.mask, self.teacher.continuation)

        rate = rate_of(self.recipe, self.learner.step + 1, steps_per_epoch=self.steps_per_epoch)
        try:
            learn(self.learner, batch, loss_of, recipe=self.recipe, rate=rate)
        except BadLossError as error:
            todo = "Start again with a smaller schedule.scale, or training.clip=1"
            raise DivergedError(error.what, where=str(self.bundle.folder), todo=todo) from error
        return StepDone(self.learner.step, epoch, self.learner.last_loss, rate, int(batch.mask.sum()))

    def ship(self, folder: Path, last: DistillationEpoch) -> FinishedDistillation:
        """Write the bundle of the student after its last epoch."""
        teacher, weights, dev = self.bundle.description, self.learner.weights(), self.data.new_dev
        scores: dict[str, Any] = {"teacher": last.agreement.to_dict()}
        learnt = teacher.model_dump(include={"dial", "calibration", "languages", "fields", "columns"})
        if dev:
            chosen = measure_dial(self.learner.model, weights, self.data, recipe=self.recipe, before=teacher)
            learnt |= chosen.to_dict(self.data.scheme.classes)
            scores["dev"] = {"epoch": last.epoch, "measured_by": self.data.statistics["measured_by"]} | dict(chosen.scores)
        source = {"name": teacher.name, "sha256": digest(self.bundle.folder / DESCRIPTION)}
        with disk_errors(
            folder, what="the bundle cannot be written", todo="Free disk space, or name another folder with --out"
        ):
            ship(
                folder,
                name=without_surrogates(folder.resolve().name),
                recipe=self.recipe,
                data=self.data,
                weights=weights,
                pretrained=self.pretrained,
                learnt=learnt | {"metrics": scores, "trained_on": self.data.statistics | {"distilled_from": source}},
            )
        not_exported = ""
        if self.recipe.training.export:
            pages = dev.examples or self.held_out
            not_exported = add_onnx(folder, [(each.words, each.labels or [IGNORED] * len(each.words)) for each in pages])
        return FinishedDistillation(scores, not_exported)


class _Draw:
    """Draws at most a given number of pages, each with the same probability (reservoir sampling)."""

    def __init__(self, most: int, *, seed: int) -> None:
        self.pages: list[list[str]] = []
        self._most, self._seen, self._rng = most, 0, random.Random(seed)

    def add(self, words: list[str]) -> None:
        self._seen += 1
        if len(self.pages) < self._most:
            self.pages.append(words)
        elif (place := self._rng.randrange(self._seen)) < self._most:
            self.pages[place] = words
