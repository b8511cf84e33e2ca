"""Words to vectors without torch: each distinct word is spelt and summed up once, then its row is only looked up.

Shapes: B pages, L tokens, D width, K places, C labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.bundles.description import AGAIN, KNOWN, Description
from batag.errors import InputError
from batag.features.batches import Floats
from batag.features.pretrained import FrozenWords
from batag.features.spelling import Key, Speller, whole_word
from batag.features.vocabulary import Vocabulary

_REMEMBERED = 100_000
_SPELLING = ("shortest", "longest", "buckets", "shapes", "parts")
_FIRST_ROWS = 1_024
_LISTED = 20_000
_NORM_EPSILON = 1e-5
Ints = NDArray[np.int64]


class WordTable:
    """A row a word: its vector, and what it tells the second reader at each place (row 0: beyond the ends of a page).

    Past a number of rows it starts anew, so that memory stays bounded; a row depends on its word alone.
    """

    def __init__(
        self,
        description: Description,
        vocabulary: Vocabulary,
        arrays: Mapping[str, Floats],
        vectors: FrozenWords | None = None,
        known: Mapping[str, Floats] | None = None,
    ) -> None:
        said, head = description.input, description.head
        labels = len(description.labels)
        rich = said.kind == "rich"
        spelling: dict[str, Any] = said.model_dump(include=set(_SPELLING)) if rich else {}
        self.speller = Speller(vocabulary=vocabulary, **spelling, side=head.neighbours, rows=head.rows)
        width, places = description.encoder.width, self.speller.places
        self._scale = np.float32(math.sqrt(width))

        def table(name: str, *shape: int) -> Floats:
            found = arrays.get(name)
            if found is None or found.shape != shape:
                what = f"does not fit bundle.json: {name} is not {'x'.join(map(str, shape))}"
                raise InputError(what, where="model.safetensors", todo=AGAIN)
            return found

        self._words = table("input.words.weight", len(vocabulary), width)
        self._grams = table("input.grams.weight", said.buckets, width) if rich else None
        self._shapes = table("input.shapes.weight", said.shapes, width) if rich else None
        self._parts = table("input.parts.weight", said.parts, width) if rich and said.parts else None
        self._learnt = vectors
        if vectors is not None:
            given = vectors.width
            # In float64: the numbers of a word are then the same whatever other words are new with it.
            self._norm, self._shift = (table(f"input.frozen.0.{name}", given).astype(float) for name in ("weight", "bias"))
            self._turn, self._move = (
                table("input.frozen.1.weight", width, given).astype(float),
                table("input.frozen.1.bias", width),
            )
        self._facts = table("neighbours.facts", head.rows, labels) if places else np.zeros((1, labels), dtype=np.float32)
        self._edge = table("neighbours.edge", places, labels) if places else np.zeros((0, labels), dtype=np.float32)
        self._known = known
        words = vocabulary.words[: len(known.get("vectors", ()))] if known is not None else ()
        self._listed: dict[Key, int] = {word: row for row, word in enumerate(words, 1)}
        if known is not None:
            wanted = {"vectors": (len(words), width), "near": (len(words), *self._edge.shape)}
            if not words or {name: value.shape for name, value in known.items()} != wanted:
                raise InputError("does not fit bundle.json: it is not of these words", where=KNOWN, todo=AGAIN)
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._rows = dict(self._listed)
        end = 1 + len(self._rows)
        self._vectors: Floats = np.zeros((end + _FIRST_ROWS, self._words.shape[1]), dtype=np.float32)
        self._near: Floats = np.zeros((end + _FIRST_ROWS, *self._edge.shape), dtype=np.float32)
        self._near[0] = self._edge
        if self._known is not None:
            self._vectors[1:end], self._near[1:end] = self._known["vectors"], self._known["near"]

    def known(self) -> dict[str, Floats]:
        """What is known of the most frequent words that were learnt from, to be kept; nothing where tokens are characters."""
        words = self.speller.vocabulary.words[:_LISTED]
        if not words or self.speller.keys(words) is not words:
            return {}
        with self._lock:
            (rows,) = self._numbers([words])
            return {"vectors": self._vectors[rows], "near": self._near[rows]}

    def look_up(self, pages: Sequence[Sequence[str]]) -> tuple[Floats, NDArray[np.bool_], Floats]:
        """Vectors [B,L,D], which tokens are real [B,L], and the second reader's scores [B,L,C] (0 without one)."""
        with self._lock:
            rows_BL = self._numbers(pages)
            return self._vectors[rows_BL], rows_BL > 0, self._scores(rows_BL)

    def _numbers(self, pages: Sequence[Sequence[str]]) -> Ints:
        if len(self._rows) >= _REMEMBERED:
            self._forget()
        known = self._rows
        keys = list(chain.from_iterable(map(self.speller.keys, pages)))
        numbers: list[Any] = list(map(known.get, keys))
        if None in numbers:
            new: list[Key] = []
            for key in keys:
                if key not in known:
                    known[key] = len(known) + 1
                    new.append(key)
            numbers = list(map(known.get, keys))
            try:
                self._add(new, first=len(known) + 1 - len(new))
            except BaseException:
                # A row without its numbers must not be found later.
                self._forget()
                raise
        lengths = np.fromiter(map(len, pages), dtype=np.int64, count=len(pages))
        rows: Ints = np.zeros((len(pages), lengths.max()), dtype=np.int64)
        rows[np.arange(rows.shape[1]) < lengths[:, None]] = numbers
        return rows

    def _add(self, keys: Sequence[Key], *, first: int) -> None:
        learnt, kinds = (None, [()] * len(keys)) if self._learnt is None else self._learnt.look_up(list(map(whole_word, keys)))
        words = [self.speller.spell(key, own) for key, own in zip(keys, kinds, strict=True)]
        end = first + len(words)
        if end > len(self._vectors):
            size = max(end, 2 * len(self._vectors))
            self._vectors, self._near = (_longer(each, size) for each in (self._vectors, self._near))
        numbers = np.fromiter((word.word for word in words), dtype=np.int64, count=len(words))
        summed = self._words[numbers]
        if self._grams is not None and self._shapes is not None:
            counts = np.fromiter((len(word.grams) for word in words), dtype=np.float32, count=len(words))
            spelt = _sums(self._grams, [word.grams for word in words]) / counts[:, None]
            spelt += self._shapes[np.fromiter((word.shape for word in words), dtype=np.int64, count=len(words))]
            if self._parts is not None:
                spelt += _sums(self._parts, [word.parts for word in words])
            summed = summed + spelt
        self._vectors[first:end] = self._scale * summed
        if learnt is not None:
            self._vectors[first:end] += self._turned(learnt)
        if places := len(self._edge):
            told = _sums(self._facts, [facts for word in words for facts in word.near])
            self._near[first:end] = told.reshape(len(words), places, -1)

    def _turned(self, learnt: Floats) -> Floats:
        """What others learnt of words, in this width."""
        x = learnt.astype(float)
        x -= x.mean(1, keepdims=True)
        x /= np.sqrt((x * x).mean(1, keepdims=True) + _NORM_EPSILON)
        found: Floats = ((x * self._norm + self._shift) @ self._turn.T + self._move).astype(np.float32)
        return found

    def _scores(self, rows_BL: Ints) -> Floats:
        (pages, length), (places, labels) = rows_BL.shape, self._edge.shape
        side = places // 2
        beyond = np.zeros((pages, side), dtype=np.int64)
        wide = np.concatenate((beyond, rows_BL, beyond), axis=1)
        scores: Floats = np.zeros((pages, length, labels), dtype=np.float32)
        for place in range(places):
            scores += self._near[wide[:, place : place + length], place]
        return scores


def _longer(rows: Floats, size: int) -> Floats:
    longer: Floats = np.zeros((size, *rows.shape[1:]), dtype=np.float32)
    longer[: len(rows)] = rows
    return longer


def _sums(table: Floats, numbers: Sequence[list[int]]) -> Floats:
    """The sum of some rows of a table, for each list of their numbers; of none it is 0."""
    counts = np.fromiter(map(len, numbers), dtype=np.int64, count=len(numbers))
    sums: Floats = np.zeros((len(numbers), table.shape[1]), dtype=np.float32)
    some = counts > 0
    if some.any():
        rows = table[list(chain.from_iterable(numbers))]
        sums[some] = np.add.reduceat(rows, (counts.cumsum() - counts)[some], axis=0)
    return sums
