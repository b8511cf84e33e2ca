"""The first rows of an export, read before anybody knows what its columns hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from batag.errors import EmptyTableError, InputError
from batag.pages.file import once_only, open_file
from batag.pages.formats.delimited import separator_of
from batag.pages.formats.detection import UNDETECTED, detect_format
from batag.pages.formats.format import FORMATS, check_format, format_module
from batag.pages.formats.reading import read_records
from batag.pages.formats.xlsx import UNNAMED
from batag.pages.source import Source, guess_encoding, open_source
from batag.settings import settings
from batag.start.headers import field_of_name

_ROWS = 2_000
_ABOVE = 10
_BETWEEN = re.compile(r"[,;|\t]")
_CELLS = 20_000_000
"""So many characters of the first rows are kept at most."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """The format and encoding of an export, the names of its columns, and its first rows; `guessed` says that the encoding is
    a guess."""

    path: str
    format: str
    names: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    encoding: str | None = None
    guessed: bool = False

    def column(self, name: str) -> list[str]:
        """The cells of a column that are not empty."""
        return [text for row in self.rows if (text := row.get(name, "").strip())]


def read_table(path: str, *, format: str | None = None, encoding: str | None = None, columns: Collection[str] = ()) -> Table:
    """Read the first rows of an export; an encoding that is not given and is not UTF-8 is guessed. If the user has named one of
    its `columns`, nobody doubts its first row."""
    if once_only(path):
        raise InputError("can be read only once", where=path, todo="Save the export to a file: it is read several times")
    if format is not None:
        check_format(format)
    wider = misnamed = False
    source, guessed = open_table(path, encoding=encoding)
    encoding = guessed or encoding
    source.any_columns = True
    try:
        name = format or table_format(source)
        if FORMATS[name].kind == "pages":
            todo = "Export the shop's products as CSV, XLSX, JSONL or Parquet"
            raise InputError(f"is a file of labelled pages ({name}), not the export of a shop", where=path, todo=todo)
        parse = getattr(format_module(name), "parse", None)
        rows, kept = list[Mapping[str, Any]](), 0
        for record in islice(read_records(source, name), 5 * _ROWS):
            value = record.value
            wider = wider or any(problem.kind == UNNAMED for problem in record.problems)
            misnamed = misnamed or any(problem.kind == "bad-row" for problem in record.problems)
            if value is not None and parse is not None:
                value = parse(value, source.problems.at(record.where))
            if isinstance(value, Mapping):
                rows.append(value)
                kept += sum(len(cell) for cell in value.values() if isinstance(cell, str))
            if len(rows) >= _ROWS or kept > _CELLS:
                break
        own = dict(zip(source.names, source.header, strict=True)) or {str(key): str(key) for row in rows for key in row}
    except EmptyTableError as error:
        raise InputError(
            "is empty", where=path, todo="Export the shop's products again, with the names of the columns"
        ) from error
    finally:
        source.close()
    if wider:
        names = len(source.header)
        what = f"has only {names} column name{'s' if names > 1 else ''} in its first row, and more cells in the rows below"
        todo = "Delete what stands above the names of the columns, so that they are the first row"
        raise InputError(what, where=path, todo=todo)
    texts = tuple({written: _text(row.get(key)) for key, written in own.items()} for row in rows)
    named = not {*own.values()}.isdisjoint(columns)
    if (misnamed and not rows) or (not named and _are_below(tuple(own.values()), texts[:_ABOVE])):
        first = " ".join(filter(None, source.header))[:60]
        what = f"begins with a row that does not look like names of columns ({first})"
        todo = "Delete the rows above the names of the columns, so that these are the first row, and save the file again"
        todo += "; if they are the first row, name one: --columns title=NAME"
        raise InputError(what, where=path, todo=todo)
    if not rows:
        raise InputError("has no row with a product", where=path, todo="Export the shop's products again")
    return Table(path=path, format=name, names=tuple(own.values()), rows=texts, encoding=encoding, guessed=guessed is not None)


def _are_below(names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> bool:
    """Whether one of the first rows names columns, and the first one does not."""
    if _names(names):
        return False
    cells = ([part for cell in row.values() for part in _BETWEEN.split(cell)] for row in rows)
    return any(_names(row) > 1 for row in cells)


def _names(cells: Iterable[str]) -> int:
    """How many of some texts are known names of columns."""
    return sum(field_of_name(cell.strip()) is not None for cell in cells if cell.strip())


def open_table(path: str, *, encoding: str | None = None, usual: str | None = None) -> tuple[Source, str | None]:
    """Open a file of a shop, and the encoding that it is read in if it is guessed: it was not given and is not UTF-8. The
    `usual` one is tried if none can be guessed."""
    try:
        return open_source(path, encoding=encoding), None
    except InputError as error:
        if encoding is not None or not error.what.startswith("is not UTF-8"):
            raise
        with open_file(path) as stream:
            head = stream.read(settings.sniff_bytes)
        found = guess_encoding(head) or usual
        if found is None and b"\0" in head:
            todo = "Export the shop's products as CSV, XLSX, JSONL or Parquet"
            raise InputError("is neither text nor a table", where=path, todo=todo) from error
        if found is None:
            raise
        return open_source(path, encoding=found), found


def table_format(source: Source) -> str:
    """The format of a file of a shop. A text with names of columns in its first line is a table, whatever it is called: shop
    systems write CSV as .xls."""
    first = source.head.decode(errors="replace").lstrip().partition("\n")[0]
    separator = separator_of(first)
    named = _names(first.split(separator)) > 1
    try:
        format = detect_format(source)
    except InputError as error:
        if not named and (separator not in first or not error.what.startswith(UNDETECTED)):
            raise
        format = ""
    if format and (FORMATS[format].kind != "pages" or not named):
        return format
    return "tsv" if separator == "\t" else "csv"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (Mapping, bytes)):
        return ""
    return "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
