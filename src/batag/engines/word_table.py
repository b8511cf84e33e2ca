"""Embed words without torch: the vector of each distinct word is computed once and cached in a table.

Shapes: B pages, L tokens, D width, K places of the window CRF, C labels.
"""

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
from batag.features.featurizer import Featurizer
from batag.features.word import Key
from batag.heads.numpy_heads import weight_of, window_scores

_REMEMBERED = 100_000
_FIRST_ROWS = 1_024
_LISTED = 20_000
_NORM_EPSILON = 1e-5
Ints = NDArray[np.int64]


class WordTable:
    """A cache with one row per word: its vector and its window CRF scores at each place of the window (row 0 stands for places
    outside the page).

    It is emptied when it is full; a row depends on its word only.
    """

    def __init__(
        self,
        featurizer: Featurizer,
        arrays: Mapping[str, Floats],
        *,
        description: Description,
        known: Mapping[str, Floats] | None = None,
    ) -> None:
        self.featurizer, self._known = featurizer, known
        width, labels = description.encoder.width, len(description.labels)
        self._scale = np.float32(math.sqrt(width))
        sizes = {
            "words": len(featurizer.vocabulary),
            "ngrams": featurizer.ngram_buckets,
            "shapes": featurizer.shape_buckets,
            "parts_of_speech": featurizer.part_of_speech_buckets,
        }
        self._rows_of = {name: weight_of(arrays, f"input.{name}.weight", size, width) for name, size in sizes.items() if size}
        pretrained = featurizer.pretrained
        self._projects = pretrained is not None and pretrained.backbone is None
        if self._projects:
            given = featurizer.pretrained_width
            # In float64: the numbers of a word are then the same whatever other words are new with it.
            self._norm, self._shift = (weight_of(arrays, f"input.pretrained.0.{name}", given) for name in ("weight", "bias"))
            self._norm, self._shift = self._norm.astype(float), self._shift.astype(float)
            self._turn = weight_of(arrays, "input.pretrained.1.weight", width, given).astype(float)
            self._move = weight_of(arrays, "input.pretrained.1.bias", width)
        places = 2 * featurizer.window + 1 if featurizer.window else 0
        self._window_weights: Floats = np.zeros((1, labels), dtype=np.float32)
        self._edge: Floats = np.zeros((0, labels), dtype=np.float32)
        if places:
            self._window_weights = weight_of(arrays, "window_crf.weights", featurizer.window_buckets, labels)
            self._edge = weight_of(arrays, "window_crf.edge", places, labels)
        words = featurizer.vocabulary.words[: len(known.get("vectors", ()))] if known is not None else ()
        self._listed: dict[Key, int] = {word: row for row, word in enumerate(words, 1)}
        if known is not None:
            wanted = {"vectors": (len(words), width), "window": (len(words), *self._edge.shape)}
            if not words or {name: value.shape for name, value in known.items()} != wanted:
                raise InputError("does not fit bundle.json: it is not of these words", where=KNOWN, todo=AGAIN)
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._rows = dict(self._listed)
        end = 1 + len(self._rows)
        self._vectors: Floats = np.zeros((end + _FIRST_ROWS, len(self._rows_of["words"][0])), dtype=np.float32)
        self._window: Floats = np.zeros((end + _FIRST_ROWS, *self._edge.shape), dtype=np.float32)
        self._window[0] = self._edge
        if self._known is not None:
            self._vectors[1:end], self._window[1:end] = self._known["vectors"], self._known["window"]

    def known(self) -> dict[str, Floats]:
        """The rows of the most frequent training words, to be saved in a bundle; empty where tokens are characters."""
        words = self.featurizer.vocabulary.words[:_LISTED]
        if not words or self.featurizer.plain_keys(words) is not words:
            return {}
        with self._lock:
            (rows,) = self._numbers([words])
            return {"vectors": self._vectors[rows], "window": self._window[rows]}

    def look_up(self, pages: Sequence[Sequence[str]]) -> tuple[Floats, NDArray[np.bool_], Floats]:
        """Vectors [B,L,D], the mask of real tokens [B,L], and the window CRF scores [B,L,C] (0 without one)."""
        with self._lock:
            rows_BL = self._numbers(list(map(self.featurizer.keys, pages)))
            return self._vectors[rows_BL], rows_BL > 0, window_scores(rows_BL, self._window)

    def _numbers(self, pages: Sequence[Sequence[Key]]) -> Ints:
        if len(self._rows) >= _REMEMBERED:
            self._forget()
        known = self._rows
        keys = list(chain.from_iterable(pages))
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
        words, vectors = self.featurizer.look_up(keys)
        end = first + len(words)
        if end > len(self._vectors):
            size = max(end, 2 * len(self._vectors))
            self._vectors, self._window = (_longer(each, size) for each in (self._vectors, self._window))
        summed = self._rows_of["words"][np.fromiter((word.word for word in words), dtype=np.int64, count=len(words))]
        if "ngrams" in self._rows_of:
            counts = np.fromiter((len(word.ngrams) for word in words), dtype=np.float32, count=len(words))
            written = _sums(self._rows_of["ngrams"], [word.ngrams for word in words]) / counts[:, None]
            written += self._rows_of["shapes"][np.fromiter((word.shape for word in words), dtype=np.int64, count=len(words))]
            if "parts_of_speech" in self._rows_of:
                written += _sums(self._rows_of["parts_of_speech"], [word.parts_of_speech for word in words])
            summed = summed + written
        self._vectors[first:end] = self._scale * summed
        if vectors is not None and self._projects:
            self._vectors[first:end] += self._projected(vectors)
        if places := len(self._edge):
            scores = _sums(self._window_weights, [rows for word in words for rows in word.window])
            self._window[first:end] = scores.reshape(len(words), places, -1)

    def _projected(self, vectors: Floats) -> Floats:
        """Pretrained vectors of words, projected to the model's width."""
        x = vectors.astype(float)
        x -= x.mean(1, keepdims=True)
        x /= np.sqrt((x * x).mean(1, keepdims=True) + _NORM_EPSILON)
        found: Floats = ((x * self._norm + self._shift) @ self._turn.T + self._move).astype(np.float32)
        return found


def _longer(rows: Floats, size: int) -> Floats:
    longer: Floats = np.zeros((size, *rows.shape[1:]), dtype=np.float32)
    longer[: len(rows)] = rows
    return longer


def _sums(table: Floats, numbers: Sequence[list[int]]) -> Floats:
    """For each list of row numbers, the sum of these rows of a table; 0 for an empty list."""
    counts = np.fromiter(map(len, numbers), dtype=np.int64, count=len(numbers))
    sums: Floats = np.zeros((len(numbers), table.shape[1]), dtype=np.float32)
    some = counts > 0
    if some.any():
        rows = table[list(chain.from_iterable(numbers))]
        sums[some] = np.add.reduceat(rows, (counts.cumsum() - counts)[some], axis=0)
    return sums
