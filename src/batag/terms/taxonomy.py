"""A taxonomy: categories with an id, a parent and names in one or more languages, in a file of ours that loads fast."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.pages.file import open_output
from batag.terms.key import VERSION, match_keys
from batag.terms.limits import read_limited
from batag.terms.parts import parts_of

FORMAT = 1
_FIRST = "# batag taxonomy "
_BETWEEN = "|"


@dataclass(frozen=True, slots=True)
class Category:
    """A category; `keys` are the match keys of its names, the whole name first and then its parts, by language."""

    id: str
    parent: str
    names: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]


class Taxonomy:
    """Categories by id and by the match key of a name."""

    def __init__(self, categories: Sequence[Category], *, source: str, version: str, languages: Sequence[str]) -> None:
        self.categories, self.source, self.version, self.languages = tuple(categories), source, version, tuple(languages)

    @cached_property
    def by_id(self) -> dict[str, Category]:
        return {each.id: each for each in self.categories}

    @cached_property
    def depths(self) -> dict[str, int]:
        """How many ancestors each category has."""
        found: dict[str, int] = {}
        for each in self.categories:  # parents stand before their children
            found[each.id] = found[each.parent] + 1 if each.parent else 0
        return found

    @cached_property
    def whole(self) -> dict[str, list[str]]:
        """The ids of the categories with a name of that key."""
        return self._index(whole=True)

    @cached_property
    def parts(self) -> dict[str, list[str]]:
        """The ids of the categories with that key as a part of their name."""
        return self._index(whole=False)

    def _index(self, *, whole: bool) -> dict[str, list[str]]:
        index: dict[str, list[str]] = {}
        for each in self.categories:
            for keys in each.keys:
                for key in keys[:1] if whole else keys[1:]:
                    ids = index.setdefault(key, [])
                    if not ids or ids[-1] != each.id:
                        ids.append(each.id)
        return index

    def ancestors(self, id: str) -> Iterator[str]:
        """The id itself, its parent and so on up to the top."""
        while id:
            yield id
            id = self.by_id[id].parent

    def path(self, id: str, language: str = "en") -> str:
        """The names from the top down, as `Apparel > Shoes`."""
        place = self.languages.index(language) if language in self.languages else 0
        return " > ".join(reversed([self.by_id[each].names[place] for each in self.ancestors(id)]))

    def only(self, language: str) -> Taxonomy:
        """The taxonomy with the names of one language only."""
        place = self.languages.index(language)
        own = [Category(each.id, each.parent, (each.names[place],), (each.keys[place],)) for each in self.categories]
        return Taxonomy(own, source=self.source, version=self.version, languages=[language])

    def __len__(self) -> int:
        return len(self.categories)


def build_taxonomy(rows: Iterable[tuple[str, str, tuple[str, ...]]], *, source: str, version: str, languages: Sequence[str]) -> Taxonomy:
    """A taxonomy of rows of id, parent and names, parents first."""
    listed = list(rows)
    names = [[parts_of(name) for name in each] for _, _, each in listed]
    keys = iter(match_keys(part for row in names for parts in row for part in parts))
    made = [[tuple(dict.fromkeys(next(keys) for _ in parts)) for parts in row] for row in names]
    categories = [Category(id, parent, own, tuple(each)) for (id, parent, own), each in zip(listed, made, strict=True)]
    return Taxonomy(categories, source=source, version=version, languages=languages)


def write_taxonomy(taxonomy: Taxonomy, path: Path | str) -> None:
    """Write a taxonomy to a file of ours, which appears only when it is complete."""
    about = {"format": FORMAT, "keys": VERSION, "source": taxonomy.source, "version": taxonomy.version}
    about |= {"languages": list(taxonomy.languages), "categories": len(taxonomy)}
    with open_output(path) as stream:
        stream.write(f"{_FIRST}{json.dumps(about, ensure_ascii=False)}\n".encode())
        header = ["id", "parent", *taxonomy.languages, *(f"keys {each}" for each in taxonomy.languages)]
        stream.write(("\t".join(header) + "\n").encode())
        for each in taxonomy.categories:
            cells = [each.id, each.parent, *each.names, *map(_BETWEEN.join, each.keys)]
            stream.write(("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in cells) + "\n").encode())


def read_taxonomy(path: Path | str) -> Taxonomy:
    """Read a file that `batag terms import` wrote."""
    path = Path(path)
    data = read_limited(path, what="a taxonomy")
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise _foreign(path) from error
    about = _about(lines[0], path)
    languages = about["languages"]
    width = 2 + 2 * len(languages)
    middle = 2 + len(languages)
    categories: list[Category] = []
    known = {""}
    for number, line in enumerate(lines[2:], 3):
        if not line and number == len(lines):
            break
        cells = line.split("\t")
        if len(cells) != width or cells[1] not in known or cells[0] in known:
            raise InputError("a damaged line", where=f"{path}:{number}", todo="Import the taxonomy again: batag terms import")
        known.add(cells[0])
        categories.append(Category(cells[0], cells[1], tuple(cells[2:middle]), tuple(tuple(c.split(_BETWEEN)) for c in cells[middle:])))
    if len(categories) != about["categories"]:
        what = f"has {len(categories):,} of its {about['categories']:,} categories"
        raise InputError(what, where=str(path), todo="Import the taxonomy again: batag terms import")
    return Taxonomy(categories, source=about["source"], version=about["version"], languages=languages)


def _about(line: str, path: Path) -> Mapping[str, Any]:
    try:
        about = json.loads(line.removeprefix(_FIRST)) if line.startswith(_FIRST) else None
    except ValueError:
        about = None
    if not isinstance(about, dict) or not {"format", "keys", "source", "version", "languages", "categories"} <= about.keys():
        raise _foreign(path)
    if (about["format"], about["keys"]) != (FORMAT, VERSION):
        what = f"is a taxonomy of another version of batag (format {about['format']}, keys {about['keys']})"
        raise InputError(what, where=str(path), todo="Import it again: batag terms import")
    return about


def _foreign(path: Path) -> InputError:
    return InputError("is no taxonomy that batag wrote", where=str(path), todo="Make one first: batag terms import FILE --out NAME.tsv")
