"""Workbooks for people: column widths, filters, a font that has the shop's letters; rows beyond Excel's limits go into a next
file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from types import TracebackType
from xml.sax.saxutils import escape

from batag.pages.file import open_output
from batag.pages.formats.sheet import MOST_CHARACTERS, MOST_ROWS, Cell, Look, SheetWriter, cut
from batag.settings import settings

_MOST_BYTES = 1 << 30
_MEASURED = 300
_NARROWEST, _WIDEST = 8, 48
_SHOWN = 2_000
"""More characters of a cell fit into no row."""
_FONTS = {"zh-Hant": "Microsoft JhengHei", "zh-Hans": "Microsoft YaHei", "ja": "Yu Gothic"}
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OWN, TAGS, PROBLEM = 0, 1, 2
"""The kinds of columns: the shop's own, tags, why a row has none."""
_HIDES, _WRAPS = ' hidden="1"', ' wrapText="1"'
_HEADERS, _BODIES, _FORMULAS = (1, 2, 3), (4, 5, 6), (7, 8, 9)


class Book(SheetWriter):
    """A workbook with a filter over its columns; numbers that are text are not marked as mistakes."""

    columns = 1

    def tail(self) -> str:
        whole = f"A1:{letters(self.columns - 1)}{max(self._rows, 1)}"
        return (
            f'<autoFilter ref="{whole}"/>{self.checks()}<printOptions gridLines="1"/>'
            '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>'
            '<pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/>'
            f"<headerFooter><oddFooter>&amp;C&amp;P / &amp;N</oddFooter></headerFooter>"
            f'<ignoredErrors><ignoredError sqref="{whole}" numberStoredAsText="1"/></ignoredErrors>'
        )

    def checks(self) -> str:
        """What may be typed into cells."""
        return ""

    @property
    def full(self) -> bool:
        """Whether no further row should go here."""
        return self._rows >= min(settings.sheet_rows, MOST_ROWS) or self.size >= _MOST_BYTES


class Books:
    """Writes rows to `NAME.xlsx` and, past Excel's limits, to `NAME-2.xlsx` and so on; the files appear when all are complete.

    Text that is longer than a cell is cut there; all of it is in `NAME-long.xlsx`, in pieces.
    """

    def __init__(self, path: Path, header: Sequence[str], *, kinds: Sequence[int], language: str | None = None) -> None:
        self.path, self.header, self.kinds, self.language = path, header, kinds, language
        self.files: list[Path] = []
        self.rows = self.long_cells = self.long_left = 0
        self._written = 0
        self._waiting: list[Sequence[Cell]] = []
        self._look: Look | None = None
        self._book: Book | None = None
        self._long: Book | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Books:
        return self

    def row(self, cells: Sequence[Cell]) -> None:
        """Write one row; the first ones wait until the widths of the columns are known."""
        if self._look is None:
            self._waiting.append(cells)
            if len(self._waiting) >= _MEASURED:
                self._begin()
            return
        self._put(cells)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._begin()
        self._stack.__exit__(kind, error, trace)

    def _begin(self) -> None:
        if self._look is None:
            widths = column_widths(self.header, self._waiting)
            self._look = look(widths, self.kinds, font=font_of(self.language))
            self._book = self._next()
            for cells in self._waiting:
                self._put(cells)
            self._waiting = []

    def _next(self) -> Book:
        """The next file, with the header."""
        number = len(self.files) + 1
        self.files.append(self.path if number == 1 else self.path.with_name(f"{self.path.stem}-{number}{self.path.suffix}"))
        assert self._look is not None
        book = self._open(self.files[-1], self._look, len(self.header))
        book.row([cut(name) for name in self.header])
        self._written = 1
        return book

    def _open(self, path: Path, shown: Look, columns: int) -> Book:
        book = Book(self._stack.enter_context(open_output(path)), look=shown)
        book.columns = columns
        return self._stack.enter_context(book)

    def _put(self, cells: Sequence[Cell]) -> None:
        assert self._book is not None
        if self._book.full:
            self._book = self._next()
        self.rows += 1
        self._written += 1
        self._book.row([self._fitting(cell, place) for place, cell in enumerate(cells)])

    def _fitting(self, cell: Cell, place: int) -> Cell:
        """A cell that Excel can hold; the whole of a longer one is written beside."""
        if not isinstance(cell, str) or len(cell) * 2 <= MOST_CHARACTERS or (short := cut(cell)) == cell:
            return cell
        self.long_cells += 1
        path = self.path.with_name(f"{self.path.stem}-long{self.path.suffix}")
        if self._long is None:
            shown = look((12, 10, 24, 8, 80), (OWN,) * 5, font=font_of(self.language))
            self._long = self._open(path, shown, 5)
            self._long.row(["file", "row", "column", "piece", "text"])
        for number, piece in enumerate(_pieces(cell), 1):
            if self._long.full:
                self.long_left += 1
            else:
                self._long.row([self.files[-1].name, self._written, self.header[place], number, piece])
        ending = f" … ({path.name})"
        return short[: -len(ending)] + ending

    @property
    def long_file(self) -> Path | None:
        """The file of long texts, if there is one."""
        return self.path.with_name(f"{self.path.stem}-long{self.path.suffix}") if self._long is not None else None


def _pieces(text: str) -> list[str]:
    size = MOST_CHARACTERS // 2
    return [text[start : start + size] for start in range(0, len(text), size)]


def column_widths(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> tuple[int, ...]:
    """A width for each column in letters: enough for nine of ten of its texts, within limits."""
    found = []
    for place, name in enumerate(header):
        lengths = sorted(shown_width(cell) for row in rows if place < len(row) and (cell := row[place]) not in (None, ""))
        usual = lengths[len(lengths) * 9 // 10] if lengths else 0
        # The name has an arrow of the filter beside it.
        found.append(min(max(usual + 2, min(shown_width(name), 24) + 4, _NARROWEST), _WIDEST))
    return tuple(found)


def shown_width(cell: Cell) -> int:
    """The width of the first line of a cell; Chinese and Japanese letters are two wide."""
    line = str(cell)[:_SHOWN].split("\n", 1)[0]
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


def lines_of(cell: Cell, width: int) -> int:
    """How many lines a cell has in a column of a width, if its text wraps."""
    return sum(-(-shown_width(line) // width) or 1 for line in str(cell)[:_SHOWN].split("\n"))


def font_of(language: str | None) -> str:
    """A font that has the letters of a language."""
    return _FONTS.get(language or "", "Calibri")


def look(widths: Sequence[int], kinds: Sequence[int], *, font: str, hidden: Collection[int] = (), wraps: bool = False) -> Look:
    """How a workbook looks with columns of these widths and kinds. Columns at `hidden` places are not shown. If text
    `wraps`, rows are as high as they need be."""
    cols = "".join(
        f'<col min="{n}" max="{n}" width="{width}" customWidth="1"{_HIDES if n - 1 in hidden else ""}/>'
        for n, width in enumerate(widths, 1)
    )
    height = "" if wraps else ' customHeight="1"'
    head = (
        f'<worksheet xmlns="{_MAIN}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" '
        f'activeCell="A2" sqref="A2"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="18"{height}/>'
        f"<cols>{cols}</cols>"
    )
    return Look(
        files={"xl/styles.xml": _styles(font, wraps=wraps), "xl/workbook.xml": _WORKBOOK},
        head=head,
        row="" if wraps else ' ht="18" customHeight="1"',
        header=[_HEADERS[kind] for kind in kinds],
        body=[_BODIES[kind] for kind in kinds],
        formula=[_FORMULAS[kind] for kind in kinds],
    )


_WORKBOOK = (
    f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="tags" sheetId="1" r:id="rId1"/></sheets>'
    '<definedNames><definedName name="_xlnm.Print_Titles" localSheetId="0">tags!$1:$1</definedName></definedNames></workbook>'
)


def _styles(font: str, *, wraps: bool) -> str:
    """Three kinds of columns, each with a header, a body and a body for text that begins like a formula."""
    name = f'<name val="{escape(font)}"/>'
    inks = ("FF1F2933", "FF0B4F6C", "FF8A2B0E")
    fonts = [f'<font><sz val="11"/><color rgb="{ink}"/>{name}</font>' for ink in inks]
    fonts += [f'<font><b/><sz val="11"/><color rgb="{ink}"/>{name}</font>' for ink in inks]
    fills = ['<fill><patternFill patternType="none"/></fill>', '<fill><patternFill patternType="gray125"/></fill>']
    fills += [
        f'<fill><patternFill patternType="solid"><fgColor rgb="{paper}"/><bgColor indexed="64"/></patternFill></fill>'
        for paper in ("FFE8ECF0", "FFCFE6F2", "FFFBE0D6")
    ]
    line = '<bottom style="thin"><color rgb="FF9AA5B1"/></bottom>'
    borders = (
        "<border><left/><right/><top/><bottom/><diagonal/></border>",
        f"<border><left/><right/><top/>{line}<diagonal/></border>",
    )
    # Of a text with several lines LibreOffice shows the first ones only from the top.
    middle = '<alignment vertical="center"/>'
    first = f'<alignment vertical="top"{_WRAPS if wraps else ""}/>'
    # Format 49 is text: what is typed into such a cell, and what is copied from it, keeps its zeros.
    cells = ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>']
    cells += [
        f'<xf numFmtId="49" fontId="{3 + kind}" fillId="{2 + kind}" borderId="1" xfId="0" applyNumberFormat="1" applyFont="1" '
        f'applyFill="1" applyBorder="1" applyAlignment="1">{middle}</xf>'
        for kind in range(3)
    ]
    cells += [
        f'<xf numFmtId="0" fontId="{kind}" fillId="0" borderId="0" xfId="0" {quote}applyFont="1" '
        f'applyAlignment="1">{first}</xf>'
        for quote in ("", 'quotePrefix="1" ')
        for kind in range(3)
    ]
    parts = {"fonts": fonts, "fills": fills, "borders": list(borders)}
    made = "".join(f'<{tag} count="{len(each)}">{"".join(each)}</{tag}>' for tag, each in parts.items())
    return (
        f'<styleSheet xmlns="{_MAIN}">{made}<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
        f'</cellStyleXfs><cellXfs count="{len(cells)}">{"".join(cells)}</cellXfs><cellStyles count="1">'
        '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )


def letters(place: int) -> str:
    """The name of a column: A to Z, AA, AB, ..."""
    place, last = divmod(place, 26)
    return f"{letters(place - 1) if place else ''}{chr(65 + last)}"


def stale_files(path: Path, *, new: Sequence[Path]) -> list[Path]:
    """Files of an earlier run that this one did not write."""
    kept = {*new}
    numbered = re.compile(rf"{re.escape(path.stem)}-(?:\d+|long){re.escape(path.suffix)}")
    there = path.parent.iterdir() if path.parent.is_dir() else iter(())
    return [each for each in chain(there) if numbered.fullmatch(each.name) and each not in kept]
