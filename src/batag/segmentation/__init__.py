"""Split text into tokens with offsets; segmenters are found by name and imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from batag.errors import unknown_name

if TYPE_CHECKING:
    from batag.segmentation.dictionary import Dictionary
    from batag.segmentation.segmenter import Segmenter

SEGMENTERS = ("english", "chinese", "japanese", "characters")
SEGMENTATIONS = ("auto", *SEGMENTERS, "given")
DICTIONARIES = ("rjieba", "opencc", "sudachidict_small")
"""The packages whose dictionaries determine token borders and parts of speech."""


def build_segmenter(name: str, *, dictionary: Dictionary | None = None) -> Segmenter:
    """Build the segmenter of that name."""
    if name not in SEGMENTERS:
        raise unknown_name(name, SEGMENTATIONS, "a segmentation")
    module = import_module(f"batag.segmentation.{name}")
    segmenter: Segmenter = getattr(module, name.capitalize())(dictionary=dictionary)
    return segmenter
