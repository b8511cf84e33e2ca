"""What is known of a word by looking at it: number, character n-grams, shape, parts of speech, facts for the second reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

from batag.features.vocabulary import Vocabulary
from batag.segmentation.speech import has_han_or_kana, parts_of_speech, words_around

_RUNS = re.compile(r"(.)\1+")
_LONGEST = 64
_AFFIX = 3
_CHARACTERS = 0.8
_BEGUN = {step: crc32(f"{step}:".encode()) for step in range(-16, 17)}
Key = str | tuple[str, str, str]
"""A word; or a character, the word that it lies in and its place there."""


class Spelt(NamedTuple):
    """A word in numbers: its own, those of its n-grams, shape and parts of speech; `near` has the rows of the second reader,
    a list for each place that the word may be seen at."""

    word: int
    grams: list[int]
    shape: int
    parts: list[int]
    near: list[list[int]]


@dataclass(kw_only=True)
class Speller:
    """Turns words into numbers, the same for training and for every engine; `side` words to each side and `rows` are those of
    the second reader, if there is one."""

    vocabulary: Vocabulary
    shortest: int = 1
    longest: int = 4
    buckets: int = 0
    shapes: int = 0
    parts: int = 0
    side: int = 0
    rows: int = 0

    @property
    def places(self) -> int:
        """How many places the second reader sees a word at; 0 without one."""
        return 2 * self.side + 1 if self.side else 0

    @staticmethod
    def fold(word: str) -> str:
        """The form that words with n-grams are known by; the shape tells the case."""
        return word.lower()

    def keys(self, words: Sequence[str]) -> Sequence[Key]:
        """Where tokens are single characters (as in many corpora), each is known with the word that it lies in."""
        if not self.parts or list(map(len, words)).count(1) < _CHARACTERS * len(words):
            return words
        keys: list[Key] = []
        for single, run in groupby(words, key=lambda word: len(word) == 1 and not word.isspace()):
            tokens = list(run)
            joined = single and has_han_or_kana("".join(tokens))
            keys += ((token, *around) for token, around in zip(tokens, words_around(tokens), strict=True)) if joined else tokens
        return keys

    def spell(self, key: Key, kinds: Sequence[str] = ()) -> Spelt:
        """What is known of one word; `kinds` are what others take it for."""
        word, around, place = (key, key, "") if isinstance(key, str) else key
        spoken = (*parts_of_speech(around), *kinds) if self.parts or self.side else ()
        parts = [f"{part}{place}" for part in (*spoken, *place)] if self.parts else []
        return Spelt(
            self.vocabulary.number(self.fold(word) if self.buckets else word),
            self._hashed(self.fold(around)) if self.buckets else [],
            _hash(shape(word), self.shapes) if self.buckets else 0,
            [_hash(part, self.parts) for part in parts],
            self.near(key, spoken) if self.side else [],
        )

    def near(self, key: Key, parts: Sequence[str]) -> list[list[int]]:
        """The rows of what a word with these parts of speech speaks for, for each of the places that it may be seen at."""
        own, near, far = facts_of(key, parts)
        told = [fact.encode(errors="replace") for fact in own]
        rows, found = self.rows, []
        for step in range(-self.side, self.side + 1):
            # What is told of a neighbour is the beginning of what is told of the word itself.
            facts = told[: len((own, near, far)[min(abs(step), 2)])]
            begun = _BEGUN[step]
            found.append([crc32(fact, begun) % rows for fact in facts])
        return found

    def _hashed(self, word: str) -> list[int]:
        """The buckets of all n-grams of `<word>`; of a very long word, of its two ends."""
        if len(word) > 2 * _LONGEST:
            word = word[:_LONGEST] + word[-_LONGEST:]
        marked = f"<{word}>"
        letters = [letter.encode(errors="replace") for letter in marked]
        hashes: list[list[int]] = [[] for _ in range(self.longest)]
        for at in range(len(letters)):
            checksum = 0
            for size, letter in enumerate(letters[at : at + self.longest]):
                # A longer n-gram goes on with the checksum of the shorter one.
                checksum = crc32(letter, checksum)
                hashes[size].append(checksum % self.buckets)
        # A bare edge mark is the same in every word.
        hashes[0] = [each for each, letter in zip(hashes[0], letters, strict=True) if letter not in (b"<", b">")]
        return [each for of_size in hashes[self.shortest - 1 :] for each in of_size] or [0]


def whole_word(key: Key) -> str:
    """A word; of a character, the word that it lies in."""
    return key if isinstance(key, str) else key[1]


def facts_of(key: Key, parts: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """What is known of a word that is to be labelled, of one next to it, and of one further off."""
    word, around, place = (key, key, "") if isinstance(key, str) else key
    around = around[:_LONGEST].lower()
    far = [f"w={word[:_LONGEST]}", f"shape={shape(word)}"]
    near = far + [f"part={part}{place}" for part in parts]
    sizes = range(1, _AFFIX + 1)
    ends = [end for size in sizes if size <= len(word) for end in (f"first={word[:size]}", f"last={word[-size:]}")]
    grams = [f"gram={around[at : at + size]}" for size in sizes for at in range(len(around) - size + 1)]
    inside = [f"in={around}{place}"] if place else []
    return [*near, "any", *ends, *grams, *inside], near, far


@lru_cache(1024)
def shape(word: str) -> str:
    """The kinds of its characters, runs shortened: NORDVIK is X, 120cm is dx, ルモラ is k."""
    return _RUNS.sub(r"\1", word[:_LONGEST].translate(_KINDS))


def _hash(text: str, rows: int) -> int:
    return crc32(text.encode(errors="replace")) % rows


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


class _Kinds(dict[int, str]):
    """The kind of each character, by its code; looked at once."""

    def __missing__(self, code: int) -> str:
        self[code] = _kind(chr(code))
        return self[code]


_KINDS = _Kinds()
