"""CSV and TSV with a header: `read` tells the separator from it; `write` makes CSV that spreadsheets open right."""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from batag.errors import InputError
from batag.pages.formats.table import TableWriter
from batag.pages.layout import KEY
from batag.pages.mapping import KNOWN_KEYS, check_columns
from batag.pages.page import Page
from batag.pages.record import RecordReader
from batag.pages.row import COLUMNS, from_cells, to_cells
from batag.pages.source import Source
from batag.settings import settings

_MOST_LINES = 5_000


def read(source: Source, *, mark: str | None = None) -> Iterator[Page]:
    """Pages of a table whose first line names its columns; the separator is told from it if not given."""
    rows = table_rows(source, mark)
    names = column_names(rows.header, source)
    reader = RecordReader(problems=source.problems, stem=source.stem, columns=source.columns, language=source.language)
    for number, (line, cells) in enumerate(rows, 1):
        if not any(cells):
            continue
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        if len(cells) > len(names):
            reason = f"{len(cells)} cells under {len(names)} column names (a separator inside a text needs quotes)"
            source.problems.add("bad-row", source.where(line), reason)
            continue
        record = from_cells(dict(zip(names, cells, strict=False)))
        page = reader.page(record, where=source.where(line), number=number)
        if page is not None:
            yield page


def write(
    pages: Iterable[Page],
    stream: BinaryIO,
    *,
    bom: bool = False,
    excel_safe: bool = False,
    mark: str = ",",
    escaped: Counter[str] | None = None,
) -> None:
    """CSV, or TSV with a tab as mark; `escaped` counts the cells that `excel_safe` changed, by column."""
    writer = TableWriter(stream, COLUMNS, bom=bom, excel_safe=excel_safe, mark=mark)
    for page in pages:
        writer.row(list(to_cells(page).values()))
    if escaped is not None:
        escaped.update(writer.escaped)


def separator(head: str) -> str:
    """The separator that the first line uses most; comma if none."""
    first = head.split("\n", 1)[0]
    if first.startswith("sep=") and len(first) > 4:
        return first[4]
    return max(",\t;|", key=first.count)


def column_names(header: list[Any], source: Source) -> list[str]:
    """The columns' names, lower case; an error that lists them if none of them can be a field."""
    names = [str(name).strip() if name is not None else "" for name in header]
    lower = {name.lower(): name for name in reversed(names)}
    check_columns(source.columns, names, where=source.name)
    wanted = {"title", "description", "fields", "more", KEY}
    if not (wanted & (source.columns.keys() | lower.keys())) and not any(name not in COLUMNS for name in source.columns):
        there = f"the columns are {', '.join(filter(None, names)) or 'none'}"
        todo, python = f"Map one with --columns title=NAME; {there}", f'Map one with columns={{"title": "NAME"}}; {there}'
        raise InputError("has no column title or description", where=source.name, todo=todo, python=python)
    mapped = set(source.columns.values())
    own = {*COLUMNS, *KNOWN_KEYS}
    known = [name if name in mapped or name.lower() not in own else name.lower() for name in names]
    times = Counter(known)
    for name in {*KNOWN_KEYS, *mapped}:
        if times[name] > 1 and name not in source.columns:
            raise InputError(f"has the column {name} more than once", where=source.name, todo="Rename all but one")
    firsts = {name: place for place, name in reversed(list(enumerate(known))) if name}
    unique = [name if firsts.get(name) == place else f"{name or 'column'}_{place + 1}" for place, name in enumerate(known)]
    for place, name in enumerate(unique):
        while firsts.setdefault(name, place) != place:  # a column has the name that another would get
            name += "_"
        unique[place] = name
    return unique


class TableRows(Iterator[tuple[int, list[str]]]):
    """The rows under a header, each with the line that it starts on."""

    def __init__(self, rows: Iterator[tuple[int, list[str]]]) -> None:
        self._rows = rows
        _, self.header = next(rows, (1, []))
        if self.header and self.header[0] == "sep=":  # Excel's own way to say the separator
            _, self.header = next(rows, (1, []))

    def __next__(self) -> tuple[int, list[str]]:
        return next(self._rows)


def table_rows(source: Source, mark: str | None = None) -> TableRows:
    """The rows of a table; its separator is told from the first line if not given."""
    csv.field_size_limit(settings.max_record_bytes)
    return TableRows(_rows(source, mark or separator(source.head.decode(errors="replace"))))


def _rows(source: Source, mark: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line they start on. A quote that never closes costs its own line only, not the rest of the file."""
    lines, ahead = source.lines(), _Ahead(mark)
    while (first := ahead.take() or next(lines, None)) is not None:
        row, reason = _parsed([first[1]], mark)
        if reason == _OPEN:
            row, reason = ahead.close(first[1], lines)
        if row is not None:
            yield first[0], row
        else:
            reason = "a quote that opens in this row does not close" if reason == _OPEN else reason
            source.problems.add("bad-row", source.where(first[0]), reason)


class _Ahead:
    """Lines read beyond the row at hand, to find where its quote closes.

    Whether a line closes a quote does not hang on the row that opened it. So each line is looked at once, and of the lines
    here only the last can be one that does not leave the quote open: a file of quotes costs no more than its length.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._lines: deque[tuple[int, str]] = deque()
        self._size = 0
        self._state = _OPEN

    def take(self) -> tuple[int, str] | None:
        """The next of the lines, for a row of its own."""
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._size -= len(line[1])
        if not self._lines:
            self._state = _OPEN
        return line

    def close(self, first: str, lines: Iterator[tuple[int, str]]) -> tuple[list[str] | None, str]:
        """The row that starts with a line whose quote is open; None and why if it cannot be read."""
        room = settings.max_record_bytes - len(first)
        while self._state == _OPEN and self._size <= room and len(self._lines) < _MOST_LINES:
            if (line := next(lines, None)) is None:
                break
            self._lines.append(line)
            self._size += len(line[1])
            if '"' in line[1]:
                _, self._state = _parsed([f'"{line[1]}'], self._mark)
        if self._state or self._size > room:
            return None, self._state or _OPEN
        row, reason = _parsed([first, *(text for _, text in self._lines)], self._mark)
        self._lines.clear()
        self._size, self._state = 0, _OPEN
        return row, reason


_OPEN = "unexpected end of data"
"""What the library says of a quote that is still open."""


def _parsed(lines: list[str], mark: str) -> tuple[list[str] | None, str]:
    """The one row of these lines; None and why if they are not one."""
    try:
        return next(csv.reader(lines, delimiter=mark, strict=True), []), ""
    except csv.Error as error:
        return None, str(error)


def looks_like_table(head: str) -> bool:
    """Whether the first line names columns that we know."""
    try:
        first = next(csv.reader([head.split("\n", 1)[0]], delimiter=separator(head)), [])
    except csv.Error:
        return False
    return bool({name.strip().lower() for name in first} & {"title", "description", "id", KEY})
