"""The lexicon: brands, kinds of goods, features and words of advertising in all languages, in tables that people extend.

`brands-*.tsv`: names, groups. `goods-GROUP.tsv`: id and the names in each language. `features.tsv`: id, kind, names.
`promo.tsv`: words that are no tags. Names in a cell are separated by ` | `; a `*` behind a name marks an ordinary word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from batag.errors import InputError
from batag.terms.key import match_keys

BRAND, GOODS, FEATURE, PROMO = KINDS = ("brand", "goods", "feature", "promo")
ANY = ""
"""The language of names that are the same everywhere: those of brands."""
LANGUAGE_COLUMNS = ("zh-Hant", "zh-Hans", "ja", "en")
COLUMNS = {
    BRAND: (ANY, "groups"),
    GOODS: ("id", *LANGUAGE_COLUMNS),
    FEATURE: ("id", "kind", *LANGUAGE_COLUMNS),
    PROMO: LANGUAGE_COLUMNS,
}
_BETWEEN, _MARK = " | ", "*"
_FILES = {"brands": BRAND, "goods": GOODS, "features": FEATURE, "promo": PROMO}
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Entry:
    """One brand, kind of goods or feature with its names by language; `marked` are names that are ordinary words too."""

    kind: str
    id: str
    names: Mapping[str, tuple[str, ...]]
    groups: tuple[str, ...] = ()
    marked: frozenset[str] = frozenset()
    where: str = ""

    def name(self, language: str) -> str:
        """Its usual name in a language, or in the first language that has one."""
        own = self.names.get(ANY) or self.names.get(language) or next(iter(self.names.values()), (self.id,))
        return own[0]

    def all_names(self) -> Iterator[tuple[str, str]]:
        """Each language and name."""
        return ((language, name) for language, names in self.names.items() for name in names)


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that has a name with the key that was looked for."""

    entry: Entry
    language: str
    marked: bool


class Lexicon:
    """Entries, found by match key."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        self._by_key: dict[str, list[tuple[int, str, str]]] = {}
        self._tight: dict[str, str] = {}
        self._keys: dict[str, list[tuple[str, str]]] = {}
        for plural in (True, False):
            # Brands keep their s: Vans are no van.
            own = [
                (number, language, name)
                for number, entry in enumerate(self.entries)
                if (entry.kind != BRAND) == plural
                for language, names in entry.names.items()
                for name in names
            ]
            for key, place in zip(match_keys([name for _, _, name in own], plural=plural), own, strict=True):
                self._by_key.setdefault(key, []).append(place)
                if plural:
                    self._keys.setdefault(self.entries[place[0]].id, []).append((place[1], key))
                if " " in key:
                    self._tight.setdefault(key.replace(" ", ""), key)

    def find(self, key: str, *, close: str | None = None) -> list[Found]:
        """The entries with a name of this key. `close` is the key without the rule for plurals, by which brands are found."""
        found = [each for each in self._at(key) if each.entry.kind != BRAND]
        return [each for each in self._at(key if close is None else close) if each.entry.kind == BRAND] + found

    def _at(self, key: str) -> Iterator[Found]:
        places = self._by_key.get(key) or self._by_key.get(self._tight.get(key.replace(" ", ""), ""), ())
        for number, language, name in places:
            entry = self.entries[number]
            yield Found(entry, language, name in entry.marked)

    def keys(self, entry: Entry) -> list[tuple[str, str]]:
        """The language and key of each name of a kind of goods or a feature."""
        return self._keys.get(entry.id, [])

    def __len__(self) -> int:
        return len(self.entries)


@cache
def read_lexicon(folder: Path = _FOLDER) -> Lexicon:
    """Read the tables of a folder, by default batag's own, once."""
    paths = sorted(folder.glob("*.tsv"))
    return Lexicon(entry for path in paths for entry in read_table(path))


def read_table(path: Path) -> Iterator[Entry]:
    """Yield the entries of one table."""
    kind = _FILES[path.stem.partition("-")[0]]
    columns, group = COLUMNS[kind], path.stem.partition("-")[2]
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            what = f"has {len(cells)} columns instead of {len(columns)}"
            raise InputError(what, where=f"{path.name}:{number}", todo=f"Write {', '.join(filter(None, columns))}, with tabs between")
        yield _entry(kind, columns, cells, group, f"{path.name}:{number}")


def _entry(kind: str, columns: tuple[str, ...], cells: list[str], group: str, where: str) -> Entry:
    names: dict[str, tuple[str, ...]] = {}
    marked: set[str] = set()
    known: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=True):
        if column in ("id", "kind", "groups"):
            known[column] = cell
        elif cell:
            own = tuple(cell.split(_BETWEEN))
            if _MARK in cell:
                marked.update(name[:-1] for name in own if name.endswith(_MARK))
                own = tuple(name.removesuffix(_MARK) for name in own)
            names[column] = own
    groups = tuple(known["groups"].split(",")) if "groups" in known else (known.get("kind") or group,)
    id = known.get("id") or next(iter(names.values()))[0]
    return Entry(kind, id, names, tuple(each.strip() for each in groups), frozenset(marked), where)
