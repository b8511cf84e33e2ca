"""The user's words (brands, product lines): wherever they stand they are one token, whatever the segmenter thinks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from batag.pages.page import Offsets
from batag.pages.stopwords import read_words


class Dictionary:
    """Terms found longest first, upper and lower case alike; a Latin term is not found inside a longer Latin word."""

    def __init__(self, terms: Iterable[str]) -> None:
        # A term whose lower case is longer (only a few letters) would shift offsets: it is matched as it is.
        self.terms = tuple(dict.fromkeys(lower(term.strip()) for term in terms if term.strip()))

    @classmethod
    def read(cls, path: Path) -> Dictionary:
        """One term a line; `#` starts a comment."""
        return cls(read_words(path))

    @cached_property
    def _matcher(self) -> Any:
        from ahocorasick_rs import AhoCorasick, MatchKind

        return AhoCorasick(self.terms, matchkind=MatchKind.LeftmostLongest)

    def __len__(self) -> int:
        return len(self.terms)

    def find(self, text: str) -> Iterator[Offsets]:
        """Where terms stand in a text, without overlaps."""
        for _, start, end in self._matcher.find_matches_as_indexes(lower(text)):
            if not (_inside_word(text, start) or _inside_word(text, end)):
                yield start, end


def lower(text: str) -> str:
    """Lower case, character by character where the whole would change its length."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def _inside_word(text: str, place: int) -> bool:
    """Whether a cut at this place would split a Latin word or a number."""
    return 0 < place < len(text) and _latin(text[place - 1]) and _latin(text[place])


def _latin(character: str) -> bool:
    return character < "\u0250" and character.isalnum()
