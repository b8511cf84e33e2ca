"""Tokens to vectors: `word` (one trained vector a word, the paper's) or `rich` (word, n-grams, shape, part of speech).

Shapes: B pages, L tokens, D width, U distinct words of a batch.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from batag.errors import unknown_name
from batag.features.lexicon import InputBatch, Lexicon
from batag.features.vocabulary import PADDING, UNKNOWN, Vocabulary

INPUTS = ("word", "rich")


class WordInput(nn.Module):
    """One trained vector a word, N(0, 1/D) at the start and times sqrt(D), so that Adam moves it fast enough."""

    def __init__(
        self, vocabulary: Vocabulary, *, width: int, dropout: float = 0.0, word_dropout: float = 0.0, frozen_width: int = 0
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(width)
        self.lexicon = Lexicon(vocabulary)
        self.word_dropout = word_dropout
        self.words = nn.Embedding(len(vocabulary), width, padding_idx=PADDING, sparse=True)
        start_(self.words.weight)
        with torch.no_grad():
            self.words.weight[PADDING].zero_()
        self.dropout = nn.Dropout(dropout)
        # Turns what others learnt (the lexicon's `frozen`) into this width.
        self.frozen = nn.Sequential(nn.LayerNorm(frozen_width), nn.Linear(frozen_width, width)) if frozen_width else None

    def forward(self, batch: InputBatch) -> Tensor:
        return self.dropout(self.scale * self.words(self.seen(batch)) + self.learnt_elsewhere(batch))

    def learnt_elsewhere(self, batch: InputBatch) -> Tensor | float:
        """What others learnt of words, or a backbone, says."""
        if self.frozen is None or batch.frozen is None:
            return 0.0
        x_BLD: Tensor = self.frozen(batch.frozen)
        return x_BLD

    def seen(self, batch: InputBatch) -> Tensor:
        """In training some words are left out, so that the vector of an unknown word is trained too."""
        words_BL = batch.words
        if not self.training or not self.word_dropout:
            return words_BL
        left_out_BL = (torch.rand(words_BL.shape, device=words_BL.device) < self.word_dropout) & (words_BL != PADDING)
        return words_BL.masked_fill(left_out_BL, UNKNOWN)


class RichInput(WordInput):
    """The word's vector (case folded), the mean of its n-grams', its shape's and those of what dictionaries say of it (if
    there are `parts`): a new word still looks like something."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        width: int,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        shortest: int = 1,
        longest: int = 4,
        buckets: int = 20_000,
        shapes: int = 1_000,
        parts: int = 0,
        frozen_width: int = 0,
    ) -> None:
        shared: dict[str, Any] = {"dropout": dropout, "word_dropout": word_dropout, "frozen_width": frozen_width}
        super().__init__(vocabulary, width=width, **shared)
        self.lexicon = Lexicon(vocabulary, shortest=shortest, longest=longest, buckets=buckets, shapes=shapes, parts=parts)
        self.grams = nn.EmbeddingBag(buckets, width, mode="mean", sparse=True)
        self.shapes = nn.Embedding(shapes, width)
        start_(self.grams.weight)
        start_(self.shapes.weight)
        self.parts = nn.EmbeddingBag(parts, width, mode="sum") if parts else None
        if self.parts is not None:
            start_(self.parts.weight)

    def forward(self, batch: InputBatch) -> Tensor:
        spelt_UD = self.grams(batch.grams, batch.gram_offsets) + self.shapes(batch.shapes)
        if self.parts is not None:
            spelt_UD = spelt_UD + self.parts(batch.parts, batch.part_offsets)
        spelt_BLD = spelt_UD[batch.of_word]
        own_BLD = self.scale * (self.words(self.seen(batch)) + spelt_BLD)
        return self.dropout(own_BLD + self.learnt_elsewhere(batch))


def start_(weight: Tensor) -> None:
    """N(0, 1/D) in every row."""
    nn.init.normal_(weight, std=weight.shape[1] ** -0.5)


def build_input(kind: str, vocabulary: Vocabulary, *, width: int, **options: Any) -> WordInput:
    """The input of that kind; options that only `rich` has are left out for `word`."""
    if kind not in INPUTS:
        raise unknown_name(kind, INPUTS, "an input")
    if kind == "word":
        kept = {name: options[name] for name in ("dropout", "word_dropout", "frozen_width") if name in options}
        return WordInput(vocabulary, width=width, **kept)
    return RichInput(vocabulary, width=width, **options)
