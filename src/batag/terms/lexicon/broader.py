"""Which kinds of goods are kinds of a wider one, or belong to it: a puppy is a live animal, a bottle brush belongs to bottles.
The wider kind lends its category, or the one above."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from batag.errors import InputError

BROADER = "broader.txt"
_BETWEEN, _COMMENT, _BESIDE = "=", "#", "^"


class Wider(NamedTuple):
    """The id of a wider kind; `beside` for what belongs to it without being a kind of it."""

    id: str
    beside: bool


def read_broader(folder: Path) -> dict[str, Wider]:
    """The wider kind of each kind that a folder's list names; nothing if there is no list."""
    path = folder / BROADER
    found: dict[str, Wider] = {}
    if not path.is_file():
        return found
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith(_COMMENT):
            continue
        first, between, kinds = line.partition(_BETWEEN)
        wider = Wider(first.strip().removeprefix(_BESIDE), first.startswith(_BESIDE))
        own = [kind.strip() for kind in kinds.split(",") if kind.strip()]
        if not between or not wider.id or not own:
            raise InputError("is no line of wider kinds", where=f"{BROADER}:{number}", todo="Write wider-id = id, id")
        for kind in own:
            if kind in found:
                raise InputError(f"{kind} has two wider kinds", where=f"{BROADER}:{number}", todo="Keep one of them")
            found[kind] = wider
            if _leads_back(found, kind):
                raise InputError(f"{kind} is wider than itself", where=f"{BROADER}:{number}", todo="Take it out of the line")
    return found


def _leads_back(found: dict[str, Wider], kind: str) -> bool:
    at = found[kind].id
    while at != kind and at in found:
        at = found[at].id
    return at == kind
