"""Write Excel workbooks with one sheet, row by row; the same rows give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import isfinite
from types import TracebackType
from typing import BinaryIO, Self
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from batag.errors import UsageError
from batag.pages.layout import is_formula
from batag.pages.page import without_surrogates

MOST_ROWS = 1_048_576
MOST_CHARACTERS = 32_767
"""Limits of Excel: rows of a sheet with its header, and UTF-16 units of a cell."""
Cell = str | int | float | None
SHEET = "xl/worksheets/sheet1.xml"
_OPENING, _CLOSING = b"<sheetData>", b"</sheetData>"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_FILES = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
    f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/>'
    f'<Override PartName="/{SHEET}" ContentType="{_KIND}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="pages" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{_OFFICE}/styles" '
    'Target="styles.xml"/></Relationships>',
    # Style 1 is the header's; style 2 has the quote prefix: a text that begins like a formula stays one when it is edited.
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/>'
    '<sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill>'
    '<patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/>'
    '</border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" '
    'borderId="0" xfId="0" applyFont="1"/><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"/>'
    '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
_HEAD = (
    f'<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" '
    'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>'
    "<cols>{columns}</cols>"
)
_USUAL = '<col min="{first}" max="{last}" width="24" customWidth="1"{more}/>'
MOST_COLUMNS = 16_384
"""Excel's limit of columns."""
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NUMBER = re.compile(rb' r="([A-Z]*)(\d+)"')
_MOST_BYTES = (1 << 31) - (1 << 20)
_TODO = "Write .csv, .parquet or .jsonl, which have no such limit, or a folder of parts"


@dataclass(frozen=True)
class Look:
    """How a workbook looks: `files` replace those of its package, `head` stands before the rows and `row` in each of them. The
    style of a cell is the number of its column in `header` (first row) or `body`; in `formula` if it begins like one."""

    files: Mapping[str, str] = field(default_factory=dict)
    head: str = _HEAD.format(columns=_USUAL.format(first=1, last=MOST_COLUMNS, more=""))
    row: str = ""
    header: Sequence[int] = ()
    body: Sequence[int] = ()
    formula: Sequence[int] = ()


def hiding(places: Collection[int]) -> Look:
    """The usual look with hidden columns."""
    made, first = list[str](), 1
    for number in sorted(place + 1 for place in places):
        made += [_USUAL.format(first=first, last=number - 1, more="")] if first < number else []
        made.append(_USUAL.format(first=number, last=number, more=' hidden="1"'))
        first = number + 1
    made += [_USUAL.format(first=first, last=MOST_COLUMNS, more="")] if first <= MOST_COLUMNS else []
    return Look(head=_HEAD.format(columns="".join(made)))


class SheetWriter:
    """Writes a workbook with a frozen header row. Texts stay texts, whatever they start with; numbers are numbers."""

    def __init__(self, stream: BinaryIO, *, look: Look | None = None) -> None:
        self._rows = self._size = 0
        self._look = look or Look()
        self._zip = ZipFile(stream, "w", ZIP_DEFLATED)
        for path, text in {**_FILES, **self._look.files}.items():
            self._zip.writestr(_entry(path), _XML + text)
        self._sheet = self._zip.open(_entry(SHEET), "w")
        self._put((_XML + self._look.head).encode() + _OPENING)

    def row(self, cells: Sequence[Cell]) -> None:
        """Write one row."""
        self._rows += 1
        look, first = self._look, self._rows == 1
        shape = self.shape_of(cells)
        own = look.header if first else look.body
        made = (
            _cell(
                cell,
                f"{_letters(place)}{self._rows}",
                _style(own, place, 1 if first else 0),
                _style(own if first else look.formula, place, 1 if first else 2),
            )
            for place, cell in enumerate(cells)
        )
        self._put(f'<row r="{self._rows}"{shape}>{"".join(made)}</row>'.encode())

    def shape_of(self, cells: Sequence[Cell]) -> str:
        """The attributes of a row, such as its height."""
        return self._look.row

    @property
    def size(self) -> int:
        """The bytes of the sheet until now, before compression."""
        return self._size

    def rows_of(self, data: bytes) -> None:
        """Copy the rows of another workbook of batag, without its header."""
        with ZipFile(BytesIO(data)) as book:
            sheet = book.read(SHEET)
        begin = sheet.index(b"</row>") + len(b"</row>") if self._rows else sheet.index(_OPENING) + len(_OPENING)
        rows = sheet[begin : sheet.rindex(_CLOSING)]
        shift = max(self._rows - 1, 0)
        self._rows += rows.count(b"</row>")
        # No quotation mark stands in a text as such: what looks like the number of a row or cell is one.
        self._put(_NUMBER.sub(lambda found: b' r="%s%d"' % (found[1], int(found[2]) + shift), rows) if shift else rows)

    def _put(self, data: bytes) -> None:
        check_sheet_rows(self._rows)
        self._size += len(data)
        if self._size > _MOST_BYTES:
            raise UsageError("more than 2 GB do not fit into a workbook", todo=_TODO)
        self._sheet.write(data)

    def __enter__(self) -> Self:
        return self

    def tail(self) -> str:
        """What stands after the rows."""
        return ""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._sheet.write(_CLOSING + f"{self.tail()}</worksheet>".encode())
        self._sheet.close()
        self._zip.close()


def check_sheet_rows(rows: int) -> None:
    """Raise an error if there are more rows (with the header) than a sheet can have."""
    if rows > MOST_ROWS:
        raise UsageError(f"more than {MOST_ROWS - 1:,} pages do not fit into a sheet of Excel", todo=_TODO)


def possible(text: str) -> str:
    """The text with control characters that XML does not allow replaced by U+FFFD; offsets stay the same."""
    return _IMPOSSIBLE.sub("\ufffd", without_surrogates(text))


def cut(text: str) -> str:
    """The text truncated to what a cell can hold."""
    if len(text) * 2 <= MOST_CHARACTERS:
        return text
    text = text[:MOST_CHARACTERS]
    while (over := _units(text) - MOST_CHARACTERS) > 0:
        text = text[: -((over + 1) // 2)]
    return text


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _entry(path: str) -> ZipInfo:
    """A file of the workbook, always with the same date."""
    entry = ZipInfo(path)
    entry.compress_type = ZIP_DEFLATED
    return entry


def _letters(place: int) -> str:
    """The name of a column: A to Z, AA, AB, ..."""
    place, last = divmod(place, 26)
    return f"{_letters(place - 1) if place else ''}{chr(65 + last)}"


def _style(numbers: Sequence[int], place: int, usual: int) -> str:
    """The attribute of a cell's style; the usual one if the look has none for its column."""
    number = numbers[place] if place < len(numbers) else usual
    return f' s="{number}"' if number else ""


def _cell(value: Cell, reference: str, style: str, formula: str) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f'<c r="{reference}"{style} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and isfinite(value) and abs(value) < 1e15:
        return f'<c r="{reference}"{style}><v>{value!r}</v></c>'
    text = possible(str(value))
    style = formula if is_formula(text) else style
    plain = escape(text, {"\r": "&#13;", '"': "&quot;"})
    return f'<c r="{reference}"{style} t="inlineStr"><is><t xml:space="preserve">{plain}</t></is></c>'
