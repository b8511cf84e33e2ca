"""Chinese by jieba's algorithm (rjieba). Its dictionary is Simplified, so Traditional text is read through a table of
single characters: same length, so offsets and the page's own text stay."""

import re
from functools import cache
from itertools import accumulate

import numpy as np
import rjieba
from numpy.typing import NDArray

from batag.segmentation.segmenter import LATIN_KATAKANA_AND_EMOJI, Segmenter
from batag.segmentation.variants import simplified_of

_SHORT = 32


class Chinese(Segmenter):
    """Words of Traditional and Simplified Chinese alike, of the dictionary only: new words that jieba would guess from
    statistics reach over the borders of tags (docs/results/segmentation.md)."""

    forced = re.compile(LATIN_KATAKANA_AND_EMOJI)

    def cut_many(self, texts: list[str]) -> list[list[int]]:
        """All texts in one call, a line each: a line end parts words, so the answer is the same."""
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
    """The text with each Traditional character as its Simplified one (for the dictionary's eyes only)."""
    if len(text) < _SHORT:
        return text.translate(_codes())
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _table()[codes].tobytes().decode("utf-32-le", "surrogatepass")


@cache
def _codes() -> dict[int, str]:
    """The same for short texts, where a look-up a character is the faster way."""
    return {ord(traditional): simplified for traditional, simplified in simplified_of().items()}


@cache
def _table() -> NDArray[np.uint32]:
    """Every code point's Simplified form, by number: far faster than a dictionary look-up a character."""
    table = np.arange(0x110000, dtype=np.uint32)
    for traditional, simplified in simplified_of().items():
        table[ord(traditional)] = ord(simplified)
    return table
