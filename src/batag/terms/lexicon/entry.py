"""One entry of the lexicon, and the row of a table that it is read from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from batag.errors import InputError

BRAND, GOODS, FEATURE, PROMO = KINDS = ("brand", "goods", "feature", "promo")
ANY = ""
"""The language of names that are the same everywhere: those of brands."""
_LANGUAGES = ("zh-Hant", "zh-Hans", "ja", "en")
COLUMNS = {
    BRAND: (ANY, "groups"),
    GOODS: ("id", *_LANGUAGES),
    FEATURE: ("id", "kind", *_LANGUAGES),
    PROMO: _LANGUAGES,
}
NO_NAMES = frozenset({"id", "kind", "groups"})
_FILES = {"brands": BRAND, "goods": GOODS, "features": FEATURE, "promo": PROMO}
_BETWEEN, _MARK = " | ", "*"


@dataclass(frozen=True, slots=True)
class Entry:
    """One brand, kind of goods or feature with its names by language; `marked` are names that are ordinary words too."""

    kind: str
    id: str
    names: Mapping[str, tuple[str, ...]]
    groups: tuple[str, ...] = ()
    marked: frozenset[tuple[str, str]] = frozenset()
    where: str = ""

    def name(self, language: str) -> str:
        """Its usual name in a language, or in the first language that has one."""
        own = self.names.get(ANY) or self.names.get(language) or next(iter(self.names.values()), (self.id,))
        return own[0]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, not yet taken apart."""

    kind: str
    group: str
    file: str
    number: int
    line: str

    def cells(self) -> dict[str, str]:
        """The cells by column."""
        cells, columns = self.line.split("\t"), COLUMNS[self.kind]
        if len(cells) != len(columns):
            todo = f"Write {', '.join(filter(None, columns))}, with tabs between"
            raise InputError(
                f"has {len(cells)} columns instead of {len(columns)}", where=f"{self.file}:{self.number}", todo=todo
            )
        return dict(zip(columns, cells, strict=True))

    def names(self) -> dict[str, tuple[str, ...]]:
        """The names of each language, with their marks."""
        return {column: tuple(cell.split(_BETWEEN)) for column, cell in self.cells().items() if cell and column not in NO_NAMES}

    def entry(self) -> Entry:
        """The entry of the row."""
        cells, names = self.cells(), self.names()
        marked = frozenset((language, name[:-1]) for language, own in names.items() for name in own if name.endswith(_MARK))
        plain = {language: tuple(map(unmarked, own)) for language, own in names.items()}
        groups = (
            tuple(each.strip() for each in cells["groups"].split(","))
            if "groups" in cells
            else (cells.get("kind") or self.group,)
        )
        id = cells.get("id") or next(iter(plain.values()))[0]
        return Entry(self.kind, id, plain, groups, marked, f"{self.file}:{self.number}")


def unmarked(name: str) -> str:
    """A name without the mark of ordinary words."""
    return name[:-1] if name.endswith(_MARK) else name


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of one table."""
    first, _, group = path.stem.partition("-")
    kind, file = _FILES[first], path.name
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line and line[0] != "#":
            yield Row(kind, group, file, number, line)
