"""The interface of segmenters, and what they have in common: chunks of long text, forced tokens, white space.

A language only decides where to cut (`cut`). Words of other scripts, numbers with their units, emoji sequences and terms of the
user's dictionary are then forced to be one token each.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable

from batag.pages.cleaning import EMOJI
from batag.pages.page import Offsets
from batag.segmentation.dictionary import Dictionary
from batag.settings import settings

_LETTER = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f"
_OTHER_SCRIPTS = (*range(0x370, 0x20D0), *range(0x2100, 0x3000), *range(0xA66F, 0xAC00), 0xFB1E)
LETTER_MARKS = _ACCENTS + "".join(chr(code) for code in _OTHER_SCRIPTS if unicodedata.category(chr(code))[0] == "M")
"""The combining marks of letters, as part of a character class: accents, vowel signs (हिन्दी), points and tones. Only those up
to U+FFFF, so that searching for them stays fast."""
_MARKS = f"{LETTER_MARKS}\u20d0-\u20ff\u3099\u309a\ufe0e\ufe0f"
_RUN = rf"[{_LETTER}0-9][{_LETTER}0-9{_ACCENTS}]*"
_JOINED = rf"{_RUN}(?:(?:['’&\-]|(?<=[0-9])[.,](?=[0-9])){_RUN})*"
WORD = rf"{_JOINED}(?!(?<=[0-9])\ufe0f?\u20e3)(?:%|\++(?![{_LETTER}0-9])|°[CF]?)?"
"""Latin words and numbers with what belongs to them: ABC-123, L'Oréal, H&M, 1,980, 50ml, 100%, SPF50+."""
KATAKANA = "[\u30a1-\u30fa\u30fc-\u30fe\uff66-\uff9f]{2,}"

# A cheap look at the first character spares the long pattern on plain Han text.
_MAY_START = r"(?=[\sA-Za-z0-9#*\u00c0-\u024f\u1e00-\u1eff\u203c-\u3299\uff66-\uff9f\U0001f000-\U0001faff])"
LATIN_AND_EMOJI = rf"{_MAY_START}(?:\s+|{EMOJI}|{WORD})"
LATIN_KATAKANA_AND_EMOJI = rf"{_MAY_START}(?:\s+|{EMOJI}|{WORD}|{KATAKANA})"

_MARK = re.compile(f"[{_MARKS}]")
_MARKED = re.compile(rf"\S[{_MARKS}]+")

_EMOJI = re.compile(EMOJI)
_KEYCAP = "\u20e3"
_WHITE = frozenset(chr(code) for code in range(0x3001) if chr(code).isspace())


class Segmenter(ABC):
    """Splits cleaned text into tokens: `segment_many` returns sorted offsets without overlaps and surrounding white space."""

    forced: re.Pattern[str] = re.compile(LATIN_AND_EMOJI)
    """A pattern for text that must be one token; its surrounding white space is stripped."""

    def __init__(self, *, dictionary: Dictionary | None = None) -> None:
        self.dictionary = dictionary

    @abstractmethod
    def cut(self, text: str) -> list[int]:
        """The end of each piece; the pieces cover the text."""

    def cut_many(self, texts: list[str]) -> list[list[int]]:
        """`cut` of each text; subclasses may do this faster."""
        return [self.cut(text) for text in texts]

    def segment_many(self, texts: list[str]) -> list[list[Offsets]]:
        """The tokens of each text, the same as one by one; there is only white space between tokens."""
        limit = settings.segment_chunk_characters
        ends = iter(self.cut_many([text for text in texts if 0 < len(text) <= limit]))
        return [
            self._long(text, limit) if len(text) > limit else self._tokens(text, next(ends)) if text else [] for text in texts
        ]

    def _long(self, text: str, limit: int) -> list[Offsets]:
        """The tokens of a text that is segmented in chunks."""
        tokens: list[Offsets] = []
        done = 0
        while len(text) - done > limit:
            piece = text[done : done + limit]
            chunk = self._tokens(piece, self.cut(piece))
            # The last quarter is read again with what follows, so that no word is cut where a chunk ends.
            kept = [token for token in chunk if token[1] <= limit - limit // 4]
            end = kept[-1][1] if kept else limit
            if len(kept) < len(chunk) and (not kept or end < limit // 4):
                # A token over most of the chunk: it stays with this one, or else every chunk would move on by a word only.
                start, end = chunk[len(kept)]
                if start < limit // 4:
                    kept.append((start, end))
                else:
                    end = start
            tokens += [(start + done, end + done) for start, end in kept]
            done += end
        rest = text[done:]
        return tokens + [(start + done, end + done) for start, end in self._tokens(rest, self.cut(rest))]

    def _tokens(self, text: str, ends: list[int]) -> list[Offsets]:
        ranges = [match.span() for match in self.forced.finditer(text)]
        pieces = dict(zip((0, *ends), ends, strict=False))
        # Mostly the segmenter cut them so by itself: looking first is far cheaper than cutting again.
        if _MARK.search(text) or self.dictionary is not None or not _joined(pieces, text, ranges):
            pieces = self._forced(text, ends, ranges)
        for start, _ in ranges:
            if text[start] in _WHITE:
                pieces.pop(start, None)
        return list(pieces.items())

    def _forced(self, text: str, ends: list[int], ranges: list[Offsets]) -> dict[int, int]:
        """The pieces (start to end) after all forced tokens are joined."""
        words = {(start, end) for start, end in ranges if text[start].isalnum() and text[end - 1] != _KEYCAP}
        marked = [match.span() for match in _MARKED.finditer(text)]
        ends = join(ends, sorted(words))
        ends = force(ends, [each for each in ranges if each not in words])
        ends = force(join(ends, marked), self._terms(text, marked) if self.dictionary else ())
        return dict(zip((0, *ends), ends, strict=False))

    def _terms(self, text: str, marked: list[Offsets]) -> list[Offsets]:
        """The offsets of dictionary terms, except where they would split an emoji or a character from its combining mark."""
        assert self.dictionary is not None
        wholes = marked + [match.span() for match in _EMOJI.finditer(text)]
        inside = {place for low, high in wholes for place in range(low + 1, high)}
        return [(start, end) for start, end in self.dictionary.find(text) if start not in inside and end not in inside]


def _joined(pieces: dict[int, int], text: str, ranges: list[Offsets]) -> bool:
    """Join the pieces of each range in place; False if a piece has to be cut."""
    for start, end in ranges:
        cut = pieces.get(start, 0)
        if cut == end:
            continue
        if not cut or not text[start].isalnum() or text[end - 1] == _KEYCAP:
            return False
        while cut < end:
            cut = pieces.pop(cut)
        pieces[start] = cut
    return True


def join(ends: list[int], ranges: Iterable[Offsets]) -> list[int]:
    """Remove cuts inside each range; a piece that extends beyond it (T恤) stays whole."""
    inside = {place for start, end in ranges for place in range(start + 1, end)}
    return [end for end in ends if end not in inside]


def force(ends: list[int], ranges: Iterable[Offsets]) -> list[int]:
    """Make each range exactly one piece: remove cuts inside it, add cuts at its borders."""
    ranges = list(ranges)
    borders = {border for each in ranges for border in each} - {0}
    return sorted({*join(ends, ranges), *borders}) if ranges else ends
