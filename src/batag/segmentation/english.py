"""English, and other scripts with spaces between words."""

import re

from batag.pages.cleaning import EMOJI
from batag.segmentation.segmenter import KATAKANA, WORD, Segmenter

_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"{EMOJI}|{WORD}|{KATAKANA}|[^\W_{_HAN}]+|\s+|[\s\S]")


class English(Segmenter):
    """Words, numbers and punctuation by one pattern; a Han or kana character is a token of its own."""

    forced = re.compile(r"\s+")

    def cut(self, text: str) -> list[int]:
        return [match.end() for match in _PIECE.finditer(text)]
