"""Excel workbooks: the first sheet, its first row names the columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile

from batag.errors import InputError
from batag.pages.formats.delimited import column_names
from batag.pages.page import Page
from batag.pages.record import RecordReader
from batag.pages.row import from_cells
from batag.pages.source import Source


def read(source: Source) -> Iterator[Page]:
    """Pages of a workbook, row by row."""
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # styles and extensions that openpyxl does not know: not our business
        try:
            book = openpyxl.load_workbook(source.path, read_only=True, data_only=True)
        except (BadZipFile, KeyError, ValueError, OSError) as error:
            raise InputError(
                f"is not a readable workbook ({error})", where=source.name, todo="Save it as .xlsx again"
            ) from error
        try:
            rows = book.worksheets[0].iter_rows(values_only=True)
            names = column_names(list(next(rows, ())), source)
            reader = RecordReader(problems=source.problems, stem=source.stem, columns=source.columns, language=source.language)
            for number, cells in enumerate(rows, 2):
                if all(cell is None or cell == "" for cell in cells):
                    continue
                record = from_cells(
                    {name: _text(cell) for name, cell in zip(names, cells, strict=False) if name and cell is not None}
                )
                page = reader.page(record, where=f"{source.name}, row {number}", number=number - 1)
                if page is not None:
                    yield page
        finally:
            book.close()


def _text(cell: Any) -> Any:
    """A cell as a person sees it: 24.0 is 24, a date is its ISO form."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) else str(cell)
