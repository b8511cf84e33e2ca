"""Rows of text cells under a header, as CSV or TSV."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from batag.pages.layout import KEY, Layout, escape
from batag.pages.record import dump

_NOTHING: Mapping[str, str] = {}


class TableWriter:
    """CSV as RFC 4180 has it, TSV with a tab as mark. `excel_safe` puts an apostrophe before each cell that a spreadsheet
    would run, and `escaped` counts them by column; then, or if `marked`, a last column `batag` has each row's layout."""

    def __init__(
        self,
        stream: BinaryIO,
        header: Sequence[str],
        *,
        mark: str = ",",
        bom: bool = False,
        excel_safe: bool = False,
        marked: bool = False,
    ) -> None:
        self.header = tuple(map(escape, header)) if excel_safe else tuple(header)
        self.escaped: Counter[str] = Counter()
        self._stream, self._safe, self._marked = stream, excel_safe, marked or excel_safe
        self._buffer = io.StringIO(newline="")
        self._writer = csv.writer(self._buffer, delimiter=mark, lineterminator="\r\n")
        if bom:
            stream.write(codecs.BOM_UTF8)
        self._put([*self.header, *([KEY] if self._marked else [])])

    def row(self, cells: Sequence[str], *, columns: Mapping[str, str] = _NOTHING) -> None:
        """One row, and the columns that its fields are in."""
        names: list[str] = []
        if self._safe:
            safe = [escape(cell) for cell in cells]
            names = [name for name, cell, given in zip(self.header, safe, cells, strict=True) if cell != given]
            self.escaped.update(names)
            cells = safe
        said = Layout(columns, tuple(names)).record()
        self._put([*cells, *([dump(said).decode() if said else ""] if self._marked else [])])

    def _put(self, cells: Sequence[str]) -> None:
        self._writer.writerow(cells)
        self._stream.write(self._buffer.getvalue().encode(errors="replace"))
        self._buffer.seek(0)
        self._buffer.truncate()
