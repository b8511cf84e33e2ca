"""Texts as they come back from a cell of Excel: line ends of one character, and no characters that a cell cannot have."""

from __future__ import annotations

import re
from dataclasses import replace

from batag.pages.formats.sheet import possible
from batag.pages.page import Tag

_CHARACTER = re.compile(r"\r\n|.", re.DOTALL)


def in_cell(text: str) -> str:
    """A text as it comes back."""
    return possible(text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text)


def tag_in_cell(tag: Tag, text: str) -> Tag:
    """A tag of a text, at its place in the text as it comes back."""
    start, end = (place - text.count("\r\n", 0, place) for place in (tag.start, tag.end))
    return replace(tag, start=start, end=end, text=in_cell(tag.text))


def tag_of_cell(tag: Tag, text: str) -> Tag:
    """A tag of a text as it comes back, at its place in the text as it was."""
    start, end = tag.start, tag.end
    if "\r\n" in text:
        places = [found.start() for found in _CHARACTER.finditer(text)] + [len(text)]
        start, end = places[start], places[end]
    return replace(tag, start=start, end=end, text=text[start:end])
