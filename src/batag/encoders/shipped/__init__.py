"""What comes with batag to know new words by: word vectors for Japanese and English, a reader of characters for Chinese."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import resources

import numpy as np

from batag.encoders.batches import Floats
from batag.encoders.character_vectors import CharacterVectors
from batag.encoders.frozen import FrozenWords, join_words
from batag.encoders.word_vectors import Rows, WordVectors

SHIPPED = ("ja", "en", "zh")
_ENOUGH = 0.1
"""This share of the pages has to be in a language for what is known of its words to be worth its place."""


def words_for(pages: Mapping[str, int], *, names: Collection[str] = SHIPPED) -> FrozenWords | None:
    """What is known of words of pages of which so many are in each language, if there is something; `names` may be fewer."""
    enough = max(1.0, _ENOUGH * sum(pages.values()))
    made: dict[str, tuple[tuple[str, ...], Callable[[], FrozenWords]]] = {
        "ja": (("ja",), japanese_vectors),
        "en": (("en",), english_vectors),
        "zh": (("zh-Hant", "zh-Hans"), chinese_characters),
    }
    found = [
        make()
        for name, (languages, make) in made.items()
        if name in names and sum(pages.get(each, 0) for each in languages) >= enough
    ]
    return join_words(found)


def japanese_vectors() -> WordVectors:
    """Vectors of the most frequent Japanese words."""
    words, found = _read("ja")
    return WordVectors(words.split("\n"), *_table(found))


def english_vectors() -> WordVectors:
    """Vectors of the most frequent English words, and the groups of like words that they stand in, coarse and fine."""
    words, found = _read("en")
    groups = np.stack((found["coarse"][found["fine"]], found["fine"]), axis=1)
    return WordVectors(words.split("\n"), *_table(found), groups=groups, kind="english")


def chinese_characters() -> CharacterVectors:
    """A network that reads Chinese words, Traditional or Simplified, and Latin ones among them."""
    text, found = _read("zh")
    characters, *names = text.split("\n")
    return CharacterVectors(characters, names, found)


def _read(name: str) -> tuple[str, dict[str, np.ndarray]]:
    import zstandard
    from safetensors.numpy import load

    folder = resources.files(__name__)
    text = zstandard.decompress(folder.joinpath(f"{name}.txt.zst").read_bytes()).decode()
    return text, load(folder.joinpath(f"{name}.safetensors").read_bytes())


def _table(found: Mapping[str, np.ndarray]) -> tuple[Floats, Rows]:
    """The vectors after a row of zeros, and which one is whose."""
    table = np.concatenate((np.zeros((1, found["vectors"].shape[1])), found["vectors"])).astype(np.float32)
    return table, found["rows"].astype(np.int32) + 1
