"""A stranger's text as HTML: escaped, without characters that steer the reader's screen, and never longer than its place."""

from __future__ import annotations

import re
from html import escape

# Controls, marks that turn the direction of writing, lone surrogates, and what is no character at all.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_STACKED = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_BLANK = re.compile(r"[ \t]*\n\s*\n\s*")


def plain(text: str, most: int = 2_000) -> str:
    """Text for HTML, at most so many characters of it."""
    cut = f"{text[: most - 1]}…" if len(text) > most else text
    return escape(_STACKED.sub(r"\1", _UNSEEN.sub("\ufffd", cut)))


def loose(text: str, most: int = 2_000) -> str:
    """Text for HTML with at most one line break in a row."""
    return plain(_BLANK.sub("\n", text), most)
