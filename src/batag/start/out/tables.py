"""The table of the shop with its tags, as `tags.xlsx` and `tags.csv`."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from batag.pages.corrections import readable
from batag.pages.file import open_output
from batag.pages.formats.row import text_cell
from batag.pages.formats.sheet import MOST_CHARACTERS, MOST_COLUMNS, Cell
from batag.pages.layout import escape
from batag.pages.page import Tag, without_surrogates
from batag.start.out.book import OWN, PROBLEM, TAGS, Books, stale_files
from batag.start.out.names import Names
from batag.start.out.rows import TaggedRow
from batag.tagging.top import is_shown, top

WORKBOOK, DELIMITED = "tags.xlsx", "tags.csv"
TOP, NOT_TAGGED = "top tags", "not tagged because"
SEPARATOR = "; "


@dataclass(frozen=True)
class Tables:
    """The files that were written, and what to say about them."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


class TableWriter:
    """Writes both tables row by row. `header` are the shop's columns; with `problems` there is a column that says why a row has
    no tags. `counts` are the tags of each canonical form: what few pages have comes first among the top tags. `names` are the
    spellings to show."""

    def __init__(
        self,
        out: Path,
        *,
        header: Sequence[str],
        labels: Sequence[str],
        problems: bool,
        number: int = 5,
        counts: Mapping[str, int] | None = None,
        names: Names | None = None,
        language: str | None = None,
    ) -> None:
        self._out, self._labels, self._number, self._counts, self._problems = out, labels, number, counts, problems
        self._names = names or Names()
        added = [*map(readable, labels), TOP, *([NOT_TAGGED] if problems else [])]
        self.header = [*header, *free_names(added, taken=header)]
        kinds = [OWN] * len(header) + [TAGS] * (len(labels) + 1) + [PROBLEM] * problems
        self._width = len(header)
        self._fits = len(self.header) <= MOST_COLUMNS
        self._books = Books(out / WORKBOOK, self.header, kinds=kinds, language=language)
        self._buffer = io.StringIO(newline="")
        self._csv = csv.writer(self._buffer, lineterminator="\r\n")
        self._stack = ExitStack()
        self.errors = 0

    def __enter__(self) -> TableWriter:
        self._stack.enter_context(self._books) if self._fits else None
        self._stream = self._stack.enter_context(open_output(self._out / DELIMITED))
        self._stream.write(codecs.BOM_UTF8)
        self._put(self.header)
        return self

    def add(self, row: TaggedRow) -> None:
        """Write a row to both."""
        own = [own_cell(cell) for cell in row.cells]
        added = [*label_cells(row.tags, self._labels, self._names), SEPARATOR.join(self._top(row.tags))]
        if self._problems:
            added.append(row.error or "")
        self.errors += row.error is not None
        self._put([*map(text_cell, own), *map(escape, added)])
        if self._fits:
            self._books.row([*own, *added])

    def _top(self, tags: Sequence[Tag]) -> list[str]:
        return [_apart(self._names.of(tag)) for tag in top(tags, self._number, counts=self._counts)] if tags else []

    def _put(self, cells: Sequence[str]) -> None:
        self._csv.writerow(cells)
        self._stream.write(self._buffer.getvalue().encode(errors="replace"))
        self._buffer.seek(0)
        self._buffer.truncate()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)
        if error is None:
            for path in stale_files(self._out / WORKBOOK, new=self._written()):
                path.unlink()

    def _written(self) -> list[Path]:
        return [*self._books.files, *filter(None, [self._books.long_file])]

    def tables(self) -> Tables:
        """What was written, after the end."""
        notes = []
        books = self._books
        if not self._fits:
            notes.append(f"{len(self.header):,} columns are more than Excel's {MOST_COLUMNS:,}: there is only {DELIMITED}")
        if len(books.files) > 1:
            names = ", ".join(path.name for path in books.files)
            notes.append(
                f"{books.rows:,} rows are more than one sheet of Excel holds: they are in {names}; {DELIMITED} has all"
            )
        if books.long_file is not None:
            cells = f"{books.long_cells:,} cell{' is' if books.long_cells == 1 else 's are'} longer than Excel's"
            where = DELIMITED if books.long_left else f"{books.long_file.name} (in pieces) and in {DELIMITED}"
            notes.append(f"{cells} {MOST_CHARACTERS:,} characters: cut in {WORKBOOK}, whole in {where}")
        if self.errors:
            rows = f"{self.errors:,} row{'' if self.errors == 1 else 's'}"
            notes.append(f"{rows} could not be tagged: the column {self.header[-1]!r} says why")
        return Tables((*self._written(), self._out / DELIMITED), tuple(notes))


def label_cells(tags: Sequence[Tag], labels: Sequence[str], names: Names) -> list[str]:
    """The canonical forms of each label, in order of their first mention. Words of advertising, which have none, are left out
    unless a person tagged them: these are shown as they are written."""
    found: dict[str, dict[str, None]] = {label: {} for label in labels}
    for tag in tags:
        if tag.label in found and is_shown(tag):
            found[tag.label][_apart(names.of(tag))] = None
    return [SEPARATOR.join(forms) for forms in found.values()]


def own_cell(value: Any) -> Cell:
    """A cell of the shop: text stays text, and numbers stay numbers if they are exact in a spreadsheet (15 digits)."""
    if isinstance(value, bool) or (isinstance(value, int | float) and abs(value) < 1e15):
        return value
    return without_surrogates(text_cell(value))


def free_names(names: Sequence[str], *, taken: Sequence[str]) -> list[str]:
    """The names, with a number behind those that the shop has already."""
    seen = {each.strip().casefold() for each in taken}
    found = []
    for name in names:
        number, free = 1, name
        while free.casefold() in seen:
            number += 1
            free = f"{name} {number}"
        seen.add(free.casefold())
        found.append(free)
    return found


def _apart(name: str) -> str:
    """A name that cannot be taken for two."""
    return name.replace(";", ",")
