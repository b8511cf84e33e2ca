"""A page as one sequence of words for the encoder, and the windows of a long one: nothing is ever cut off."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from batag.errors import UsageError
from batag.features.batches import Floats
from batag.pages.fields import MAIN_FIELD
from batag.segmentation.segmentation import TokenizedField


class Window(NamedTuple):
    """Words `start` to `stop` are encoded together; the labels of `first` to `last` are taken from here."""

    start: int
    stop: int
    first: int
    last: int


def page_words(fields: Sequence[TokenizedField]) -> tuple[list[str], list[int]]:
    """The words of all fields in one row, and where each field begins; all but the main field are announced by `<name>`."""
    words: list[str] = []
    starts = []
    for field in fields:
        if field.name != MAIN_FIELD and field.tokens:
            words.append(f"<{field.name}>")
        starts.append(len(words))
        words += field.words
    return words, starts


def join_windows(seen: Sequence[tuple[Window, Floats]], *, labels: int) -> Floats:
    """The values of each word of a page [L,C], from those of each window."""
    parts = [values[view.first - view.start : view.last - view.start] for view, values in seen]
    return np.concatenate(parts) if parts else np.zeros((0, labels), dtype=np.float32)


def windows(length: int, *, size: int, overlap: int) -> list[Window]:
    """Overlapping windows over so many words; each word's label comes from the window that shows most around it."""
    if not 0 <= overlap < size:
        raise UsageError(f"windows of {size} words cannot overlap by {overlap}", todo="The overlap is smaller than the window")
    if length <= size:
        return [Window(0, length, 0, length)] if length else []
    # The last one ends with the page: it overlaps more rather than being short.
    starts = [*range(0, length - size, size - overlap), length - size]
    found = []
    first = 0
    for place, start in enumerate(starts):
        stop = start + size
        last = (starts[place + 1] + stop) // 2 if place + 1 < len(starts) else length
        found.append(Window(start, stop, first, last))
        first = last
    return found
