"""Excel workbooks: the first sheet, its first row names the columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, time
from typing import Any

from batag.errors import InputError
from batag.pages.file import DamagedFileError
from batag.pages.formats.delimited import column_names
from batag.pages.page import Page
from batag.pages.record import RecordReader
from batag.pages.row import from_cells
from batag.pages.source import Source


def read(source: Source) -> Iterator[Page]:
    """Pages of a workbook, row by row."""
    import openpyxl

    number = 1
    try:
        with _quiet():
            book = openpyxl.load_workbook(source.seekable(), read_only=True, data_only=True)
            rows = book.worksheets[0].iter_rows(values_only=True)
            header = next(rows, ())
    except Exception as error:  # a damaged workbook breaks openpyxl in many ways
        what = f"is not a readable workbook ({str(error)[:80] or type(error).__name__})"
        raise InputError(what, where=source.name, todo="Save it as .xlsx; a zip must be unpacked first") from error
    try:
        names = column_names(list(header), source)
        reader = RecordReader(problems=source.problems, stem=source.stem, columns=source.columns, language=source.language)
        while (cells := _next(rows)) is not None:
            number += 1
            if all(cell is None or cell == "" for cell in cells):
                continue
            named = zip(names, cells, strict=False)
            record = from_cells({name: _text(cell) for name, cell in named if name and cell is not None})
            page = reader.page(record, where=f"{source.name}, row {number}", number=number - 1)
            if page is not None:
                yield page
    except DamagedFileError as error:
        source.problems.add("truncated", f"{source.name}, row {number + 1}", f"the workbook cannot be read further ({error})")
    finally:
        book.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings of styles and extensions that openpyxl does not know: not our business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _next(rows: Iterator[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    try:
        with _quiet():
            return next(rows, None)
    except Exception as error:  # as above
        raise DamagedFileError(str(error)[:80] or type(error).__name__) from error


def _text(cell: Any) -> Any:
    """A cell as a person sees it: 24.0 is 24, a date is its ISO form."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime):
        return (cell if cell.time() != time() else cell.date()).isoformat()
    return cell if isinstance(cell, str) else str(cell)
