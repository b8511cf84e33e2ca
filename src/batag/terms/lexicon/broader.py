"""Which kinds of goods are kinds of a wider one: a puppy is a live animal. The wider kind lends its category."""

from __future__ import annotations

from pathlib import Path

from batag.errors import InputError

BROADER = "broader.txt"
_BETWEEN, _COMMENT = "=", "#"


def read_broader(folder: Path) -> dict[str, str]:
    """The id of the wider kind of each kind that a folder's list names; nothing if there is no list."""
    path = folder / BROADER
    found: dict[str, str] = {}
    if not path.is_file():
        return found
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith(_COMMENT):
            continue
        wider, between, kinds = line.partition(_BETWEEN)
        own = [kind.strip() for kind in kinds.split(",") if kind.strip()]
        if not between or not wider.strip() or not own:
            raise InputError("is no line of wider kinds", where=f"{BROADER}:{number}", todo="Write wider-id = id, id")
        for kind in own:
            if kind in found:
                raise InputError(f"{kind} has two wider kinds", where=f"{BROADER}:{number}", todo="Keep one of them")
            found[kind] = wider.strip()
            if _leads_back(found, kind):
                raise InputError(f"{kind} is wider than itself", where=f"{BROADER}:{number}", todo="Take it out of the line")
    return found


def _leads_back(found: dict[str, str], kind: str) -> bool:
    at = found[kind]
    while at != kind and at in found:
        at = found[at]
    return at == kind
