"""Words that the title and the rest of a page share: what the description says again is mostly what the page sells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from batag.terms.plural import singular

REPEATED = "="
"""The code of a word that another part of its page has too."""


def repeated(words: Sequence[str]) -> list[int]:
    """The numbers of the words of the main field that another field repeats, and of these repeats. Case and English plurals do
    not matter; single letters and signs do not count."""
    border = next((number for number, word in enumerate(words) if word[:1] == "<" and word[-1:] == ">" and len(word) > 2), 0)
    if not border:
        return []
    forms = list(map(_form, words))
    shared = {*forms[:border]} & {*forms[border:]} - {""}
    return [number for number, form in enumerate(forms) if form in shared] if shared else []


@lru_cache(100_000)
def _form(word: str) -> str:
    """A word as it is compared; empty if it does not count."""
    if len(word) < 2 or not any(map(str.isalpha, word)) or (word[0] == "<" and word[-1] == ">"):
        return ""
    return singular(word.lower()) if word.isascii() else word.lower()
