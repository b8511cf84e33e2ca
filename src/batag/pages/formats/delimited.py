"""CSV and TSV with a header."""

import codecs
import csv
import io
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from batag.pages.fields import STANDARD_FIELDS
from batag.pages.formats.row import ADDED, COLUMNS, Row, Written, page, read_header, text_cell, to_row
from batag.pages.layout import KEY, escape
from batag.pages.page import Page
from batag.pages.source import Source
from batag.settings import settings

__all__ = ["join", "page", "read", "write", "write_rows"]
_MOST_LINES = 5_000
Unread = Callable[[int, str], None]


def read(source: Source, *, separator: str | None = None) -> Iterator[tuple[str, int, dict[str, str]]]:
    """Yield the rows of a table whose first line names its columns; the separator is detected from it unless given."""
    header, lines = raw_rows(source, separator=separator)
    read_header(header, source)
    return _rows(source, lines)


def raw_rows(
    source: Source, *, separator: str | None = None, unread: Unread = lambda line, text: None
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header, and the cells of each row with the line that it starts on; `unread` is called with the line and the text of a
    row that cannot be read."""
    csv.field_size_limit(settings.max_record_bytes)
    lines = _lines(source, separator or separator_of(source.head.decode(errors="replace")), unread)
    return _header(lines), lines


def _rows(source: Source, lines: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[str, int, dict[str, str]]]:
    names = source.names
    for number, (line, cells) in enumerate(lines, 1):
        if not any(cells):
            continue
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        if len(cells) > len(names):
            reason = f"{len(cells)} cells under {len(names)} column names (a separator inside a text needs quotes)"
            source.problems.add("bad-row", source.where(line), reason)
        else:
            yield source.where(line), number, dict(zip(names, cells, strict=False))


def write(
    pages: Iterable[Page],
    stream: BinaryIO,
    *,
    escaped: Counter[str] | None = None,
    also: Sequence[str] = (),
    **options: Any,
) -> None:
    """Write pages as rows of batag's own columns and those that stand `also` by themselves; `escaped` counts the cells that
    `excel_safe` changed, by column."""
    rows = (to_row(page, also=also) for page in pages)
    written = write_rows(rows, stream, (*COLUMNS, *also), errors=False, **options)
    if escaped is not None:
        escaped.update(written.escaped)


def write_rows(
    rows: Iterable[Row],
    stream: BinaryIO,
    header: Sequence[str],
    *,
    separator: str = ",",
    bom: bool = False,
    excel_safe: bool = False,
    errors: bool = True,
    marked: bool = False,
) -> Written:
    """Write CSV (RFC 4180) or TSV. `excel_safe` puts an apostrophe before each cell that a spreadsheet would run as a formula;
    then, or with `marked`, a last column `batag` records the layout of each row."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\r\n")

    def put(cells: Sequence[str]) -> None:
        writer.writerow(cells)
        stream.write(buffer.getvalue().encode(errors="replace"))
        buffer.seek(0)
        buffer.truncate()

    written, marked = Written(), marked or excel_safe
    names = [escape(name) if excel_safe else name for name in (*header, *(ADDED if errors else ADDED[:2]))]
    if bom:
        stream.write(codecs.BOM_UTF8)
    put([*names, *([KEY] if marked else [])])
    for row in rows:
        cells = [*map(text_cell, row.cells), row.tags_text(), row.reviewed_text(), *([row.error or ""] if errors else [])]
        safe = [escape(cell) for cell in cells] if excel_safe else cells
        changed = [name for name, cell, given in zip(names, safe, cells, strict=True) if cell != given] if excel_safe else []
        written.escaped.update(changed)
        put([*safe, row.layout_text(changed)] if marked else safe)
    return written


def join(parts: Iterable[bytes], stream: BinaryIO) -> None:
    """Concatenate tables with the same header; only the first keeps it."""
    for number, data in enumerate(parts):
        stream.write(data[_header_length(data) :] if number else data)


def _header_length(data: bytes) -> int:
    """The length of the header row; line breaks inside quotes belong to it."""
    start = quotes = 0
    while True:
        end = data.index(b"\r\n", start) + 2
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0:
            return end
        start = end


def separator_of(head: str) -> str:
    """The most frequent separator in the first line; a comma if there is none."""
    first = head.split("\n", 1)[0]
    if first.startswith("sep=") and len(first) > 4:
        return first[4]
    return max(",\t;|", key=first.count)


def _header(lines: Iterator[tuple[int, list[str]]]) -> list[str]:
    _, header = next(lines, (1, []))
    if header and header[0] == "sep=":  # Excel's own way to say the separator
        _, header = next(lines, (1, []))
    return header


def _lines(source: Source, separator: str, unread: Unread) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the line number they start on. A quote that is never closed costs its own line only, not the rest of the
    file."""
    lines, ahead = source.lines(), _Ahead(separator)
    while (first := ahead.take() or next(lines, None)) is not None:
        row, reason = _parsed([first[1]], separator)
        if reason == _OPEN:
            row, reason = ahead.close(first[1], lines)
        if row is not None:
            yield first[0], row
        else:
            reason = "a quote that opens in this row does not close" if reason == _OPEN else reason
            source.problems.add("bad-row", source.where(first[0]), reason)
            unread(*first)


class _Ahead:
    """Lines that were read ahead to find where the quote of the current row closes.

    Whether a line closes a quote does not depend on the row that opened it. So each line is examined once, and among these
    lines only the last can close the quote: the time is linear in the length of the file.
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._lines: deque[tuple[int, str]] = deque()
        self._size = 0
        self._state = _OPEN

    def take(self) -> tuple[int, str] | None:
        """The next of these lines, to start a row of its own."""
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._size -= len(line[1])
        if not self._lines:
            self._state = _OPEN
        return line

    def close(self, first: str, lines: Iterator[tuple[int, str]]) -> tuple[list[str] | None, str]:
        """The row that starts with a line whose quote is open; None and the reason if it cannot be read."""
        room = settings.max_record_bytes - len(first)
        while self._state == _OPEN and self._size <= room and len(self._lines) < _MOST_LINES:
            if (line := next(lines, None)) is None:
                break
            self._lines.append(line)
            self._size += len(line[1])
            if '"' in line[1]:
                _, self._state = _parsed([f'"{line[1]}'], self._separator)
        if self._state or self._size > room:
            return None, self._state or _OPEN
        row, reason = _parsed([first, *(text for _, text in self._lines)], self._separator)
        self._lines.clear()
        self._size, self._state = 0, _OPEN
        return row, reason


_OPEN = "unexpected end of data"
"""The csv library's message for a quote that is still open."""


def _parsed(lines: list[str], separator: str) -> tuple[list[str] | None, str]:
    """The single row of these lines; None and the reason if they are not one row."""
    try:
        return next(csv.reader(lines, delimiter=separator, strict=True), []), ""
    except csv.Error as error:
        return None, str(error)


def looks_like_table(head: str, *, also: Iterable[str] = ()) -> bool:
    """Whether the first line names columns that batag knows."""
    try:
        first = next(csv.reader([head.split("\n", 1)[0]], delimiter=separator_of(head)), [])
    except csv.Error:
        return False
    names = {name.strip() for name in first}
    return bool({name.lower() for name in names} & {*STANDARD_FIELDS, "id", KEY} or names & {*also})
