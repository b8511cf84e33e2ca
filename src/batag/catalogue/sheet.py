"""Tagged rows as a workbook: also a column a label for people to read, and every cell such that Excel holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from batag.pages.corrections import readable, shown
from batag.pages.formats.sheet import MOST_CHARACTERS, Cell, SheetWriter, cut, possible
from batag.pages.layout import KEY, Layout
from batag.pages.page import Tag
from batag.pages.record import dump, tag_record


class TaggedSheet:
    """A workbook of tagged rows; `marked` if rows say which columns their fields are in."""

    def __init__(self, sheet: SheetWriter, names: Sequence[str], *, labels: Sequence[str], marked: bool) -> None:
        self._sheet, self._names, self._labels, self._marked = sheet, names, labels, marked
        sheet.row([*names, *map(readable, labels), "tags", "reviewed", "error", *([KEY] if marked else [])])

    def row(
        self, cells: Sequence[Cell], tags: Sequence[Tag], error: str | None, *, columns: Mapping[str, str], where: str
    ) -> str | None:
        """One row; its error, and if Excel cannot hold it whole, what was left out of it."""
        fitting = {name: cut(cell) if isinstance(cell, str) else cell for name, cell in zip(self._names, cells, strict=True)}
        lost = [name for name, cell in zip(self._names, cells, strict=True) if fitting[name] != cell]
        ends = {name: len(str(fitting[name])) for name in lost}
        kept = [replace(tag, text=possible(tag.text)) for tag in tags if tag.end <= ends.get(tag.field, tag.end)]
        while (room := len(cut(told := dump([tag_record(tag) for tag in kept]).decode()))) < len(told):
            kept = kept[: len(kept) * room // len(told)]
        if lost or len(kept) < len(tags):
            what = f"{', '.join(lost) or 'tags'} cut: a cell of Excel holds {MOST_CHARACTERS:,} characters"
            left = f"; {len(tags) - len(kept):,} tags left out" if len(kept) < len(tags) else ""
            error = "; ".join(filter(None, [error, f"{where}: {what}{left}"]))
        texts = [shown(tag.text for tag in kept if tag.label == label) for label in self._labels]
        mark = [dump(Layout(columns).record()).decode() if columns else ""] if self._marked else []
        self._sheet.row([*fitting.values(), *map(cut, texts), told, "false", cut(error or ""), *mark])
        return error
