"""Corrections that people make in the readable columns of a workbook (`brand (tags)`), where they differ from `tags`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from batag.pages.check import overlaps
from batag.pages.page import PERSON, Tag
from batag.pages.problems import Note

_FOR_PEOPLE = " (tags)"
_FIRST = ("brand", "goods", "feature")
SEPARATOR = re.compile("[;；\n]")
"""What stands between the texts of a readable column."""


def readable(label: str) -> str:
    """The name of the readable column of a label; `tags` holds the same tags for programs."""
    return f"{label}{_FOR_PEOPLE}"


def is_readable(column: str) -> bool:
    """Whether a column has the name of a readable column."""
    return column.endswith(_FOR_PEOPLE) and column != _FOR_PEOPLE


def label_of(column: str) -> str:
    """The label of a readable column."""
    return column.removesuffix(_FOR_PEOPLE).strip()


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels as tables have them: brand, goods and feature first."""
    return sorted(labels, key=lambda label: _FIRST.index(label) if label in _FIRST else len(_FIRST))


def shown(texts: Iterable[str]) -> str:
    """The texts of a label as they are written in its readable column."""
    return "; ".join(dict.fromkeys(texts))


def corrected(tags: list[Any], record: Mapping[str, Any]) -> list[Any]:
    """The tags of a row. If the readable column of a label differs from them, its texts replace them, without positions."""
    texts: dict[str, list[str]] = {}
    for tag in tags:
        if isinstance(tag, Mapping):
            texts.setdefault(str(tag.get("label")), []).append(str(tag.get("text") or ""))
    given = {key.removesuffix(_FOR_PEOPLE): cell for key, cell in record.items() if is_readable(key) and isinstance(cell, str)}
    other = {label: cell for label, cell in given.items() if cell.split() != shown(texts.get(label, ())).split()}
    if not other:
        return tags
    kept = [tag for tag in tags if not isinstance(tag, Mapping) or str(tag.get("label")) not in other]
    pieces = [(label, piece.strip()) for label, cell in other.items() for piece in SEPARATOR.split(cell)]
    return kept + [{"label": label, "text": text, "source": PERSON} for label, text in dict.fromkeys(pieces) if text]


def has_no_place(tag: Any) -> TypeGuard[Mapping[str, str]]:
    """Whether a tag is a person's label and text without a position, to be found on the page."""
    if not isinstance(tag, dict) or len(tag) != 3 or tag.get("source") != PERSON:
        return False
    return all(isinstance(tag.get(key), str) and tag[key] for key in ("label", "text"))


def beside(tags: Iterable[Tag], people: Iterable[Tag], note: Note) -> Iterator[Tag]:
    """The tags without those of machines that overlap a person's tag."""
    overlap = overlaps(people)
    for tag in tags:
        if tag.source != PERSON and overlap(tag):
            note("overlap", f"{tag.label} at {tag.start} overlaps a person's tag")
        else:
            yield tag
