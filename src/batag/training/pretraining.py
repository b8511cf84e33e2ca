"""Learning words from pages without labels: some words are hidden, and the encoder guesses them from the others.

Shapes: B pages, L tokens, D width, H hidden words, V words that may be guessed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from zlib import crc32

import torch
from torch import Tensor
from torch.nn import functional as F

from batag.encoders.sequence import page_words, windows
from batag.errors import InputError, UsageError
from batag.features.batches import BATCH_TOKENS, by_length, epoch_batches
from batag.features.lexicon import InputBatch
from batag.features.spelling import Speller
from batag.features.vocabulary import FIRST, Vocabulary
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.labels.scheme import Scheme
from batag.pages.cleaning import parse_rules
from batag.pages.file import locked
from batag.pages.page import Page, without_surrogates
from batag.pages.problems import Problems
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmentation import Segmentation
from batag.training.checkpoint import load_weights_file, save_weights
from batag.training.data import BUNDLE
from batag.training.examples import Example
from batag.training.folder import BEST, tidy
from batag.training.guard import repeatable
from batag.training.loop import BadLossError, Learner, StepDone, build_learner, descend, other_weights, rate_of
from batag.training.recipe import AUTO, Recipe
from batag.training.run import Run
from batag.training.shipping import ship_pretrained

HIDDEN = 0.2
_GUESSED, _KEPT, _HELD_OUT = 20_000, 100_000, 20


@dataclass(frozen=True, slots=True)
class PretrainingEpoch:
    """One epoch: the mean loss of its steps, and on held-out pages the loss and the share of hidden words that are guessed."""

    epoch: int
    step: int
    loss: float
    dev_loss: float
    guessed: float


class Pretraining(Run):
    """A run without labels; it is left and resumed like any other, and its bundle is one to start training from."""

    command = "pretrain"

    def _build(self, *, problems: Problems, watch: Any) -> None:
        for key in ("pretrained", "vectors", "backbone"):
            if getattr(self.recipe.input, key) not in ("", AUTO):
                raise UsageError(f"input.{key} is not for pretraining", todo="Say it when you train with labels")
        dictionary = Dictionary.read(self.files.dictionary[0]) if self.files.dictionary else None
        chosen = self.recipe.pages
        self.segmentation = Segmentation(chosen.segmentation, rules=parse_rules(chosen.rules), dictionary=dictionary)
        self._read(watch(self.files.pages("train", problems)))
        if not self.texts or not self.held_out:
            where = ", ".join(map(str, self.files.train))
            raise InputError("too few pages to learn words from", where=where, todo="Name files of some hundred pages")
        fold = Speller.fold if self.recipe.input.kind == "rich" else str
        # A word that stands once cannot be guessed; in training its spelling says what it is.
        found = Vocabulary.of(map(fold, chain.from_iterable(self.texts)), at_least=max(2, self.recipe.input.at_least))
        self.vocabulary = Vocabulary(found.words[:_KEPT])
        self.cut_off = len(found.words) - len(self.vocabulary.words)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.recipe.training.seed)
            model = _model(self.vocabulary, self.recipe)
        # The word around a hidden character would tell it.
        model.input.lexicon.speller.around = False
        self.learner = build_learner(model, average=self.recipe.training.average, device=self.device)

    def _fit(self, watch: Any) -> None:
        """Without labels there is nothing to fit."""

    def _read(self, pages: Iterable[Page]) -> None:
        """Words of all pages, each distinct word held once; a twentieth of the texts is held out, always the same."""
        self.texts: list[list[str]] = []
        self.held_out: list[list[str]] = []
        known: dict[str, str] = {}
        for _, fields in self.segmentation.many(pages):
            words = [known.setdefault(word, word) for word in page_words(fields)[0]]
            part = self.held_out if crc32(" ".join(words).encode(errors="replace")) % _HELD_OUT == 0 else self.texts
            part += (words[view.start : view.stop] for view in windows(len(words), size=self.recipe.training.window, overlap=0))

    @property
    def steps_an_epoch(self) -> int:
        return -(-len(self.texts) // self.recipe.training.batch)

    def train(self) -> Iterator[StepDone | PretrainingEpoch]:  # type: ignore[override]
        """Train to the end, keeping checkpoints; then write the bundle."""
        assert self.learner is not None, "prepare first"
        chosen, strict = self.recipe.training, self.device.type == "cpu"
        with (
            self._disk_errors(),
            locked(self.folder, ".lock", busy="another training is at work in it", todo="Wait for it or stop it"),
            repeatable(chosen.threads, strict=strict),
        ):
            tidy(self.folder)
            self._write_recipe()
            self.metrics.go_back(step=self.learner.step, epochs=self.learner.epochs)
            began = time.monotonic()
            while self.learner.epochs < chosen.epochs_of(self.steps_an_epoch):
                yield from self._steps(self.learner)
                done = self._score(self.learner)
                line = {"dev_loss": done.dev_loss, "guessed": done.guessed, "seconds": round(time.monotonic() - began, 1)}
                self.metrics.add({"kind": "epoch", "epoch": done.epoch, "step": done.step, "loss": done.loss} | line)
                if self.selection.better(done.epoch, {self.selection.metric: math.exp(-done.dev_loss)}):
                    facts = {"epoch": done.epoch, "step": done.step, "dev": line}
                    save_weights(self.folder / BEST, self.learner.weights(), facts)
                self.save()
                yield done
            self._finish()

    def _steps(self, learner: Learner) -> Iterator[StepDone]:
        chosen, epoch = self.recipe.training, learner.epochs + 1
        batches = epoch_batches(list(map(len, self.texts)), batch=chosen.batch, seed=chosen.seed, epoch=epoch)
        for number in range(learner.step - learner.epochs * self.steps_an_epoch, self.steps_an_epoch):
            texts = [self.texts[each] for each in batches[number]]
            rate = rate_of(self.recipe, learner.step + 1, steps_an_epoch=self.steps_an_epoch)
            torch.manual_seed((chosen.seed * 1_000_003 + learner.step + 1) % 2**63)
            learner.model.train()
            batch = learner.model.input.lexicon.batch(texts).to(self.device)
            if learner.step == 0:
                learner.model.encoder.prepare(learner.model.input(batch).detach(), batch.mask)
            loss, _, count = guess(learner.model, hide(batch))
            try:
                examples = [Example("", words, []) for words in texts]
                descend(learner, loss + learner.model.encoder.auxiliary_loss, recipe=self.recipe, rate=rate, examples=examples)
            except BadLossError as error:
                raise self._bad_loss(error) from error
            done = StepDone(learner.step, epoch, learner.last_loss, rate, count)
            self.metrics.add_step(done)
            if done.step % chosen.checkpoint_steps == 0:
                self.save()
            yield done

    def _score(self, learner: Learner) -> PretrainingEpoch:
        """How well the weights that would be shipped guess hidden words of held-out pages, the same ones every time."""
        total = right = count = 0.0
        generator = torch.Generator().manual_seed(0)
        learner.model.eval()
        with other_weights(learner.model, learner.weights()), torch.inference_mode():
            for batch in by_length(list(map(len, self.held_out)), tokens=BATCH_TOKENS):
                texts = learner.model.input.lexicon.batch([self.held_out[each] for each in batch])
                loss, hits, number = guess(learner.model, hide(texts, generator).to(self.device))
                total, right, count = total + loss.item() * number, right + hits, count + number
        learner.epochs, mean, learner.loss_sum = learner.epochs + 1, learner.loss_sum / self.steps_an_epoch, 0.0
        known = max(count, 1.0)
        return PretrainingEpoch(learner.epochs, learner.step, mean, total / known, right / known)

    def _finish(self) -> None:
        weights, facts = load_weights_file(self.folder / BEST)
        self.scores = {"epoch": facts["epoch"]} | facts["dev"]
        ship_pretrained(
            self.folder / BUNDLE,
            name=without_surrogates(self.folder.resolve().name),
            recipe=self.recipe,
            vocabulary=self.vocabulary,
            segmentation=self.segmentation,
            weights=_without_guesses(weights),
            scores=self.scores,
            pages=len(self.texts),
        )


def _model(vocabulary: Vocabulary, recipe: Recipe) -> TokenClassifier:
    """The classifier whose head turns a vector into that of the word to guess."""
    options = {"input": recipe.input.options, "encoder": recipe.encoder.model_dump()}
    return build_classifier(vocabulary, labels=recipe.encoder.width, **options)


def _without_guesses(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a bundle without classes: its head knows none only."""
    width = weights["head.weight"].shape[1]
    return weights | {"head.weight": torch.zeros(len(Scheme("flat", ()).labels), width), "head.bias": torch.zeros(1)}


def hide(batch: InputBatch, generator: torch.Generator | None = None) -> InputBatch:
    """Hide a share of the words whole, spelling and all."""
    drawn_BL = torch.rand(batch.words.shape, generator=generator, device=batch.words.device)
    return replace(batch, hidden=(drawn_BL < HIDDEN) & batch.mask)


def guess(model: TokenClassifier, batch: InputBatch) -> tuple[Tensor, int, int]:
    """The mean loss over hidden words that the vocabulary has, how many are guessed right, and how many they are."""
    assert batch.hidden is not None
    table_VD = model.input.words.weight[FIRST : FIRST + _GUESSED]
    wanted_BL = batch.hidden & (batch.words >= FIRST) & (batch.words < FIRST + len(table_VD))
    vectors_HD = model(batch)[wanted_BL]
    targets_H = batch.words[wanted_BL] - FIRST
    if not len(targets_H):
        return vectors_HD.sum(), 0, 0
    logits_HV = vectors_HD @ table_VD.T
    return F.cross_entropy(logits_HV, targets_H), int((logits_HV.argmax(1) == targets_H).sum()), len(targets_H)
