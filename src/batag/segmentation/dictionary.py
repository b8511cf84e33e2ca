"""The user's dictionary (brands, product lines): its terms are always one token, whatever the segmenter does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from batag.pages.cleaning import Cleaner
from batag.pages.mentions import lower
from batag.pages.page import Offsets
from batag.pages.stopwords import read_words

_fold_width = Cleaner(["width"])


class Dictionary:
    """Terms that are found longest first, in any case and width; a Latin term is not found inside a longer Latin word."""

    def __init__(self, terms: Iterable[str]) -> None:
        written = [term.strip() for term in terms if term.strip()]
        # As written too: the cleaning rule for width may be switched off.
        self.terms = tuple(dict.fromkeys(lower(form) for term in written for form in (term, _fold_width(term).text)))

    @classmethod
    def read(cls, path: Path) -> Dictionary:
        """Read one term per line; a line that starts with `#` is a comment."""
        return cls(read_words(path))

    @cached_property
    def _matcher(self) -> Any:
        from ahocorasick_rs import AhoCorasick, MatchKind

        return AhoCorasick(self.terms, matchkind=MatchKind.Standard)

    def __len__(self) -> int:
        return len(self.terms)

    def find(self, text: str) -> Iterator[Offsets]:
        """Yield the offsets of terms in a text, without overlaps."""
        matches = self._matcher.find_matches_as_indexes(lower(text), overlapping=True)
        spans = [(start, end) for _, start, end in matches if not (_inside_word(text, start) or _inside_word(text, end))]
        done = 0
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            if start >= done:
                yield start, end
                done = end


def _inside_word(text: str, place: int) -> bool:
    """Whether a cut at this position would split a Latin word or a number."""
    return 0 < place < len(text) and _latin(text[place - 1]) and _latin(text[place])


def _latin(character: str) -> bool:
    return (character < "\u0250" or "\u1e00" <= character <= "\u1eff") and character.isalnum()
