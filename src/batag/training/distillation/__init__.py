"""Distillation: a small student learns to say of pages without labels what a bundle, its teacher, says of them."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from batag.bundles.bundle import Bundle
from batag.bundles.description import DESCRIPTION
from batag.encoders.device import choose_device
from batag.encoders.input import tensors
from batag.encoders.sequence import page_words, windows
from batag.engines.export import add_onnx
from batag.errors import InputError, UsageError
from batag.evaluation.operating_point import Dial
from batag.features.batches import epoch_batches
from batag.features.pretrained import join
from batag.labels.provenance import Measuring
from batag.labels.scheme import IGNORED
from batag.pages.page import Page, without_surrogates
from batag.segmentation.segmentation import language_of
from batag.training.base_bundle import recipe_of
from batag.training.checkpoint import disk_errors
from batag.training.data import Data, digest
from batag.training.dial import measure_dial
from batag.training.distillation.agreement import Agreement, compare
from batag.training.distillation.projection import project
from batag.training.examples import Dev, Example, label_words, make_examples
from batag.training.gradients import adversarial_loss
from batag.training.loop import (
    BadLossError,
    DivergedError,
    StepDone,
    build_learner,
    descend,
    probabilities_with,
    rate_of,
    repeatable,
)
from batag.training.model import fresh_classifier
from batag.training.recipe import Recipe, read_recipe
from batag.training.shipping import ship_distilled

_HELD_OUT, _MOST_PAGES, _SWAPPED = 10, 50_000, 0.9
_MAY_CHANGE = ("encoder.", "schedule.", "training.", "dial.", "input.dropout", "input.word_dropout", "head.chain")
_SWIFT: Mapping[str, Mapping[str, Any]] = {
    "input": {"word_dropout": 0.0, "dropout": 0.0},
    "encoder": {"width": 32, "depth": 2, "heads": 2, "inner": 64, "dropout": 0.0},
    "head": {"chain": False, "window_crf": 0},
    # It learns from harder pages already: those with words exchanged.
    "training": {"adversarial_epsilon": 0.0},
}
"""What a student is by default."""


@dataclass(frozen=True, slots=True)
class DistillationEpoch:
    """One epoch: the mean loss of its steps, and how like its teacher the student is on held-out pages."""

    epoch: int
    step: int
    loss: float
    agreement: Agreement


def student_recipe(teacher: Bundle, *, settings: Iterable[str] = ()) -> Recipe:
    """The recipe of a student: tokens, features of words and windows are its teacher's, the rest is small and may be set."""
    chosen = list(settings)
    for setting in chosen:
        if not setting.strip().startswith(_MAY_CHANGE):
            todo = f"What may be set begins with {', '.join(_MAY_CHANGE)}; the rest is the teacher's"
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


class Distillation:
    """One student and its teacher: `read` pages, `train`, and `ship` what came out; nothing is written before."""

    def __init__(self, teacher: Bundle, recipe: Recipe, *, device: str = "auto") -> None:
        self.bundle, self.recipe = teacher, recipe
        self.device = choose_device(device)
        self.teacher = teacher.model().to(self.device)
        # What is known of words is looked up once per word; a backbone would cost all that a student is to save.
        self.pretrained = join(teacher.pretrained.words) if teacher.pretrained is not None else None
        self.texts: list[list[str]] = []
        self.held_out: list[Example] = []
        self.dev = Dev()
        self.not_exported = ""
        self.statistics: dict[str, Any] = {}

    @property
    def steps_per_epoch(self) -> int:
        """Every text is seen twice an epoch, each time with other words in it."""
        return -(-2 * len(self.texts) // self.recipe.training.batch)

    @property
    def epochs(self) -> int:
        return self.recipe.training.epochs_of(self.steps_per_epoch)

    def read(self, pages: Iterable[Page], *, dev: Iterable[Page] | None = None, where: str = "pages") -> None:
        """The words of all pages, of which a tenth is held out, always the same; labels count on dev pages only."""
        seed, window = self.recipe.training.seed, self.recipe.training.window
        kept, aside = _Draw(_MOST_PAGES, seed=seed), _Draw(_MOST_PAGES // _HELD_OUT, seed=seed)
        known: dict[str, str] = {}
        languages = Counter[str]()
        for page, fields in self.bundle.segmentation.many(pages):
            # Each distinct word is held once, however many pages have it.
            words = [known.setdefault(word, word) for word in page_words(fields)[0]]
            part = aside if crc32(" ".join(words).encode(errors="replace")) % _HELD_OUT == 0 else kept
            part.add(words)
            languages[language_of(page)] += 1
        self.texts, held_out = (
            [words[view.start : view.stop] for words in part.pages for view in windows(len(words), size=window, overlap=0)]
            for part in (kept, aside)
        )
        self.held_out = [Example("", words, []) for words in held_out]
        if not self.texts or not self.held_out:
            raise InputError("too few pages to teach a student on", where=where, todo="Name files of some hundred pages")
        self.statistics = {
            "pages": len(kept.pages),
            "tokens": sum(map(len, self.texts)),
            "held_out": len(aside.pages),
            "left_out": languages.total() - len(kept.pages) - len(aside.pages),
            "languages": dict(languages.most_common()),
        }
        if dev is not None:
            measuring = Measuring(dev)
            judges = list(measuring)
            found = label_words(judges, self.bundle.segmentation)
            examples = make_examples(found, self.bundle.scheme, window=window, overlap=self.recipe.training.overlap)
            self.dev = Dev(judges, examples)
            self.statistics |= {"dev_pages": len(found.pages), "measured_by": measuring.by}
            if not self.dev:
                todo = "Label some as docs/labelling.md says, or leave --dev out"
                raise InputError("no token of dev can be scored", where="--dev", todo=todo)

    def train(self) -> Iterator[StepDone | DistillationEpoch]:
        """Build the student and teach it to the end."""
        assert self.texts, "read first"
        chosen, strict = self.recipe.training, self.device.type == "cpu"
        with repeatable(chosen.threads, strict=strict):
            self._build()
            taught = probabilities_with(self.teacher, self.teacher.state_dict(), self.held_out)
            lengths = 2 * list(map(len, self.texts))
            for epoch in range(1, self.epochs + 1):
                rng = random.Random(f"{chosen.seed}/{epoch}/swapped")
                for numbers in epoch_batches(lengths, batch=chosen.batch, seed=chosen.seed, epoch=epoch):
                    texts = [self._swapped(self.texts[number % len(self.texts)], rng) for number in numbers]
                    yield self._step(texts, epoch=epoch)
                loss, self.learner.loss_sum = self.learner.loss_sum / self.steps_per_epoch, 0.0
                self.agreement = self._compare(taught)
                yield DistillationEpoch(epoch, self.learner.step, loss, self.agreement)

    def _swapped(self, text: Sequence[str], rng: random.Random) -> list[str]:
        """A text with few or many of its words exchanged for words of other texts: there is more to ask the teacher about."""
        share = rng.uniform(0, _SWAPPED)
        return [rng.choice(rng.choice(self.texts)) if rng.random() < share else word for word in text]

    def _compare(self, taught: Sequence[NDArray[np.float32]]) -> Agreement:
        """Teacher and student on the held-out pages, both at the teacher's points."""
        found = probabilities_with(self.learner.model, self.learner.weights(), self.held_out)
        points = [point.model_dump() for point in self.bundle.description.dial]
        dial = Dial.from_dicts(points, self.bundle.scheme.classes) if points else None
        return compare(taught, found, self.bundle.scheme, dial=dial)

    def _build(self) -> None:
        """A student that begins with its teacher's words."""
        torch.manual_seed(self.recipe.training.seed)
        teacher = self.bundle
        student = fresh_classifier(self.recipe, teacher.vocabulary, teacher.scheme, pretrained=self.pretrained).to(self.device)
        project(self.teacher, student, self.texts)
        self.learner = build_learner(student, average=self.recipe.training.average, device=self.device)

    def _step(self, texts: Sequence[Sequence[str]], *, epoch: int) -> StepDone:
        """One step towards what the teacher says of these texts."""
        learner, step = self.learner, self.learner.step + 1
        # Both know the same words by the same features, so that one batch serves both.
        batch = tensors(self.teacher.featurizer.batch(texts), self.device)
        with torch.no_grad():
            taught_NC = torch.softmax(self.teacher(batch)[batch.mask], dim=-1)
        if self.pretrained is not None and batch.pretrained is not None:  # beside a backbone words are last
            batch = replace(batch, pretrained=batch.pretrained[..., -self.pretrained.width :])
        torch.manual_seed((self.recipe.training.seed * 1_000_003 + step) % 2**63)
        learner.model.train()
        if step == 1:
            learner.model.encoder.prepare(learner.model.input(batch).detach(), batch.mask)

        def loss_of(vectors_BLD: Tensor) -> Tensor:
            logits_NC = learner.model.read(vectors_BLD, batch)[batch.mask]
            return F.cross_entropy(logits_NC, taught_NC) + learner.model.encoder.auxiliary_loss

        loss = adversarial_loss(
            loss_of, learner.model.input(batch), batch.mask, epsilon=self.recipe.training.adversarial_epsilon
        )
        rate = rate_of(self.recipe, step, steps_per_epoch=self.steps_per_epoch)
        try:
            descend(learner, loss, recipe=self.recipe, rate=rate, examples=[])
        except BadLossError as error:
            todo = "Begin anew with a smaller schedule.scale, or training.clip=1"
            raise DivergedError(error.what, where=str(self.bundle.folder), todo=todo) from error
        return StepDone(step, epoch, learner.last_loss, rate, len(taught_NC))

    def ship(self, folder: Path) -> dict[str, Any]:
        """Write the student as a bundle; its scores are on dev if there is any, and against its teacher."""
        read, scores = self.bundle, {"teacher": self.agreement.to_dict()}
        weights = self.learner.weights()
        dial: dict[str, Any] = {
            "dial": [point.model_dump() for point in read.description.dial],
            "calibration": read.description.calibration.model_dump(),
        }
        if self.dev:
            allowed = read.description.tagged_stop_words
            data = Data(
                read.scheme, read.vocabulary, read.dictionary, read.segmentation, [], self.dev, self.statistics, allowed=allowed
            )
            chosen = measure_dial(self.learner.model, weights, data, recipe=self.recipe, before=read.description)
            dial = chosen.to_dict(read.scheme.classes)
            scores["dev"] = {"epoch": self.epochs, "measured_by": self.statistics["measured_by"]} | dict(chosen.scores)
        source = {"name": read.description.name, "sha256": digest(read.folder / DESCRIPTION)}
        with disk_errors(folder, what="the bundle cannot be written", todo="Make room, or name another folder with --out"):
            ship_distilled(
                folder,
                name=without_surrogates(folder.resolve().name),
                recipe=self.recipe,
                teacher=read,
                weights=weights,
                metrics=scores,
                dial=dial,
                pretrained=self.pretrained,
                trained_on=self.statistics | {"distilled_from": source},
            )
        if self.recipe.training.export:
            pages = self.dev.examples or self.held_out
            labelled = [(each.words, each.labels or [IGNORED] * len(each.words)) for each in pages]
            self.not_exported = add_onnx(folder, labelled)
        return scores


class _Draw:
    """At most so many pages of all that come, each with the same chance."""

    def __init__(self, most: int, *, seed: int) -> None:
        self.pages: list[list[str]] = []
        self._most, self._seen, self._rng = most, 0, random.Random(seed)

    def add(self, words: list[str]) -> None:
        self._seen += 1
        if len(self.pages) < self._most:
            self.pages.append(words)
        elif (place := self._rng.randrange(self._seen)) < self._most:
            self.pages[place] = words
