"""Google's product taxonomy: `3237 - Animals & Pet Supplies > Live Animals`, or the same without numbers."""

import re
from collections.abc import Sequence

from batag.errors import InputError
from batag.terms.sources.listing import Listing

FIRST = re.compile(r"#\s*Google_Product_Taxonomy_Version:\s*(\S+)")
_NUMBERED = re.compile(r"(\d+) - (.+)")


def is_mine(lines: Sequence[str]) -> bool:
    """Whether the first lines are of this format."""
    return any(FIRST.match(line) for line in lines[:5]) or bool(lines and _NUMBERED.fullmatch(lines[0].strip()))


def read(lines: Sequence[str], where: str) -> Listing:
    """The categories of a file. Without numbers the path is the id."""
    found = Listing(where, "google")
    numbered: bool | None = None
    for number, line in enumerate(lines, 1):
        if version := FIRST.match(line):
            found.version = version[1]
        if not line.strip() or line.startswith("#"):
            continue
        row = _NUMBERED.fullmatch(line.strip())
        numbered = row is not None if numbered is None else numbered
        if numbered != (row is not None):
            todo = "All lines are NUMBER - NAME > NAME, or all are without numbers. The file may be cut: download it again"
            raise InputError(f"not a category like those before: {line[:80]!r}", where=f"{where}:{number}", todo=todo)
        path = tuple(each.strip() for each in (row[2] if row else line).split(">"))
        found.add(row[1] if row else " > ".join(path), path, number)
    return found


def parents(listing: Listing) -> dict[str, str]:
    """The parent of each id, by the path."""
    return listing.parents()
