"""Word vectors that a small convolutional network computes from the characters of a word, known or unknown.

Shapes: N words, T characters of all words concatenated, U distinct ones, K features per character, H hidden units, D features
per word, E word classes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from batag.features.batches import Floats
from batag.features.pretrained import Clusters, PretrainedWords

_LONGEST = 32
_AT_ONCE = 512
_FEW = 64
_DIGITS = 4
_PLACES = ("looks", "or")
Arrays = Mapping[str, NDArray[Any]]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


class CharacterVectors(PretrainedWords):
    """Each word is read in lower case by two convolutions over three characters; the mean and the maximum over the characters
    are projected. A linear classifier gives the word's two most probable word classes.

    It computes in float64 and rounds, so that the features of a word do not depend on the other words of the batch.
    """

    kind = "character_vectors"

    def __init__(self, characters: str, names: Sequence[str], arrays: Arrays, *, language: str | None = None) -> None:
        """`rows` gives the row of each character in the table `characters` [C,K] (rows may be shared; the last one is for
        unknown characters). The layers are `first` [H,3K], `second` [H,3H], `last` [D,2H] and `word_classes` [E,D] (a row per
        name), each with a `..._bias`."""
        self.characters, self.names, self._arrays, self.language = characters, tuple(names), dict(arrays), language
        self._row_of = dict(zip(characters, arrays["rows"].tolist(), strict=True))
        given = {name: value.astype(np.float64) for name, value in arrays.items()}
        self._characters_CK, self._last_D2H, self._last_bias = given["characters"], given["last"], given["last_bias"]
        self._first, self._second = (_Convolution(given[name], given[f"{name}_bias"]) for name in ("first", "second"))
        self._classes_ED, self._classes_bias = given["word_classes"], given["word_classes_bias"]
        self.width = len(self._last_bias)

    def look_up(self, words: Sequence[str]) -> tuple[Floats, list[Clusters]]:
        find = self._row_of.get
        rows = [[find(each, -1) for each in word[:_LONGEST].lower()] or [-1] for word in words]
        parts = [self._read(rows[first : first + _AT_ONCE]) for first in range(0, len(rows), _AT_ONCE)]
        found: Doubles = np.concatenate([np.zeros((0, self.width)), *parts])
        # What is left to chance in the order of sums is far below this.
        found = np.round(found, _DIGITS)
        most = np.argsort(-(found @ self._classes_ED.T + self._classes_bias), axis=1, kind="stable")[:, : len(_PLACES)]
        classes = [
            tuple(f"{place}={self.names[number]}" for place, number in zip(_PLACES, own, strict=False)) for own in most.tolist()
        ]
        return found.astype(np.float32), classes

    def _read(self, words: Sequence[Sequence[int]]) -> Doubles:
        lengths_N = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        ends_N = lengths_N.cumsum()
        begins_N = ends_N - lengths_N
        rows_T = np.fromiter(chain.from_iterable(words), dtype=np.int64, count=int(ends_N[-1]))
        if len(rows_T) < _FEW:
            asked_T3H = self._first.products(self._characters_CK[rows_T])
        else:
            distinct_U, which_T = np.unique(rows_T, return_inverse=True)
            asked_T3H = self._first.products(self._characters_CK[distinct_U])[which_T]
        x_TH = self._first.sums(asked_T3H, begins_N, ends_N)
        x_TH = self._second.sums(self._second.products(x_TH), begins_N, ends_N)
        means_NH = np.add.reduceat(x_TH, begins_N) / lengths_N[:, None]
        found: Doubles = np.concatenate((means_NH, np.maximum.reduceat(x_TH, begins_N)), axis=1) @ self._last_D2H.T
        return found + self._last_bias

    def files(self) -> dict[str, bytes]:
        names = {"characters": self.characters, "word_classes": self.names}
        return self.named(json.dumps(names, ensure_ascii=False).encode(errors="surrogatepass"), save(self._arrays))

    @classmethod
    def of_files(cls, names: bytes, arrays: bytes, *, language: str | None = None) -> CharacterVectors:
        """Read what `files` wrote; raises ValueError if it is damaged or was changed."""
        listed, found = json.loads(names), load(arrays)
        known, classes = (listed.get(key) if isinstance(listed, dict) else None for key in ("characters", "word_classes"))
        if not isinstance(known, str) or not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
            raise ValueError("the names are not a text of characters and a list of word classes")
        (count, given), (inside,), (width,) = (found[name].shape for name in ("characters", "first_bias", "last_bias"))
        wanted = {
            "rows": (len(known),),
            "characters": (count, given),
            "first": (inside, 3 * given),
            "first_bias": (inside,),
            "second": (inside, 3 * inside),
            "second_bias": (inside,),
            "last": (width, 2 * inside),
            "last_bias": (width,),
            "word_classes": (len(classes), width),
            "word_classes_bias": (len(classes),),
        }
        for name, shape in wanted.items():
            kind = np.uint16 if name == "rows" else np.float16
            if found[name].shape != shape or found[name].dtype != kind or not np.isfinite(found[name]).all():
                raise ValueError(f"{name} is not {'x'.join(map(str, shape))} finite {np.dtype(kind)} numbers")
        if not count or not (found["rows"] < count).all():
            raise ValueError("it has characters without a row")
        return cls(known, classes, found, language=language)


class _Convolution:
    """A convolution over a character and the ones before and after it, with zero padding, followed by ReLU."""

    def __init__(self, weight: Doubles, bias: Doubles) -> None:
        self._weight_K3H = np.concatenate(np.split(weight, 3, axis=1)).T.copy()
        self._bias = bias

    def products(self, x_TK: Doubles) -> Doubles:
        """The contributions of a character to the next one, to itself and to the one before."""
        found: Doubles = x_TK @ self._weight_K3H
        return found

    def sums(self, given_T3H: Doubles, begins_N: Ints, ends_N: Ints) -> Doubles:
        size = len(self._bias)
        onwards, own, back = given_T3H[:, :size], given_T3H[:, size : 2 * size], given_T3H[:, 2 * size :]
        onwards[ends_N - 1] = 0.0
        back[begins_N] = 0.0
        found: Doubles = own + self._bias
        found[1:] += onwards[:-1]
        found[:-1] += back[1:]
        return np.maximum(found, 0.0, out=found)
