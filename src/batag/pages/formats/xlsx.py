"""Excel workbooks: the first sheet, its first row names the columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, time
from typing import Any, BinaryIO

from batag.errors import InputError
from batag.pages.corrections import is_readable
from batag.pages.formats.delimited import column_names
from batag.pages.formats.sheet import Cell, SheetWriter, cut, possible
from batag.pages.formats.workbook import NO_VALUE, Row, Workbook
from batag.pages.page import Page
from batag.pages.record import RecordReader
from batag.pages.row import COLUMNS, from_cells, to_cells
from batag.pages.signatures import zip_kind
from batag.pages.source import Source


def read(source: Source) -> Iterator[Page]:
    """Pages of a workbook, row by row."""
    rows = SheetRows(source)
    reader = RecordReader(problems=source.problems, stem=source.stem, columns=source.columns, language=source.language)
    # A person who empties such a cell takes the tags away.
    emptied = dict.fromkeys(filter(is_readable, rows.names), "") if "tags" in rows.names else {}
    for number, cells in rows:
        given = {name: str(cell) for name, cell in zip(rows.names, cells, strict=False) if cell is not None}
        page = reader.page(from_cells(emptied | given), where=f"{source.name}, row {number}", number=number - 1)
        if page is not None:
            yield page


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """A workbook with the columns of CSV; a cell that Excel cannot hold is an error."""
    with SheetWriter(stream) as sheet:
        sheet.row(COLUMNS)
        for page in pages:
            fields = {name: possible(text) for name, text in page.fields.items()}
            tags = tuple(replace(tag, text=possible(tag.text)) for tag in page.tags)
            cells = to_cells(replace(page, fields=fields, tags=tags))
            for name, cell in cells.items():
                if cut(cell) != cell:
                    todo = "Write .csv, .parquet or .jsonl, which have no such limit"
                    raise InputError(f"{name} is longer than a cell of Excel", where=f"page {page.id}", todo=todo)
            sheet.row(list(cells.values()))


class SheetRows(Iterator[tuple[int, list[Cell]]]):
    """The rows of the first sheet under its header (`header` as it is spelt, `names` as batag knows them) with their numbers;
    empty ones are passed over, and so is what stands beside the header's columns. Formulas without a value are noted."""

    def __init__(self, source: Source) -> None:
        self._source, self._rows = source, _rows(source)
        number, cells = next(self._rows, (1, {}))
        given = [cells.get(place) for place in range(1, max(cells, default=0) + 1)]
        if NO_VALUE in given:
            self._note(number, "the header")
            given = [None if name is NO_VALUE else name for name in given]
        self.header = ["" if name is None else str(name) for name in given]
        self.names = column_names(given, source)

    def __next__(self) -> tuple[int, list[Cell]]:
        for number, cells in self._rows:
            if any(cell is not None and cell != "" for cell in cells.values()):
                row = [cells.get(place) for place in range(1, len(self.names) + 1)]
                if lost := [name for name, cell in zip(self.names, row, strict=True) if cell is NO_VALUE]:
                    self._note(number, ", ".join(lost))
                return number, [None if cell is NO_VALUE else _plain(cell) for cell in row]
        raise StopIteration

    def _note(self, number: int, what: str) -> None:
        todo = "it is read as empty; open the workbook in Excel or LibreOffice and save it"
        self._source.problems.add(
            "no-value", f"{self._source.name}, row {number}", f"{what}: a formula without its value; {todo}"
        )


def _rows(source: Source) -> Iterator[Row]:
    """The rows of the first sheet; a workbook that breaks in the middle ends there."""
    file, number = source.seekable(), None
    try:
        book = Workbook(file)
        if not book.has_sheets:
            what, todo = zip_kind(book.names)
            raise InputError(f"is {what}", where=source.name, todo=todo)
        for number, cells in book.rows():
            yield number, cells
    except InputError:
        raise
    except Exception as error:  # a damaged workbook breaks the libraries in many ways
        reason = str(error)[:80] or type(error).__name__
        if number is None:
            what = f"is not a readable workbook ({reason})"
            raise InputError(what, where=source.name, todo="Save it as .xlsx; a zip must be unpacked first") from error
        where = f"{source.name}, row {number + 1}"
        source.problems.add("truncated", where, f"the workbook cannot be read further ({reason})")


def _plain(cell: Any) -> Cell:
    """A cell as a person sees it: 24.0 is 24, a date is its ISO form; numbers stay numbers."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime):
        return (cell if cell.time() != time() else cell.date()).isoformat()
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)
