"""English, and other scripts with spaces between words."""

import re

from batag.pages.cleaning import EMOJI
from batag.segmentation.segmenter import KATAKANA, LETTER_MARKS, WORD, Segmenter

_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OTHER_WORD = rf"[^\W_{_HAN}]+(?:[{LETTER_MARKS}]+[^\W_{_HAN}]*)*"
_PIECE = re.compile(rf"{EMOJI}|{WORD}|{KATAKANA}|{_OTHER_WORD}|\s+|[\s\S]")


class English(Segmenter):
    """Words, numbers and punctuation by one pattern; a Han or kana character is a token of its own."""

    forced = re.compile(r"\s+")

    def cut(self, text: str) -> list[int]:
        return [match.end() for match in _PIECE.finditer(text)]
