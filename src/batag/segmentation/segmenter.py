"""The contract of a segmenter and what all share: long text in chunks, forced tokens, white space left out.

A language only says where it would cut (`cut`); words of other scripts, numbers with their units, emoji sequences
and the user's dictionary are then forced to be one token each.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from batag.pages.emoji import EMOJI
from batag.pages.page import Offsets
from batag.segmentation.dictionary import Dictionary
from batag.settings import settings

_LETTER = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe0e\ufe0f\ufe20-\ufe2f"
_JOINED = rf"[{_LETTER}0-9]+(?:(?:['’&\-]|(?<=[0-9])[.,](?=[0-9]))[{_LETTER}0-9]+)*"
WORD = rf"{_JOINED}(?:%|\++(?![{_LETTER}0-9])|°[CF]?)?"
"""Latin words and numbers with what belongs to them: ABC-123, L'Oréal, H&M, 1,980, 50ml, 100%, SPF50+."""
KATAKANA = "[\u30a1-\u30fa\u30fc-\u30fe\uff66-\uff9f]{2,}"

# A cheap look at the first character spares the long pattern on plain Han text.
_MAY_START = r"(?=[\sA-Za-z0-9#*\u00c0-\u024f\u203c-\u3299\uff66-\uff9f\U0001f000-\U0001faff])"
LATIN_AND_EMOJI = rf"{_MAY_START}(?:\s+|{EMOJI}|{WORD})"
LATIN_KATAKANA_AND_EMOJI = rf"{_MAY_START}(?:\s+|{EMOJI}|{WORD}|{KATAKANA})"

_MARK = re.compile(f"[{_MARKS}]")
_MARKED = re.compile(rf"(?:{EMOJI}|{WORD}|\S)[{_MARKS}]+")

_SPACE = re.compile(r"\s")


class Segmenter(ABC):
    """Cuts cleaned text into tokens: `segment(text)` gives offsets in order, without overlaps, without white space around."""

    forced: re.Pattern[str] = re.compile(LATIN_AND_EMOJI)
    """What must be one piece, white space included (which is then left out)."""

    def __init__(self, *, dictionary: Dictionary | None = None) -> None:
        self.dictionary = dictionary

    @abstractmethod
    def cut(self, text: str) -> list[int]:
        """Where each piece ends; the pieces cover the text."""

    def segment(self, text: str) -> list[Offsets]:
        """The tokens of a text; what lies between two tokens is white space."""
        limit = settings.segment_chunk_characters
        if len(text) <= limit:
            return self._tokens(text)
        return [(start + base, end + base) for base, chunk in _chunks(text, limit) for start, end in self._tokens(chunk)]

    def _tokens(self, text: str) -> list[Offsets]:
        if not text:
            return []
        ends = self.cut(text)
        ranges = [match.span() for match in self.forced.finditer(text)]
        force(ends, ranges)
        if _MARK.search(text):
            force(ends, [match.span() for match in _MARKED.finditer(text)])
        if self.dictionary:
            force(ends, self.dictionary.find(text))
        pieces = zip([0, *ends], ends, strict=False)
        spaces = {start for start, _ in ranges if text[start].isspace()}
        return [piece for piece in pieces if piece[0] not in spaces] if spaces else list(pieces)


def force(ends: list[int], ranges: Iterable[Offsets]) -> None:
    """Make each range exactly one piece: cuts inside it go, cuts at its borders come."""
    for start, end in ranges:
        low = bisect_left(ends, start)
        high = bisect_right(ends, end, low)
        wanted = [start, end] if start else [end]
        if ends[low:high] != wanted:
            ends[low:high] = wanted


def _chunks(text: str, limit: int) -> Iterator[tuple[int, str]]:
    """Pieces of at most `limit` characters, cut after the last white space if there is one in the second half."""
    start = 0
    while len(text) - start > limit:
        end = start + limit
        for match in _SPACE.finditer(text, start + limit // 2, end):
            end = match.end()
        yield start, text[start:end]
        start = end
    yield start, text[start:]
