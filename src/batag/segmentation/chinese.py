"""Chinese segmentation with jieba's algorithm (rjieba). Its dictionary is Simplified, so Traditional text is converted
character by character first; lengths are the same, so offsets and the page's own text are kept."""

import re
from functools import cache
from itertools import accumulate

import numpy as np
import rjieba
from numpy.typing import NDArray

from batag.segmentation.segmenter import LATIN_KATAKANA_AND_EMOJI, Segmenter
from batag.segmentation.variants import looked_up_as

_SHORT = 32


class Chinese(Segmenter):
    """Segments Traditional and Simplified Chinese with dictionary words only; jieba's statistical guesses of new words would
    cross the borders of tags (docs/results/segmentation.md)."""

    forced = re.compile(LATIN_KATAKANA_AND_EMOJI)

    def cut_many(self, texts: list[str]) -> list[list[int]]:
        """Segment all texts in one call, one per line; line breaks separate words, so the result is the same."""
        if len(texts) < 2 or any("\n" in text for text in texts):
            return super().cut_many(texts)
        words = rjieba.cut(simplify("\n".join(texts)), False)
        cuts, start = [], 0
        for _ in range(len(texts) - 1):
            line_end = words.index("\n", start)
            cuts.append(list(accumulate(map(len, words[start:line_end]))))
            start = line_end + 1
        cuts.append(list(accumulate(map(len, words[start:]))))
        return cuts

    def cut(self, text: str) -> list[int]:
        return list(accumulate(map(len, rjieba.cut(simplify(text), False))))


def simplify(text: str) -> str:
    """The text with Traditional characters replaced by Simplified ones, for dictionary look-ups only."""
    if len(text) < _SHORT:
        return text.translate(_codes())
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _table()[codes].tobytes().decode("utf-32-le", "surrogatepass")


@cache
def _codes() -> dict[int, str]:
    """The mapping as a dict, which is faster for short texts."""
    return {ord(traditional): simplified for traditional, simplified in looked_up_as().items()}


@cache
def _table() -> NDArray[np.uint32]:
    """The Simplified form of every code point as an array, which is faster for long texts."""
    table = np.arange(0x110000, dtype=np.uint32)
    for traditional, simplified in looked_up_as().items():
        table[ord(traditional)] = ord(simplified)
    return table
