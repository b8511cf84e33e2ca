"""Words in batches of tensors: what is known of each word is looked up once and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from batag.features.pretrained import Frozen
from batag.features.spelling import Key, Speller, whole_word
from batag.features.vocabulary import PADDING, Vocabulary

_REMEMBERED = 100_000
_LOCK = Lock()
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class InputBatch:
    """Pages in numbers: `words` and `mask` [B,L]; for what is told by spelling each distinct word once (`of_word` [B,L] says
    which): its n-grams and parts of speech (numbers of all words in a row, `..._offsets` where a word's begin), its shape,
    and what it tells of itself and its neighbours (`near`, by place). `frozen` [B,L,K] is what others learnt.
    """

    words: Tensor
    mask: Tensor
    of_word: Tensor | None = None
    grams: Tensor | None = None
    gram_offsets: Tensor | None = None
    shapes: Tensor | None = None
    parts: Tensor | None = None
    part_offsets: Tensor | None = None
    near: Tensor | None = None
    near_offsets: Tensor | None = None
    frozen: Tensor | None = None

    def to(self, device: torch.device) -> InputBatch:
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **moved)


@dataclass(frozen=True, slots=True)
class _Known:
    """A word that was spelt, in little memory."""

    word: int
    grams: Ints
    shape: int
    parts: Ints
    near: list[Ints]


class Lexicon:
    """Gives every word a row, known or not; past a number of rows it starts anew, so that memory stays bounded."""

    def __init__(self, vocabulary: Vocabulary, **spelling: Any) -> None:
        self.speller = Speller(vocabulary=vocabulary, **spelling)
        self._frozen: Frozen | None = None
        self._forget()

    @property
    def frozen(self) -> Frozen | None:
        """What others learnt of words, if it is used."""
        return self._frozen

    @frozen.setter
    def frozen(self, value: Frozen | None) -> None:
        self._frozen = value
        self._forget()

    def _forget(self) -> None:
        nothing = np.zeros(0, dtype=np.int64)
        self._rows: dict[Key, int] = {}
        self._spelt = [_Known(PADDING, np.zeros(1, dtype=np.int64), 0, nothing, [nothing] * self.speller.places)]

    def tell_neighbours(self, *, side: int, rows: int) -> None:
        """From now on batches also hold what a second reader wants to know of each word."""
        self.speller.side, self.speller.rows = side, rows
        self._forget()

    def batch(self, pages: Sequence[Sequence[str]], *, near: bool = True, frozen: bool = True) -> InputBatch:
        """Pages (words in order) side by side, the shorter ones padded; what is `near` or `frozen` may be left out."""
        with _LOCK:
            return self._batch(pages, near=near, frozen=frozen)

    def _batch(self, pages: Sequence[Sequence[str]], *, near: bool, frozen: bool) -> InputBatch:
        if len(self._spelt) > _REMEMBERED:
            self._forget()
        spoken = list(map(self.speller.keys, pages))
        rows = np.zeros((len(pages), max(map(len, pages))), dtype=np.int64)
        self._add([key for key in dict.fromkeys(chain.from_iterable(spoken)) if key not in self._rows])
        for place, keys in enumerate(spoken):
            rows[place, : len(keys)] = [self._rows[key] for key in keys]
        mask = torch.from_numpy(rows > 0)
        distinct, inverse = _distinct(rows)
        spelt = [self._spelt[row] for row in distinct]
        words_U = np.fromiter((each.word for each in spelt), dtype=np.int64, count=len(distinct))
        words_BL = torch.from_numpy(words_U[inverse].reshape(rows.shape))
        batch = InputBatch(words_BL, mask, of_word=torch.from_numpy(inverse.reshape(rows.shape)))
        if frozen and self.frozen is not None:
            batch = replace(batch, frozen=self.frozen.of(pages, [list(map(whole_word, keys)) for keys in spoken]))
        if self.speller.buckets:
            grams, gram_offsets = _in_a_row([each.grams for each in spelt])
            shapes = torch.tensor([each.shape for each in spelt])
            batch = replace(batch, grams=grams, gram_offsets=gram_offsets, shapes=shapes)
        if self.speller.parts:
            parts, part_offsets = _in_a_row([each.parts for each in spelt])
            batch = replace(batch, parts=parts, part_offsets=part_offsets)
        if near and self.speller.side:
            told, told_offsets = _in_a_row([told for each in spelt for told in each.near])
            batch = replace(batch, near=told, near_offsets=told_offsets)
        return batch

    def _add(self, keys: Sequence[Key]) -> None:
        frozen = self.frozen.by_word if keys and self.frozen is not None else None
        told = [()] * len(keys) if frozen is None else frozen.look_up(list(map(whole_word, keys)))[1]
        for key, kinds in zip(keys, told, strict=True):
            word, grams, shape, parts, near = self.speller.spell(key, kinds)
            self._rows[key] = len(self._spelt)
            self._spelt.append(_Known(word, _numbers(grams), shape, _numbers(parts), list(map(_numbers, near))))


def _numbers(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _in_a_row(numbers: Sequence[Ints]) -> tuple[Tensor, Tensor]:
    """All of them one after the other, and where each begins."""
    offsets = np.cumsum([0, *map(len, numbers[:-1])])
    return torch.from_numpy(np.concatenate(numbers)), torch.from_numpy(offsets)


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The distinct rows of a batch in order of appearance, whatever was seen before it, and which one stands where."""
    distinct, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[inverse]
