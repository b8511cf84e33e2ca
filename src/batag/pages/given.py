"""Tokens that come with a page: join them into text, or locate them in it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from batag.pages.languages import joins_without_spaces
from batag.pages.page import Offsets


def join_tokens(tokens: Sequence[str], *, language: str | None, spaces: bool | None = None) -> tuple[str, tuple[Offsets, ...]]:
    """The text of tokens (without spaces in Chinese and Japanese) and the offsets of each token."""
    if spaces is None:
        spaces = not joins_without_spaces(language, "".join(tokens))
    gap, start, offsets = int(spaces), 0, []
    for token in tokens:
        offsets.append((start, start + len(token)))
        start += len(token) + gap
    return (" " if spaces else "").join(tokens), tuple(offsets)


def place_tokens(text: str, tokens: Sequence[Any]) -> tuple[Offsets, ...] | None:
    """The offsets of tokens that are given as texts in order or as [start, end] pairs; None if they do not fit the text."""
    if all(isinstance(token, str) and token for token in tokens):
        offsets, start = [], 0
        for token in tokens:
            if (place := text.find(token, start)) < 0:
                return None
            start = place + len(token)
            offsets.append((place, start))
        return tuple(offsets)
    pairs = []
    for token in tokens:
        if not (isinstance(token, (list, tuple)) and len(token) == 2 and all(type(place) is int for place in token)):
            return None
        pairs.append((token[0], token[1]))
    if any(not 0 <= start < end <= len(text) for start, end in pairs) or any(a[1] > b[0] for a, b in pairwise(pairs)):
        return None
    return tuple(pairs)
