"""A page while it is written: what it sells, its style, and the pieces of text of the current field."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from batag.pages.page import Tag

TIGHT = "\0"
"""A place where this page writes a space or nothing; decided when the field is closed."""
_WORD_START = re.compile(r"(?<![\w'’])([a-z])")
_SMALL = re.compile(r"(?<=\w )(With|For|And|Of|In|The|To|A|Or|On|By|From)(?= )")


@dataclass(slots=True)
class Sheet:
    """The facts of a page, and the pieces of the current field; `marks` are (piece, label) in order."""

    random: Callable[[], float]
    brand: tuple[str, ...] = ()
    sub: tuple[str, ...] = ()
    goods: str = ""
    synonyms: tuple[str, ...] = ()
    short: str = ""
    second: str = ""
    makers: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tight: bool = False
    sign: str = " "
    case: str = ""
    feature: Callable[[str], str] = str
    other: Callable[[], str] = str
    rival: Callable[[], str] = str
    name: Callable[[], str] = str
    promo: Callable[[], str] = str
    known: frozenset[str] = frozenset()
    loose: tuple[str, ...] = ()
    held: frozenset[str] = frozenset()
    pieces: list[str] = field(default_factory=list)
    marks: list[tuple[int, str]] = field(default_factory=list)
    picked: dict[str, int] = field(default_factory=dict)
    memory: dict[str, tuple[list[str], list[tuple[int, str]]]] = field(default_factory=dict)

    def pick(self, rule: str, count: int) -> int:
        """Choose one of a rule's alternatives, never the same twice in a row on a page."""
        choice = int(self.random() * count)
        if choice == self.picked.get(rule):
            choice = (choice + 1) % count
        self.picked[rule] = choice
        return choice

    def one(self, words: tuple[str, ...]) -> str:
        """Any of some words."""
        return words[int(self.random() * len(words))]

    def put(self, text: str, label: str = "") -> None:
        """Write a piece, which is a tag if it has a label."""
        if label and text:
            self.marks.append((len(self.pieces), label))
        self.pieces.append(text)

    def remember(self, rule: str, write: Callable[[Sheet], None]) -> None:
        """Write a rule as it was written before on this page."""
        if rule not in self.memory:
            start, marked = len(self.pieces), len(self.marks)
            write(self)
            marks = [(place - start, label) for place, label in self.marks[marked:]]
            self.memory[rule] = (self.pieces[start:], marks)
            return
        pieces, marks = self.memory[rule]
        self.marks.extend((len(self.pieces) + place, label) for place, label in marks)
        self.pieces.extend(pieces)

    def turn(self, page: bool = True) -> None:
        """Forget what was written; and the page too, unless the next field is of the same page."""
        self.pieces, self.marks = [], []
        if page:
            self.picked, self.memory = {}, {}

    def close(self, name: str, *, escape: bool = False) -> tuple[str, list[Tag]]:
        """The text and tags of the field: no double spaces, none beside a bracket, capitals as the page has them."""
        labels = dict(self.marks)
        done: list[str] = []
        last = " "
        length = 0
        tags: list[Tag] = []
        for place, piece in enumerate(self.pieces):
            label = labels.get(place)
            if piece == TIGHT:
                piece = self._gap(place, last)
            if label is None and last in " \n　":
                piece = piece.lstrip(" 　")
            if not piece:
                continue
            if (self.case and label != "brand") or (self.case in ("upper", "lower") and label == "brand"):
                piece = cased(piece, self.case)
            if escape and "&" in piece and piece[:1] != "<" and not piece.startswith("&"):
                piece = piece.replace("&", "&amp;")
            done.append(piece)
            if label is not None:
                at = self._free(piece) if label == "goods" else 0
                if at:
                    tags.append(Tag(name, length, length + len(piece[:at].rstrip()), "feature", piece[:at].rstrip()))
                tag = Tag(name, length + at, length + len(piece), label, piece[at:])
                tags.append((None if at else self._joined(tags, tag, done)) or tag)
            length += len(piece)
            last = piece[-1]
        return "".join(done).rstrip(), tags

    def _free(self, goods: str) -> int:
        """Where the name proper begins in a lexicon name with a free attribute before it (濃縮洗衣精, compatible ink)."""
        low = goods.lower()
        return next((len(word) for word in self.loose if low.startswith(word) and low[len(word) :] in self.known), 0)

    def _joined(self, tags: list[Tag], tag: Tag, done: list[str]) -> Tag | None:
        """The name of goods that a feature and the goods behind it make together (wireless, mouse), instead of the feature."""
        if tag.label != "goods" or not tags or tags[-1].label != "feature" or tag.start - tags[-1].end > 1:
            return None
        text = "".join(done[-3:])[-(tag.end - tags[-1].start) :]
        if text.lower() not in self.known or self._free(text):
            return None
        return Tag(tag.field, tags.pop().start, tag.end, "goods", text)

    def _gap(self, place: int, last: str) -> str:
        if not self.tight or self.random() < 0.2:
            return " "
        following = next((piece for piece in self.pieces[place + 1 :] if piece.strip(" \0")), "")
        return " " if last.isascii() and last.isalnum() and following[:1].isascii() and following[:1].isalnum() else ""


def plural(name: str) -> str:
    """More than one of some goods."""
    if name[-1] in "s)" or not name[-1].isalpha():
        return name
    if name.endswith(("ch", "sh", "x")):
        return f"{name}es"
    return f"{name[:-1]}ies" if name[-1] == "y" and name[-2] not in "aeiou" else f"{name}s"


@lru_cache(100_000)
def cased(text: str, case: str) -> str:
    """A text in capitals, small letters or title case."""
    if case == "upper":
        return text.upper()
    if case == "lower":
        return text.lower()
    made = _WORD_START.sub(lambda found: found[1].upper(), text)
    return _SMALL.sub(lambda found: found[1].lower(), made)
