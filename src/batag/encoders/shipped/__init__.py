"""Word vectors that come with batag, for languages in which the spelling of a new word says little of it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

import numpy as np

from batag.encoders.word_vectors import WordVectors

LANGUAGES = ("ja",)
_ENOUGH = 0.1
"""This share of the pages has to be in a language for its vectors to be worth their place."""


def vectors_for(pages: Mapping[str, int]) -> WordVectors | None:
    """The vectors for pages of which so many are in each language, if there are some."""
    enough = max(1.0, _ENOUGH * sum(pages.values()))
    return next((shipped_vectors(language) for language in LANGUAGES if pages.get(language, 0) >= enough), None)


def shipped_vectors(language: str) -> WordVectors:
    """The vectors of a language."""
    import zstandard
    from safetensors.numpy import load

    folder = resources.files(__name__)
    words = zstandard.decompress(folder.joinpath(f"{language}.txt.zst").read_bytes()).decode().split("\n")
    found = load(folder.joinpath(f"{language}.safetensors").read_bytes())
    table = np.concatenate((np.zeros((1, found["vectors"].shape[1])), found["vectors"])).astype(np.float32)
    return WordVectors(words, table, found["rows"].astype(np.int32) + 1)
