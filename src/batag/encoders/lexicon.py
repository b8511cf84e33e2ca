"""What the input knows of a word: number, character n-grams, shape, parts of speech; each word is looked at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from threading import Lock
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from batag.encoders.frozen import Frozen
from batag.encoders.vocabulary import PADDING, Vocabulary
from batag.segmentation.speech import has_han_or_kana, parts_of_speech, words_around

_RUNS = re.compile(r"(.)\1+")
_LONGEST = 64
_REMEMBERED = 100_000
_CHARACTERS = 0.8
_LOCK = Lock()
Ints = NDArray[np.int64]
Key = str | tuple[str, str, str]
"""A word; or a character, the word that it lies in and its place there."""
Near = Callable[[Key, Sequence[str]], list[Ints]]


@dataclass(frozen=True)
class InputBatch:
    """Pages in numbers: `words` and `mask` [B,L]; for what is told by spelling each distinct word once (`of_word` [B,L] says
    which): its n-grams and parts of speech (numbers of all words in a row, `..._offsets` where a word's begin), its shape,
    and what it tells of itself and its neighbours (`near`, by place).

    Words that are `hidden` [B,L] are to be guessed: the input shows nothing of them. `frozen` [B,L,K] is what others learnt.
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
    hidden: Tensor | None = None
    frozen: Tensor | None = None

    def to(self, device: torch.device) -> InputBatch:
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **moved)


class Lexicon:
    """Gives every word a row, known or not; past a number of rows it starts anew, so that memory stays bounded."""

    def __init__(
        self, vocabulary: Vocabulary, *, shortest: int = 1, longest: int = 4, buckets: int = 0, shapes: int = 0, parts: int = 0
    ) -> None:
        self.vocabulary = vocabulary
        self.shortest, self.longest, self.buckets, self.shapes, self.parts = shortest, longest, buckets, shapes, parts
        self.frozen: Frozen | None = None
        self.around = True
        self.near: Near | None = None
        self.places = 0
        self._forget()

    @staticmethod
    def fold(word: str) -> str:
        """The form that words with n-grams are known by; the shape tells the case."""
        return word.lower()

    def _forget(self) -> None:
        self._rows: dict[Key, int] = {}
        self._words: list[int] = [PADDING]
        self._grams: list[Ints] = [np.zeros(1, dtype=np.int64)]
        self._shapes: list[int] = [0]
        self._parts: list[Ints] = [np.zeros(0, dtype=np.int64)]
        self._near: list[list[Ints]] = [[np.zeros(0, dtype=np.int64)] * self.places]

    def tell_neighbours(self, near: Near, *, places: int) -> None:
        """From now on batches also hold what `near` says of each word, for so many places."""
        self.near, self.places = near, places
        self._forget()

    def batch(self, pages: Sequence[Sequence[str]], *, near: bool = True, frozen: bool = True) -> InputBatch:
        """Pages (words in order) side by side, the shorter ones padded; what is `near` or `frozen` may be left out."""
        with _LOCK:
            return self._batch(pages, near=near, frozen=frozen)

    def _batch(self, pages: Sequence[Sequence[str]], *, near: bool, frozen: bool) -> InputBatch:
        if len(self._words) > _REMEMBERED:
            self._forget()
        rows = np.zeros((len(pages), max(map(len, pages))), dtype=np.int64)
        for place, words in enumerate(pages):
            keys = self._keys(words) if self.parts else words
            rows[place, : len(words)] = [self._rows[key] if key in self._rows else self._add(key) for key in keys]
        mask = torch.from_numpy(rows > 0)
        distinct, inverse = _distinct(rows)
        words_U = np.fromiter((self._words[row] for row in distinct), dtype=np.int64, count=len(distinct))
        words_BL = torch.from_numpy(words_U[inverse].reshape(rows.shape))
        batch = InputBatch(words_BL, mask, of_word=torch.from_numpy(inverse.reshape(rows.shape)))
        if frozen and self.frozen is not None:
            batch = replace(batch, frozen=self.frozen.of(pages))
        if self.buckets:
            grams, gram_offsets = _in_a_row([self._grams[row] for row in distinct])
            shapes = torch.tensor([self._shapes[row] for row in distinct])
            batch = replace(batch, grams=grams, gram_offsets=gram_offsets, shapes=shapes)
        if self.parts:
            parts, part_offsets = _in_a_row([self._parts[row] for row in distinct])
            batch = replace(batch, parts=parts, part_offsets=part_offsets)
        if near and self.near is not None:
            told, told_offsets = _in_a_row([told for row in distinct for told in self._near[row]])
            batch = replace(batch, near=told, near_offsets=told_offsets)
        return batch

    def _keys(self, words: Sequence[str]) -> Sequence[Key]:
        """Where tokens are single characters (as in many corpora), each is known with the word that it lies in."""
        if not self.around or sum(len(word) == 1 for word in words) < _CHARACTERS * len(words):
            return words
        keys: list[Key] = []
        for single, run in groupby(words, key=lambda word: len(word) == 1 and not word.isspace()):
            tokens = list(run)
            joined = single and has_han_or_kana("".join(tokens))
            keys += ((token, *around) for token, around in zip(tokens, words_around(tokens), strict=True)) if joined else tokens
        return keys

    def _add(self, key: Key) -> int:
        word, around, place = (key, key, "") if isinstance(key, str) else key
        spoken = parts_of_speech(around) if self.parts or self.near is not None else ()
        parts = [f"{part}{place}" for part in (*spoken, *place)] if self.parts else []
        near = [] if self.near is None else self.near(key, spoken)
        self._words.append(self.vocabulary.number(self.fold(word) if self.buckets else word))
        if self.buckets:
            self._grams.append(self._hashed(self.fold(around)))
            self._shapes.append(_hash(shape(word), self.shapes))
        self._parts.append(np.array([_hash(part, self.parts) for part in parts], dtype=np.int64))
        self._near.append(near)
        self._rows[key] = len(self._words) - 1
        return self._rows[key]

    def _hashed(self, word: str) -> Ints:
        """The buckets of all n-grams of `<word>`; of a very long word, of its two ends."""
        if len(word) > 2 * _LONGEST:
            word = word[:_LONGEST] + word[-_LONGEST:]
        marked = f"<{word}>"
        sizes = range(self.shortest, min(self.longest, len(marked)) + 1)
        grams = [marked[at : at + size] for size in sizes for at in range(len(marked) - size + 1)]
        # A bare edge mark is the same in every word.
        hashes = [_hash(gram, self.buckets) for gram in grams if gram not in ("<", ">")]
        return np.array(hashes or [0], dtype=np.int64)


def _hash(text: str, rows: int) -> int:
    return crc32(text.encode(errors="replace")) % rows


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


def shape(word: str) -> str:
    """The kinds of its characters, runs shortened: NORDVIK is X, 120cm is dx, ルモラ is k."""
    return _RUNS.sub(r"\1", "".join(map(_kind, word[:_LONGEST])))


def _kind(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isupper():
        return "X"
    if character.islower():
        return "x"
    if "\u30a0" <= character <= "\u30ff":
        return "k"
    if "\u3040" <= character <= "\u309f":
        return "h"
    return "c" if character.isalpha() else character
