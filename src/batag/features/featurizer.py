"""Turn words into features, in the same way for training and for every engine.

Shapes: B pages, L tokens, U distinct words of a batch, K pretrained features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, groupby
from threading import Lock
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from batag.features.batches import Floats
from batag.features.pretrained import PretrainedFeatures
from batag.features.repeats import REPEATED, repeated
from batag.features.term_lists import Hiding, TermLists
from batag.features.term_matcher import Hides
from batag.features.vocabulary import PADDING, Vocabulary
from batag.features.word import Key, WordFeatures, hashed, list_parts, ngram_rows, shape, whole_word, window_rows
from batag.segmentation.segmentation import SPACE
from batag.segmentation.speech import has_han_or_kana, parts_of_speech, words_around

_REMEMBERED = 100_000
_CHARACTERS = 0.8
_LOCK = Lock()
_RICH: dict[str, Any] = {
    "min_ngram": 1,
    "max_ngram": 4,
    "ngram_buckets": 20_000,
    "shape_buckets": 1_000,
    "part_of_speech_buckets": 0,
    "spaces": False,
    "repeats": False,
}
Array = NDArray[Any]
Ints = NDArray[np.int64]
T = TypeVar("T")
V = TypeVar("V")


@dataclass(frozen=True)
class Batch(Generic[T]):
    """The features of a batch of pages, as NumPy arrays or as tensors.

    `words` and `mask` are [B,L]. Features of the spelling are stored once per distinct word, and `word_of_token` [B,L] maps
    tokens to them: the shape, and the concatenated rows of n-grams, parts of speech and window features, with `..._offsets`
    where each word begins. `pretrained` is [B,L,K].
    """

    words: T
    mask: T
    word_of_token: T
    ngrams: T | None = None
    ngram_offsets: T | None = None
    shapes: T | None = None
    parts_of_speech: T | None = None
    part_of_speech_offsets: T | None = None
    window: T | None = None
    window_offsets: T | None = None
    pretrained: T | None = None

    def map(self, change: Callable[[T], V]) -> Batch[V]:
        """Apply a function to every array: `batch.map(torch.from_numpy)`."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        changed: dict[str, Any] = {name: None if value is None else change(value) for name, value in values.items()}
        return Batch(**changed)


@dataclass(frozen=True, slots=True)
class _Known:
    """The cached features of a word, in compact arrays."""

    word: int
    ngrams: Ints
    shape: int
    parts_of_speech: Ints
    window: tuple[Ints, ...]
    pretrained: Floats | None


@dataclass(frozen=True, kw_only=True)
class Featurizer:
    """Computes all features of words: number, hashed n-grams, shape, parts of speech, features of a window CRF that sees
    `window` words to each side, pretrained features, and the names of term lists that it is found in. Without `ngram_buckets`
    a word has only its number.

    It is immutable; the features of words are cached, up to a limit.
    """

    vocabulary: Vocabulary
    pretrained: PretrainedFeatures | None = None
    min_ngram: int = 1
    max_ngram: int = 4
    ngram_buckets: int = 0
    shape_buckets: int = 0
    part_of_speech_buckets: int = 0
    spaces: bool = False
    repeats: bool = False
    window: int = 0
    window_buckets: int = 1
    terms: TermLists | None = None
    _rows: dict[Key, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    _known: list[_Known] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def build(
        cls,
        vocabulary: Vocabulary,
        *,
        input: Mapping[str, Any],
        head: Mapping[str, Any] = MappingProxyType({}),
        pretrained: PretrainedFeatures | None = None,
        terms: TermLists | None = None,
    ) -> Featurizer:
        """Build the featurizer from the `input` and `head` tables of a recipe or bundle."""
        sizes = {name: input.get(name, usual) for name, usual in _RICH.items()} if input["kind"] == "rich" else {}
        window = {"window": head.get("window_crf", 0), "window_buckets": head.get("window_crf_buckets", 1)}
        return cls(vocabulary=vocabulary, pretrained=pretrained, terms=terms, **sizes, **window)

    @staticmethod
    def fold(word: str) -> str:
        """The word in lower case, as the vocabulary has it; shapes are computed from the original word."""
        return word.lower()

    @property
    def pretrained_width(self) -> int:
        """The number of pretrained features per token; 0 without any."""
        return self.pretrained.width if self.pretrained is not None else 0

    def keys(self, words: Sequence[str], *, hides: Hides | None = None) -> Sequence[Key]:
        """The cache keys of the words of a page. A word in a listed name, behind a space or repeated has a code in its key."""
        spaced: set[int] = set()
        if self.spaces:
            spaced = {number for number, word in enumerate(words) if word[:1] == SPACE and len(word) > 1}
            words = self.unmarked(words)
        plain = self.plain_keys(words)
        if not self.part_of_speech_buckets:
            return plain
        codes = self.terms.matcher.codes(words, hides=hides, spaced=spaced) if self.terms else {}
        again = repeated(words) if self.repeats else ()
        for number, code in (*((number, SPACE) for number in spaced), *((number, REPEATED) for number in again)):
            codes[number] = f"{codes[number]} {code}" if number in codes else code
        if not codes:
            return plain
        keys = list(plain)
        for number, code in codes.items():
            key = keys[number]
            word, around, place = (key, key, "") if isinstance(key, str) else key[:3]
            keys[number] = (word, around, place, code)
        return keys

    def unmarked(self, words: Sequence[str]) -> Sequence[str]:
        """The words without the marks of spaces."""
        return [word[1:] if word[:1] == SPACE and len(word) > 1 else word for word in words] if self.spaces else words

    def plain_keys(self, words: Sequence[str]) -> Sequence[Key]:
        """The keys without term lists. Where tokens are single characters (as in many corpora), a key includes the dictionary
        word around the character."""
        if not self.part_of_speech_buckets or list(map(len, words)).count(1) < _CHARACTERS * len(words):
            return words
        keys: list[Key] = []
        for single, run in groupby(words, key=lambda word: len(word) == 1 and not word.isspace()):
            tokens = list(run)
            joined = single and has_han_or_kana("".join(tokens))
            keys += ((token, *around) for token, around in zip(tokens, words_around(tokens), strict=True)) if joined else tokens
        return keys

    def features(self, key: Key, clusters: Sequence[str] = ()) -> WordFeatures:
        """The features of one word; `clusters` are its clusters in the pretrained features."""
        word, around, place = (key, key, "") if isinstance(key, str) else key[:3]
        named = (*parts_of_speech(around), *clusters) if self.part_of_speech_buckets or self.window else ()
        parts = [*(f"{part}{place}" for part in (*named, *place)), *list_parts(key)] if self.part_of_speech_buckets else []
        ngrams = {"min_ngram": self.min_ngram, "max_ngram": self.max_ngram, "buckets": self.ngram_buckets}
        return WordFeatures(
            self.vocabulary.number(self.fold(word) if self.ngram_buckets else word),
            ngram_rows(self.fold(around), **ngrams) if self.ngram_buckets else [],
            hashed(shape(word), self.shape_buckets) if self.ngram_buckets else 0,
            [hashed(part, self.part_of_speech_buckets) for part in parts],
            window_rows(key, named, side=self.window, buckets=self.window_buckets) if self.window else [],
        )

    def look_up(self, keys: Sequence[Key]) -> tuple[list[WordFeatures], Floats | None]:
        """The features of words, and their pretrained vectors [N,K] or None."""
        words = self.pretrained.words if self.pretrained is not None else None
        if words is None:
            return list(map(self.features, keys)), None
        vectors, clusters = words.look_up(list(map(whole_word, keys)))
        return list(map(self.features, keys, clusters)), vectors

    def batch(
        self,
        pages: Sequence[Sequence[str]],
        *,
        window: bool = True,
        pretrained: bool = True,
        hiding: Hiding | None = None,
    ) -> Batch[Array]:
        """The features of pages (lists of words), padded to one length; `window` and `pretrained` features can be left out, and
        listed names be hidden."""
        with _LOCK:
            keys = [self.keys(words, hides=hiding.of_page(number) if hiding else None) for number, words in enumerate(pages)]
            rows_BL = self._numbered(keys)
            distinct, inverse = _distinct(rows_BL)
            known = [self._known[row] for row in distinct]
        of_token_BL = inverse.reshape(rows_BL.shape)
        words_U = np.fromiter((each.word for each in known), dtype=np.int64, count=len(known))
        arrays: dict[str, Array] = {"words": words_U[of_token_BL], "mask": rows_BL > 0, "word_of_token": of_token_BL}
        if self.ngram_buckets:
            arrays["ngrams"], arrays["ngram_offsets"] = _concatenated([each.ngrams for each in known])
            arrays["shapes"] = np.array([each.shape for each in known])
        if self.part_of_speech_buckets:
            parts = [each.parts_of_speech for each in known]
            arrays["parts_of_speech"], arrays["part_of_speech_offsets"] = _concatenated(parts)
        if window and self.window:
            arrays["window"], arrays["window_offsets"] = _concatenated([rows for each in known for rows in each.window])
        if pretrained and self.pretrained is not None:
            vectors = [each.pretrained for each in known if each.pretrained is not None]
            arrays["pretrained"] = self.pretrained.of(
                [*map(self.unmarked, pages)], np.stack(vectors)[of_token_BL] if vectors else None
            )
        return Batch(**arrays)

    def _numbered(self, pages: Sequence[Sequence[Key]]) -> Ints:
        """The cache row of each token, 0 at padding."""
        if not self._known or len(self._known) > _REMEMBERED:
            self._forget()
        if new := [key for key in dict.fromkeys(chain.from_iterable(pages)) if key not in self._rows]:
            found, vectors = self.look_up(new)
            for number, (key, each) in enumerate(zip(new, found, strict=True)):
                self._rows[key] = len(self._known)
                self._known.append(_compact(each, None if vectors is None else vectors[number]))
        rows = np.zeros((len(pages), max(map(len, pages))), dtype=np.int64)
        for place, keys in enumerate(pages):
            rows[place, : len(keys)] = [self._rows[key] for key in keys]
        return rows

    def _forget(self) -> None:
        words = self.pretrained.words if self.pretrained is not None else None
        padding = WordFeatures(PADDING, [0], 0, [], [[] for _ in range(2 * self.window + 1)])
        self._rows.clear()
        self._known[:] = [_compact(padding, None if words is None else np.zeros(words.width, dtype=np.float32))]


def _compact(features: WordFeatures, vector: Floats | None) -> _Known:
    ngrams, parts, *window = (
        np.array(rows, dtype=np.int64) for rows in (features.ngrams, features.parts_of_speech, *features.window)
    )
    return _Known(features.word, ngrams, features.shape, parts, tuple(window), vector)


def _concatenated(rows: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Concatenate arrays, and return the offsets at which each begins."""
    return np.concatenate(rows), np.cumsum([0, *map(len, rows[:-1])])


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The distinct rows of a batch in order of appearance, and the index of each token's row among them."""
    distinct, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[inverse]
