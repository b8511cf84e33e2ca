"""All entries of the lexicon, found by match key.

The keys of all names stand in `keys.txt`, so that they need not be made whenever the lexicon is read; if it is not that of the
tables (somebody has changed them), they are made. `python -m batag.terms.lexicon` writes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from batag.terms.key import VERSION, match_keys
from batag.terms.lexicon.anchors import read_anchors
from batag.terms.lexicon.broader import Wider, read_broader
from batag.terms.lexicon.entry import ANY, BRAND, COLUMNS, GOODS, NO_NAMES, Entry, Row, read_rows, unmarked

KEYS = "keys.txt"
_FOLDER = Path(__file__).parent
_TAB, _BAR = "\t", "|"
_CJK = "[\u3041-\u30ff\u3400-\u9fff]+"
_LANGUAGES = {kind: [column for column in columns if column not in NO_NAMES] for kind, columns in COLUMNS.items()}
_TWO_SCRIPTS = re.compile(f"([!-~][ -~]*)({_CJK})|({_CJK})([!-~][ -~]*)")


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that has a name with the key that was looked for, or is named by it twice (then `key` is None)."""

    entry: Entry
    key: str | None
    keys: str

    @property
    def language(self) -> str:
        """The language of that name; "" if names of several languages have the key."""
        if self.key is None:
            return ANY
        own = {language for language, keys in _cells_of(self.entry.kind, self.keys) if self.key in keys}
        return own.pop() if len(own) == 1 else ""

    @property
    def marked(self) -> bool:
        """Whether that name is an ordinary word too."""
        if not self.entry.marked:
            return False
        cells = _cells_of(self.entry.kind, self.keys)
        own = [(language, place) for language, keys in cells for place, each in enumerate(keys) if each == self.key]
        return bool(own) and all((language, self.entry.names[language][place]) in self.entry.marked for language, place in own)


class Lexicon:
    """Rows of tables, and for each row the keys of its names: cells as in the table, with | between."""

    def __init__(self, rows: Sequence[Row], keys: Sequence[str], *, folder: Path = _FOLDER) -> None:
        self.rows, self._folder = rows, folder
        self._keys = keys
        self._entries: dict[int, Entry] = {}
        self._tight: dict[str, str] = {}
        self._brands: dict[str, list[int]] = {}
        self._others: dict[str, list[int]] = {}
        for number, (row, line) in enumerate(zip(rows, keys, strict=True)):
            index = self._brands if row.kind == BRAND else self._others
            for key in line.replace(_TAB, _BAR).split(_BAR):
                if key in index:
                    index[key].append(number)
                else:
                    index[key] = [number]
                    if " " in key:
                        self._tight[key.replace(" ", "")] = key
        self._others.pop("", None)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def entries(self) -> Iterator[Entry]:
        """All entries."""
        return map(self.entry, range(len(self.rows)))

    def entry(self, number: int) -> Entry:
        """The entry of a row."""
        if number not in self._entries:
            self._entries[number] = self.rows[number].entry()
        return self._entries[number]

    def has(self, key: str) -> bool:
        """Whether a kind of goods, a feature or a word of advertising has a name of this key."""
        return key in self._others

    def knows(self, key: str, close: str) -> bool:
        """Whether `find` would find anything."""
        if key in self._others or close in self._brands:
            return True
        if not key.isascii():
            return _TWO_SCRIPTS.fullmatch(close) is not None and bool(self.find_twice(close))
        return key.replace(" ", "") in self._tight or close.replace(" ", "") in self._tight

    def find(self, key: str, *, close: str | None = None) -> list[Found]:
        """The entries with a name of this key. `close` is the key without the rule for plurals, by which brands are found."""
        brands = self._numbers(self._brands, key if close is None else close)
        found = [*brands, *self._numbers(self._others, key)]
        return [Found(self.entry(number), at, self._keys[number]) for number, at in found]

    def find_twice(self, close: str) -> list[Found]:
        """The brand that a key names twice, in two scripts: lg樂金, 日立hitachi."""
        halves = _TWO_SCRIPTS.fullmatch(close)
        if halves is None:
            return []
        one, other = ({number for number, _ in self._numbers(self._brands, half.strip())} for half in halves.groups() if half)
        return [Found(self.entry(number), None, "") for number in sorted(one & other)]

    def _numbers(self, index: dict[str, list[int]], key: str) -> list[tuple[int, str]]:
        numbers = index.get(key)
        if numbers is None:
            # The same letters with other spaces: hair dryer, hairdryer.
            if not key.isascii() or (key := self._tight.get(key.replace(" ", ""), "")) not in index:
                return []
            numbers = index[key]
        return [(number, key) for number in dict.fromkeys(numbers)]

    def keys(self, entry: Entry) -> list[tuple[str, str]]:
        """The language and key of each name of a kind of goods or a feature."""
        cells = _cells_of(entry.kind, self._keys[self._places[entry.kind, entry.id]])
        return [(language, key) for language, keys in cells for key in keys]

    def wider(self, entry: Entry) -> tuple[Entry, bool] | None:
        """The wider kind of goods of a kind, if the list of wider kinds names it, and whether the kind only belongs to it."""
        found = self._broader.get(entry.id)
        number = None if found is None else self._places.get((GOODS, found.id))
        return None if found is None or number is None else (self.entry(number), found.beside)

    def anchor(self, entry: Entry) -> str | None:
        """The English path of the category that is written down for a kind of goods."""
        return self._anchors.get(entry.id)

    @cached_property
    def _anchors(self) -> dict[str, str]:
        return read_anchors(self._folder)

    @cached_property
    def _broader(self) -> dict[str, Wider]:
        return read_broader(self._folder)

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        return {(row.kind, row.line.partition(_TAB)[0]): number for number, row in enumerate(self.rows) if row.kind != BRAND}


@cache
def read_lexicon(folder: Path = _FOLDER) -> Lexicon:
    """Read the tables of a folder, by default batag's own, once."""
    rows = [row for path in _tables(folder) for row in read_rows(path)]
    stored = folder / KEYS
    if stored.is_file():
        first, _, rest = stored.read_text(encoding="utf-8").partition("\n")
        if first == _digest(folder):
            return Lexicon(rows, rest.split("\n"), folder=folder)
    return Lexicon(rows, make_keys(rows), folder=folder)


def lexicon_digest() -> str:
    """A digest of batag's own lexicon: another one means other names."""
    return _digest(_FOLDER)


def write_keys(folder: Path = _FOLDER) -> None:
    """Write the keys of the names in the tables of a folder."""
    rows = [row for path in _tables(folder) for row in read_rows(path)]
    (folder / KEYS).write_text("\n".join([_digest(folder), *make_keys(rows)]), encoding="utf-8")


def keys_are_current(folder: Path = _FOLDER) -> bool:
    """Whether the stored keys are those of the tables."""
    with (folder / KEYS).open(encoding="utf-8") as stream:
        return stream.readline().rstrip("\n") == _digest(folder)


def make_keys(rows: Sequence[Row]) -> list[str]:
    """The keys of the names of each row."""
    made: list[str] = [""] * len(rows)
    for brands in (True, False):
        # Brands keep their s: Vans are no van.
        chosen = [number for number, row in enumerate(rows) if (row.kind == BRAND) == brands]
        names = [_cells(rows[number]) for number in chosen]
        keys = iter(match_keys((name for cells in names for cell in cells for name in cell), plural=not brands))
        for number, cells in zip(chosen, names, strict=True):
            made[number] = _TAB.join(_BAR.join(next(keys) for _ in cell) for cell in cells)
    return made


def _cells_of(kind: str, keys: str) -> Iterator[tuple[str, list[str]]]:
    """Each language in which a row has names, and the keys of these."""
    for language, cell in zip(_LANGUAGES[kind], keys.split(_TAB), strict=True):
        if cell:
            yield language, cell.split(_BAR)


def _cells(row: Row) -> list[list[str]]:
    names = row.names()
    return [[unmarked(name) for name in names.get(column, ())] for column in _LANGUAGES[row.kind]]


def _tables(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.tsv"))


def _digest(folder: Path) -> str:
    """A digest of the tables and of the version of the rules."""
    digest = hashlib.blake2b(f"keys {VERSION}".encode(), digest_size=16)
    for path in _tables(folder):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
