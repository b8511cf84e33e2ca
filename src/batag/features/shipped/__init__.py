"""The pretrained features that come with batag: word vectors for Japanese and English, a character network for Chinese."""

import hashlib
from collections.abc import Callable, Mapping
from importlib import resources

import numpy as np
from safetensors.numpy import load

from batag.errors import InputError
from batag.features.batches import Floats
from batag.features.character_vectors import CharacterVectors
from batag.features.pretrained import PretrainedWords, join_words
from batag.features.word_vectors import Rows, WordVectors
from batag.pages.languages import LANGUAGES

_AGAIN = "Install batag again"
_DIGESTS = {
    "en.safetensors": "0520d532067f5925ceeae0c2a49ef6334120669d531c103cc7bb1d596a4f2155",
    "en.txt.zst": "f622bda52ab8d95b62a89160d5f34bf24c371636889b29ca81be10a34a7db88e",
    "ja.safetensors": "17163744d1c1e4cbc5a2569537dc542c9b81d267ef50e44f03eccc886f51a126",
    "ja.txt.zst": "d4c8733c1c8276f51e6436841bc95a4603041f800faaad494c5ef1e8b1db918d",
    "zh.safetensors": "544fea367ca04d9c6bb306d768774b99338bc735e7a38637231708c42c188e18",
    "zh.txt.zst": "9339c4ad96f4a9449bf25c4ab3158aa3183dac83335779a169d4c0eae8eebf6a",
}
"""SHA-256 of each file, checked when it is read."""
_ENOUGH = 0.1
"""Fraction of the pages that must be in a language for its pretrained features to be used."""


def words_for(pages: Mapping[str, int]) -> PretrainedWords | None:
    """The pretrained features for pages with these counts by language, or None."""
    enough = max(1.0, _ENOUGH * sum(pages.values()))
    count = {name: sum(pages.get(row.name, 0) for row in LANGUAGES.values() if row.pretrained == name) for name in SHIPPED}
    return join_words([make() for name, make in SHIPPED.items() if count[name] >= enough])


def shipped_digest(name: str) -> str:
    """A digest of the shipped features of that name."""
    return hashlib.sha256("".join(_DIGESTS[f"{name}.{kind}"] for kind in ("txt.zst", "safetensors")).encode()).hexdigest()


def japanese_vectors() -> WordVectors:
    """Vectors of the most frequent Japanese words."""
    words, found = _read("ja")
    return WordVectors(words.split("\n"), *_table(found), language="ja")


def english_vectors() -> WordVectors:
    """Vectors of the most frequent English words, and their clusters, coarse and fine."""
    words, found = _read("en")
    clusters = np.stack((found["coarse"][found["fine"]], found["fine"]), axis=1)
    return WordVectors(words.split("\n"), *_table(found), clusters=clusters, language="en")


def chinese_characters() -> CharacterVectors:
    """A network that reads Chinese words (Traditional or Simplified), and Latin words among them."""
    text, found = _read("zh")
    characters, *names = text.split("\n")
    return CharacterVectors(characters, names, found, language="zh")


def _read(name: str) -> tuple[str, dict[str, np.ndarray]]:
    import zstandard

    text, numbers = (_bytes(f"{name}.{kind}") for kind in ("txt.zst", "safetensors"))
    return zstandard.decompress(text).decode(), load(numbers)


def _bytes(name: str) -> bytes:
    """The verified bytes of a shipped file."""
    path = resources.files(__name__).joinpath(name)
    try:
        found = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path), todo=_AGAIN) from error
    if hashlib.sha256(found).hexdigest() != _DIGESTS[name]:
        raise InputError("is not the file that came with batag (its SHA-256 differs)", where=str(path), todo=_AGAIN)
    return found


def _table(found: Mapping[str, np.ndarray]) -> tuple[Floats, Rows]:
    """The vectors after a row of zeros, and the row of each word."""
    table = np.concatenate((np.zeros((1, found["vectors"].shape[1])), found["vectors"])).astype(np.float32)
    return table, found["rows"].astype(np.int32) + 1


SHIPPED: Mapping[str, Callable[[], PretrainedWords]] = {
    "ja": japanese_vectors,
    "en": english_vectors,
    "zh": chinese_characters,
}
"""The shipped features by their names in the table of languages."""
