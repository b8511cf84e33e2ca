"""A taxonomy: categories with an id, a parent and names in one or more languages, in a file of ours that loads fast."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.pages.file import open_output
from batag.terms.key import VERSION, match_keys
from batag.terms.limits import read_limited
from batag.terms.parts import ends_of, parts_of

FORMAT = 1
SHOP = "shop"
"""The source of a shop's own table."""
_FIRST = "# batag taxonomy "
_TAB, _BAR, _VAGUE = "\t", "|", "?"
_ABOVE = " > "
_CLEAR, _HIGH = 0.25, 3
_AGAIN = "Import the taxonomy again: batag terms import"


@dataclass(frozen=True)
class Taxonomy:
    """Categories by id, parents before children: the parent, the names (one per language, tabs between), and the ids (|
    between) by the match key of a name and of a part of a name."""

    source: str
    version: str
    languages: tuple[str, ...]
    parents: Mapping[str, str]
    names: Mapping[str, str] = field(repr=False)
    whole: Mapping[str, str] = field(repr=False)
    parts: Mapping[str, str] = field(repr=False)

    def __len__(self) -> int:
        return len(self.parents)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process has nothing that can be made from the rest."""
        return Taxonomy, (self.source, self.version, self.languages, self.parents, self.names, self.whole, self.parts)

    @property
    def is_original(self) -> bool:
        """Whether no name is a translation: those of a shop's own table, or of an English taxonomy alone."""
        return self.source == SHOP or self.languages == ("en",)

    @cached_property
    def depths(self) -> dict[str, int]:
        """How many ancestors each category has."""
        found: dict[str, int] = {}
        for id, parent in self.parents.items():
            found[id] = found[parent] + 1 if parent else 0
        return found

    def named(self, key: str) -> list[str]:
        """The categories with a name of that key."""
        return _listed(self.whole[key]) if key in self.whole else []

    def partly_named(self, key: str) -> list[str]:
        """The categories with that key as a part of their name."""
        return _listed(self.parts[key]) if key in self.parts else []

    def is_vague(self, key: str, id: str) -> bool:
        """Whether a key says little at the end of a name: of the categories with names that end so, most are elsewhere."""
        marked = f"{_VAGUE}{id}"
        return any(marked in (ids := index.get(key, "")) and marked in ids.split(_BAR) for index in (self.whole, self.parts))

    def ancestors(self, id: str) -> Iterator[str]:
        """The id itself, its parent and so on up to the top."""
        while id:
            yield id
            id = self.parents[id]

    def name(self, id: str, language: str = "en") -> str:
        """The name of a category in a language, or in the first of its languages."""
        return self.names[id].split(_TAB)[self.languages.index(language) if language in self.languages else 0]

    def path(self, id: str, language: str = "en") -> str:
        """The names from the top down, as `Apparel > Shoes`."""
        return _ABOVE.join(reversed([self.name(each, language) for each in self.ancestors(id)]))

    def at(self, path: str) -> str | None:
        """The category with this English path, if there is one."""
        id: str | None = ""
        for name in path.split(_ABOVE):
            id = None if id is None else self._below.get((id, name))
        return id

    @cached_property
    def _below(self) -> dict[tuple[str, str], str]:
        """The categories by parent and English name."""
        return {(parent, self.name(id)): id for id, parent in self.parents.items()} if "en" in self.languages else {}


def build_taxonomy(
    rows: Iterable[tuple[str, str, tuple[str, ...]]], *, source: str, version: str, languages: Sequence[str]
) -> Taxonomy:
    """A taxonomy of rows of id, parent and names, parents first."""
    listed = [(plain_id(id), plain_id(parent), tuple(map(_plain, names))) for id, parent, names in rows]
    parts = [(id, parts_of(name)) for id, _, names in listed for name in names]
    keys = iter(match_keys(part for _, own in parts for part in own))
    whole: dict[str, dict[str, bool]] = {}
    partly: dict[str, dict[str, bool]] = {}
    for id, own in parts:
        for place, safe in enumerate(own.values()):
            if key := next(keys):
                ids = (partly if place else whole).setdefault(key, {})
                ids[id] = safe or ids.get(id, False)
    parents = {id: parent for id, parent, _ in listed}
    marked = _Ends(whole, parents).marked
    return Taxonomy(
        source=source,
        version=version,
        languages=tuple(languages),
        parents=parents,
        names={id: _TAB.join(names) for id, _, names in listed},
        whole={key: _BAR.join(marked(key, ids)) for key, ids in whole.items()},
        parts={key: _BAR.join(marked(key, ids)) for key, ids in partly.items()},
    )


class _Ends:
    """Counts the names that end in a key, by the categories above them."""

    def __init__(self, whole: Mapping[str, Iterable[str]], parents: Mapping[str, str]) -> None:
        self.whole, self.parents = whole, parents
        self.depths: dict[str, int] = {}
        for id, parent in parents.items():
            self.depths[id] = self.depths[parent] + 1 if parent else 0
        self.ending: dict[str, list[str]] = {}
        for key, ids in whole.items():
            for end in ends_of(key, whole=True):
                self.ending.setdefault(end, []).extend(ids)

    def marked(self, key: str, ids: Mapping[str, bool]) -> list[str]:
        """The ids, with a mark at those for which the key is no name by itself, or under whose parent few of the names with
        this end lie; but not at the highest category of this very name."""
        highest = sorted((self.depths[id], id) for id in self.whole.get(key, ()))
        own = (
            highest[0][1]
            if highest and highest[0][0] <= _HIGH and (len(highest) < 2 or highest[0][0] < highest[1][0])
            else None
        )
        counts: Counter[str] = Counter()
        for id in self.ending.get(key, ()):
            while id:
                counts[id] += 1
                id = self.parents[id]
        every = len(self.ending.get(key, ()))
        clear = (safe and (id == own or counts[self.parents[id] or id] >= _CLEAR * every) for id, safe in ids.items())
        return [id if each else f"{_VAGUE}{id}" for id, each in zip(ids, clear, strict=True)]


def _listed(ids: str) -> list[str]:
    """Ids in one text, without their marks."""
    return ids.replace(_VAGUE, "").split(_BAR)


def plain_id(id: str) -> str:
    """An id as it stands in a file of ours, where | and ? are signs."""
    return _plain(id.replace(_VAGUE, ""))


def _plain(text: str) -> str:
    return " ".join(text.replace(_BAR, "/").split())


def write_taxonomy(taxonomy: Taxonomy, path: Path | str) -> None:
    """Write a taxonomy to a file of ours, which appears only when it is complete."""
    about = {"format": FORMAT, "keys": VERSION, "source": taxonomy.source, "version": taxonomy.version}
    about |= {"languages": list(taxonomy.languages), "categories": len(taxonomy)}
    about |= {"names": len(taxonomy.whole), "parts": len(taxonomy.parts)}
    lines = [f"{_FIRST}{json.dumps(about, ensure_ascii=False)}"]
    lines += [f"{id}{_TAB}{parent}{_TAB}{taxonomy.names[id]}" for id, parent in taxonomy.parents.items()]
    lines += [f"{key}{_TAB}{ids}" for index in (taxonomy.whole, taxonomy.parts) for key, ids in index.items()]
    with open_output(path) as stream:
        stream.write("\n".join([*lines, ""]).encode())


def read_taxonomy(path: Path | str) -> Taxonomy:
    """Read a file that `batag terms import` wrote."""
    path = Path(path)
    data = read_limited(path, what="a taxonomy")
    try:
        # An editor may have added a mark at the start, and Git or Windows other line ends.
        lines = data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise _foreign(path) from error
    about = _about(lines[0], path)
    first, middle = 1 + about["categories"], 1 + about["categories"] + about["names"]
    last = middle + about["parts"]
    if len(lines) != last + 1 or lines[last]:
        cut = " and a part of one" if lines[-1] else ""
        raise InputError(f"has {len(lines) - 1:,} whole lines{cut} instead of {last:,}", where=str(path), todo=_AGAIN)
    languages = tuple(about["languages"])
    parents: dict[str, str] = {}
    names: dict[str, str] = {}
    for number, line in enumerate(lines[1:first], 2):
        cells = line.split(_TAB, 2)
        if (
            len(cells) != 3
            or cells[0] in parents
            or (cells[1] and cells[1] not in parents)
            or line.count(_TAB) != 1 + len(languages)
        ):
            raise InputError("a damaged line", where=f"{path}:{number}", todo=_AGAIN)
        parents[cells[0]], names[cells[0]] = cells[1], cells[2]
    try:
        whole: dict[str, str] = dict(line.split(_TAB) for line in lines[first:middle])
        parts: dict[str, str] = dict(line.split(_TAB) for line in lines[middle:last])
    except ValueError:
        number = next(n for n, line in enumerate(lines[first:last], first + 1) if line.count(_TAB) != 1)
        raise InputError("a damaged line", where=f"{path}:{number}", todo=_AGAIN) from None
    listed = [*whole.values(), *parts.values()]
    if listed and (unknown := {*_listed(_BAR.join(listed))} - parents.keys()):
        ids = (_listed(line.split(_TAB)[1]) for line in lines[first:last])
        number = next(number for number, own in enumerate(ids, first + 1) if not unknown.isdisjoint(own))
        raise InputError("has an id that no category has", where=f"{path}:{number}", todo=_AGAIN)
    return Taxonomy(about["source"], about["version"], languages, parents, names, whole, parts)


def _about(line: str, path: Path) -> dict[str, Any]:
    try:
        about = json.loads(line.removeprefix(_FIRST)) if line.startswith(_FIRST) else None
    except (ValueError, RecursionError):
        about = None
    counts = ("format", "keys", "categories", "names", "parts")
    if not isinstance(about, dict) or any(type(about.get(name)) is not int for name in counts):
        raise _foreign(path)
    if (about["format"], about["keys"]) != (FORMAT, VERSION):
        what = f"is a taxonomy of another version of batag (format {about['format']}, keys {about['keys']})"
        raise InputError(what, where=str(path), todo=_AGAIN)
    languages = about.get("languages")
    texts = [about.get("source"), about.get("version"), *(languages if isinstance(languages, list) else [None])]
    if not all(isinstance(each, str) for each in texts):
        raise _foreign(path)
    return about


def _foreign(path: Path) -> InputError:
    todo = "Make one first: batag terms import FILE --out NAME.tsv"
    return InputError("is no taxonomy that batag wrote", where=str(path), todo=todo)
