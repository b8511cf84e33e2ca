"""A page as one sequence of words, and the overlapping windows of a long page, so that nothing is truncated."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from batag.errors import UsageError
from batag.features.batches import Floats
from batag.pages.fields import MAIN_FIELD
from batag.segmentation.segmentation import TokenizedField


class Window(NamedTuple):
    """Words `start` to `stop` are encoded together; the labels of words `first` to `last` are taken from this window."""

    start: int
    stop: int
    first: int
    last: int


def page_words(fields: Sequence[TokenizedField]) -> tuple[list[str], list[int]]:
    """Concatenate the words of all fields, and return them with the start of each field. Every field but the main one is
    preceded by the word `<name>`."""
    words: list[str] = []
    starts = []
    for field in fields:
        if field.name != MAIN_FIELD and field.tokens:
            words.append(f"<{field.name}>")
        starts.append(len(words))
        words += field.marked_words
    return words, starts


def join_windows(seen: Sequence[tuple[Window, Floats]], *, labels: int) -> Floats:
    """Join the values of windows into the values of a whole page [L,C]."""
    parts = [values[view.first - view.start : view.last - view.start] for view, values in seen]
    return np.concatenate(parts) if parts else np.zeros((0, labels), dtype=np.float32)


def windows(length: int, *, size: int, overlap: int) -> list[Window]:
    """Overlapping windows over `length` words; each word's label is taken from the window with the most context around it."""
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
