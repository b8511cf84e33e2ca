"""Read the first sheet of an Excel workbook row by row; memory holds one row and the table of shared strings.

Row and cell numbers come from the file and may be as large as 1,000,000,000,000; only rows and cells that exist are read.
"""

import posixpath
from collections.abc import Iterator
from functools import cached_property
from typing import IO, Any, BinaryIO
from xml.etree.ElementTree import Element, iterparse
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from batag.pages.compression import DamagedFileError, swells
from batag.settings import settings

Row = tuple[int, dict[int, Any]]
"""A row's number and its cells by column number, both from 1."""

NO_VALUE = object()
"""The value of a cell with a formula whose result was not saved, as scripts write them."""
_WIDEST = 16_384
_MAC_DATES = "date1904"


class Workbook:
    """An opened workbook. A damaged one raises many kinds of exceptions, because it is ZIP and XML."""

    def __init__(self, file: BinaryIO) -> None:
        self._size = file.seek(0, 2)
        file.seek(0)
        self._archive = ZipFile(file)
        self.names = set(self._archive.namelist())

    @property
    def has_sheets(self) -> bool:
        """Whether it is an Excel workbook at all."""
        return any(name.endswith("workbook.xml") for name in self.names)

    @cached_property
    def _book(self) -> str:
        return self._target("_rels/.rels", kind="officeDocument") or "xl/workbook.xml"

    def rows(self) -> Iterator[Row]:
        """The rows of the first sheet that is not empty."""
        path = next(path for path in self._sheets() if path in self.names)
        cells = _Cells(self)
        with self._archive.open(path) as packed:
            stream = _Bounded(packed)
            parents: list[Element] = []
            for event, element in iterparse(stream, ("start", "end")):
                name = _local(element)
                if event == "start" and name == "sheetData":
                    parents.append(element)
                elif event == "end" and name == "row" and parents:
                    yield cells.row(element)
                    parents[-1].clear()
                    stream.begin_row()
                elif event == "end" and name == "sheetData":
                    return

    def _sheets(self) -> Iterator[str]:
        relations = dict(self._relations(_relations_of(self._book)))
        for element in self.elements(self._book, "sheet"):
            relation = next((value for key, value in element.items() if key.endswith("}id")), "")
            kind, target = relations.get(relation, ("", ""))
            if kind == "worksheet":
                yield target

    def _relations(self, path: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield the related parts of a part: id, type and path."""
        folder = posixpath.dirname(posixpath.dirname(path))
        for element in self.elements(path, "Relationship") if path in self.names else ():
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", "")))
            yield element.get("Id", ""), (element.get("Type", "").rpartition("/")[2], target.lstrip("/"))

    def _target(self, path: str, *, kind: str) -> str | None:
        return next((target for _, (each, target) in self._relations(path) if each == kind), None)

    def part(self, kind: str) -> str | None:
        """The path of the workbook's part of that type (sharedStrings, styles), or None."""
        target = self._target(_relations_of(self._book), kind=kind)
        return target if target in self.names else None

    def elements(self, path: str, *names: str) -> Iterator[Element]:
        """The elements of these names in a part that is read whole."""
        entry = self._archive.getinfo(path)
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise DamagedFileError(f"{path} is compressed in a way that Excel does not know")
        if swells(entry.file_size, packed=self._size):
            raise DamagedFileError(f"{path} unpacks to more than a hundred times the file's size")
        with self._archive.open(path) as stream:
            depth = 0
            for event, element in iterparse(stream, ("start", "end")):
                if event == "start":
                    depth += _local(element) in names
                elif _local(element) in names:
                    depth -= 1
                    yield element
                    element.clear()
                elif not depth:
                    element.clear()

    @cached_property
    def mac_dates(self) -> bool:
        """Whether dates are counted from 1904."""
        return any(each.get(_MAC_DATES) in ("1", "true") for each in self.elements(self._book, "workbookPr"))


class _Cells:
    """Converts cells of a sheet to values."""

    def __init__(self, book: Workbook) -> None:
        self._book = book
        self._row = 0

    def row(self, element: Element) -> Row:
        number = element.get("r", "")
        self._row = int(number) if number.isdecimal() and len(number) < 19 else self._row + 1
        column, cells = 0, {}
        for cell in element:
            column = _column(cell.get("r", "")) or column + 1
            if column > _WIDEST:
                raise DamagedFileError(f"row {self._row} has more than {_WIDEST:,} columns")
            value = self._value(cell)
            if value is not None:
                cells[column] = value
        return self._row, cells

    def _value(self, cell: Element) -> Any:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return next((_text(each) for each in cell if _local(each) == "is"), None)
        saved = next((each for each in cell if _local(each) == "v"), None)
        text = saved.text if saved is not None else None
        if not text:
            # Excel saves an empty text as an empty value of the kind str.
            empty = kind == "str" and saved is not None
            return NO_VALUE if not empty and any(_local(each) == "f" for each in cell) else None
        if kind == "s":
            return self._strings[int(text)]
        if kind == "b":
            return text.strip() not in ("0", "false")
        if kind == "d":
            from openpyxl.utils.datetime import from_ISO8601

            return from_ISO8601(text)
        return self._number(text, cell.get("s", "0")) if kind == "n" else text

    def _number(self, text: str, style: str) -> Any:
        try:
            number: float = float(text) if {".", "e", "E"} & set(text) else int(text)
        except ValueError:  # no number, or one of thousands of digits
            return text
        if style not in self._date_styles:
            return number
        from openpyxl.utils.datetime import CALENDAR_MAC_1904, WINDOWS_EPOCH, from_excel

        try:
            epoch = CALENDAR_MAC_1904 if self._book.mac_dates else WINDOWS_EPOCH
            return from_excel(number, epoch, timedelta=self._date_styles[style])
        except (OverflowError, ValueError):
            return "#VALUE!"

    @cached_property
    def _strings(self) -> list[str]:
        path = self._book.part("sharedStrings")
        # Excel writes _x005F_ for an underscore that is not the start of such a code.
        return [_text(each).replace("x005F_", "") for each in self._book.elements(path, "si")] if path else []

    @cached_property
    def _date_styles(self) -> dict[str, bool]:
        """The cell styles that show a number as a date, and whether as a duration."""
        from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format

        path = self._book.part("styles")
        formats, numbers = {str(number): code for number, code in BUILTIN_FORMATS.items()}, []
        for element in self._book.elements(path, "numFmt", "cellXfs") if path else ():
            if _local(element) == "numFmt":
                formats[element.get("numFmtId", "")] = element.get("formatCode", "")
            else:
                numbers = [each.get("numFmtId", "0") for each in element]
        codes = {str(place): formats.get(number, "General") for place, number in enumerate(numbers)}
        return {style: bool(is_timedelta_format(code)) for style, code in codes.items() if is_date_format(code)}


class _Bounded:
    """The bytes of a sheet; a row over the size limit ends it before it is stored."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._since = stream, 0

    def begin_row(self) -> None:
        self._since = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._since += len(data)
        if self._since > settings.max_record_bytes:
            limit = f"{settings.max_record_bytes:,} bytes (BATAG_MAX_RECORD_BYTES changes the limit)"
            raise DamagedFileError(f"a row is longer than {limit}")
        return data


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _relations_of(path: str) -> str:
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _text(element: Element) -> str:
    """The text of a cell, from all its runs, without phonetic readings."""
    runs = (each for run in element for each in (run, *run) if _local(run) != "rPh")
    return "".join(each.text or "" for each in runs if _local(each) == "t")


def _column(reference: str) -> int:
    """The number of a column: 28 for AB12; 0 if the reference is missing."""
    number = 0
    for letter in reference:
        if not "A" <= letter <= "Z" or number > _WIDEST:
            break
        number = 26 * number + ord(letter) - 64
    return number
