"""One token per character: for labels by character, and for languages without a segmenter."""

import re

from batag.pages.cleaning import EMOJI
from batag.segmentation.segmenter import Segmenter


class Characters(Segmenter):
    """Every character is a token; emoji sequences and characters with combining marks stay whole."""

    forced = re.compile(rf"\s+|{EMOJI}")

    def cut(self, text: str) -> list[int]:
        return list(range(1, len(text) + 1))
