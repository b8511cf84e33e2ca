"""Kinds of goods whose category is written down, because their names lead elsewhere: gloves are no hand muffs."""

from __future__ import annotations

from pathlib import Path

from batag.errors import InputError

ANCHORS = "anchors.txt"
_BETWEEN, _COMMENT = "=", "#"


def read_anchors(folder: Path) -> dict[str, str]:
    """The English path of the category of each kind that a folder's list names; nothing if there is no list."""
    path = folder / ANCHORS
    found: dict[str, str] = {}
    if not path.is_file():
        return found
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith(_COMMENT):
            continue
        kind, between, category = (each.strip() for each in line.partition(_BETWEEN))
        if not between or not kind or not category:
            raise InputError("is no line of anchors", where=f"{ANCHORS}:{number}", todo="Write id = Category > Category")
        if kind in found:
            raise InputError(f"{kind} has two categories", where=f"{ANCHORS}:{number}", todo="Keep one of them")
        found[kind] = category
    return found
