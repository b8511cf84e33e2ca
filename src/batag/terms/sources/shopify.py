"""Shopify's Standard Product Taxonomy as it is distributed: `gid://shopify/TaxonomyCategory/ap-1 : Animals > Live Animals`."""

import re
from collections.abc import Sequence

from batag.errors import InputError
from batag.terms.sources.listing import Listing

FIRST = re.compile(r"#\s*Shopify Product Taxonomy - Categories:\s*(\S+)")
_ID = "gid://shopify/TaxonomyCategory/"
_LINE = re.compile(rf"{re.escape(_ID)}([\w-]+)\s+: (.+)")


def is_mine(lines: Sequence[str]) -> bool:
    """Whether the first lines are of this format."""
    return any(FIRST.match(line) or line.startswith(_ID) for line in lines[:5])


def read(lines: Sequence[str], where: str) -> Listing:
    """The categories of a file; the parent of `ap-1-2` is `ap-1`."""
    found = Listing(where, "shopify")
    for number, line in enumerate(lines, 1):
        if version := FIRST.match(line):
            found.version = version[1]
        if not line.strip() or line.startswith("#"):
            continue
        row = _LINE.fullmatch(line.rstrip())
        path = tuple(each.strip() for each in row[2].split(" > ")) if row else ()
        if row is None or len(path) != _depth(row[1]):
            todo = f"Lines are {_ID}ID : NAME > NAME. The file may be cut: download it again"
            raise InputError(f"not a category: {line[:80]!r}", where=f"{where}:{number}", todo=todo)
        found.add(row[1], path, number)
    return found


def parents(listing: Listing) -> dict[str, str]:
    """The parent of each id; one that is not listed is an error. Names are no help: two categories may have the same path."""
    above = {id: id.rpartition("-")[0] for id in listing.paths}
    for id, parent in above.items():
        if parent and parent not in listing.paths:
            todo = "The file may be cut: download it again"
            raise InputError(
                f"the category above {id!r} is not listed", where=f"{listing.where}:{listing.lines[id]}", todo=todo
            )
    return above


def _depth(id: str) -> int:
    return id.count("-") + 1
