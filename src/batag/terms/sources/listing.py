"""A list of categories in one language, as it is read from a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from batag.errors import InputError

Path = tuple[str, ...]
_MOST_LEVELS = 50
_LONGEST_NAME = 500
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f]")


@dataclass
class Listing:
    """Categories of one file: id to path of names, with the line of each."""

    where: str
    source: str
    version: str = ""
    language: str = ""
    paths: dict[str, Path] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, id: str, path: Path, line: int) -> None:
        """Add a category; an id that is there already is an error."""
        if any(map(_CONTROL.search, (id, *path))):
            todo = "Write the line again without it"
            raise InputError("has a character that is no text", where=f"{self.where}:{line}", todo=todo)
        if id in self.paths:
            raise InputError(
                f"the id {id!r} is there twice (line {self.lines[id]})", where=f"{self.where}:{line}", todo="Remove one"
            )
        self.check(path, line)
        self.paths[id] = path
        self.lines[id] = line

    def check(self, path: Path, line: int) -> None:
        """Refuse a path that no taxonomy has."""
        where = f"{self.where}:{line}"
        if not all(path):
            raise InputError(f"a category without a name in {' > '.join(path)[:80]!r}", where=where, todo="Name it")
        if len(path) > _MOST_LEVELS:
            what = f"a path of {len(path):,} levels, more than {_MOST_LEVELS}"
            raise InputError(what, where=where, todo="Write one path per line, such as Shoes > Boots")
        if (longest := max(map(len, path))) > _LONGEST_NAME:
            what = f"a name of {longest:,} characters, more than {_LONGEST_NAME}"
            raise InputError(what, where=where, todo="Write one path per line, such as Shoes > Boots")

    def parents(self) -> dict[str, str]:
        """The id of the parent of each category ("" at the top); a parent that is not listed is an error."""
        ids: dict[Path, str] = {}
        for id, path in self.paths.items():
            if path in ids:
                what = f"{' > '.join(path)!r} is there twice (line {self.lines[ids[path]]})"
                raise InputError(what, where=f"{self.where}:{self.lines[id]}", todo="Remove one")
            ids[path] = id
        found = {}
        for id, path in self.paths.items():
            if len(path) > 1 and path[:-1] not in ids:
                what = f"the category above {' > '.join(path)[:80]!r} is not listed"
                raise InputError(what, where=f"{self.where}:{self.lines[id]}", todo="The file may be cut: download it again")
            found[id] = ids[path[:-1]] if len(path) > 1 else ""
        return found
