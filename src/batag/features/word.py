"""Features of a word's spelling, as rows of hash tables: n-grams, shape, window features."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

_RUNS = re.compile(r"(.)\1+")
_LONGEST = 64
_AFFIX = 3
_BEGUN = {step: crc32(f"{step}:".encode()) for step in range(-16, 17)}
Key = str | tuple[str, str, str] | tuple[str, str, str, str]
"""A word; or a character with the dictionary word around it and its position there. A word inside a listed name has its code as
the fourth part (the second is then the word itself, the third empty)."""


class WordFeatures(NamedTuple):
    """The features of a word: its number, and the rows of its n-grams, shape and parts of speech; `window` has the rows of the
    window CRF for each place of the window."""

    word: int
    ngrams: list[int]
    shape: int
    parts_of_speech: list[int]
    window: list[list[int]]


def whole_word(key: Key) -> str:
    """The word of a key; for a character, the dictionary word around it."""
    return key if isinstance(key, str) else key[1]


def list_parts(key: Key) -> list[str]:
    """The lists that a word is found in, with its place in the name: `list:B-brand`."""
    return [f"list:{each}" for each in key[3].split(" ")] if len(key) == 4 and not isinstance(key, str) else []


def hashed(text: str, buckets: int) -> int:
    """The row of a text in a hash table with `buckets` rows."""
    return crc32(text.encode(errors="replace")) % buckets


def ngram_rows(word: str, *, min_ngram: int, max_ngram: int, buckets: int) -> list[int]:
    """The rows of all character n-grams of `<word>`; a very long word is reduced to its two ends."""
    if len(word) > 2 * _LONGEST:
        word = word[:_LONGEST] + word[-_LONGEST:]
    letters = [letter.encode(errors="replace") for letter in f"<{word}>"]
    rows: list[list[int]] = [[] for _ in range(max_ngram)]
    for at in range(len(letters)):
        checksum = 0
        for size, letter in enumerate(letters[at : at + max_ngram]):
            # A longer n-gram goes on with the checksum of the shorter one.
            checksum = crc32(letter, checksum)
            rows[size].append(checksum % buckets)
    # A bare edge mark is the same in every word.
    rows[0] = [each for each, letter in zip(rows[0], letters, strict=True) if letter not in (b"<", b">")]
    return [each for of_size in rows[min_ngram - 1 :] for each in of_size] or [0]


def window_rows(key: Key, parts_of_speech: Sequence[str], *, side: int, buckets: int) -> list[list[int]]:
    """The rows of the window features of a word for each place, from `side` words before to `side` words after the labelled
    word."""
    own, near, far = window_features(key, parts_of_speech)
    encoded = [feature.encode(errors="replace") for feature in own]
    rows = []
    for step in range(-side, side + 1):
        # The features of a neighbour are the first ones of the word itself.
        count = len((own, near, far)[min(abs(step), 2)])
        rows.append([crc32(feature, _BEGUN[step]) % buckets for feature in encoded[:count]])
    return rows


def window_features(key: Key, parts_of_speech: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The window CRF's features of a word if it is the labelled word, if it is adjacent to it, and if it is further away."""
    word, around, place = (key, key, "") if isinstance(key, str) else key[:3]
    around = around[:_LONGEST].lower()
    far = [f"w={word[:_LONGEST]}", f"shape={shape(word)}", *list_parts(key)]
    near = far + [f"part={part}{place}" for part in parts_of_speech]
    sizes = range(1, _AFFIX + 1)
    affixes = [affix for size in sizes if size <= len(word) for affix in (f"first={word[:size]}", f"last={word[-size:]}")]
    ngrams = [f"gram={around[at : at + size]}" for size in sizes for at in range(len(around) - size + 1)]
    inside = [f"in={around}{place}"] if place else []
    return [*near, "any", *affixes, *ngrams, *inside], near, far


@lru_cache(1024)
def shape(word: str) -> str:
    """The character classes of a word with runs shortened: NORDVIK is X, 120cm is dx, ルモラ is k."""
    return _RUNS.sub(r"\1", word[:_LONGEST].translate(_CLASSES))


def _character_class(character: str) -> str:
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


class _Classes(dict[int, str]):
    """A cache of the class of each character."""

    def __missing__(self, code: int) -> str:
        self[code] = _character_class(chr(code))
        return self[code]


_CLASSES = _Classes()
