"""Excel workbooks: the first sheet, whose first row names the columns."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from datetime import datetime, time
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from batag.errors import InputError
from batag.pages.corrections import in_order, is_readable, readable, shown
from batag.pages.fields import KNOWN_KEYS, STANDARD_FIELDS
from batag.pages.formats.row import ADDED, COLUMNS, Row, Written, from_cells, read_header, tags_json, text_cell, to_row
from batag.pages.formats.sheet import MOST_CHARACTERS, Cell, SheetWriter, cut, hiding, possible
from batag.pages.formats.workbook import NO_VALUE, Workbook
from batag.pages.layout import KEY
from batag.pages.page import Page, Tag
from batag.pages.record import RecordReader
from batag.pages.signatures import zip_kind
from batag.pages.source import Source

UNNAMED = "unnamed-cells"
"""The problem of a sheet whose rows are wider than its first one; noted once."""


def read(source: Source) -> Iterator[tuple[str, int, dict[str, Cell]]]:
    """Yield the rows of the first sheet below its header; empty rows and cells outside the header's columns are skipped."""
    rows = _sheet(source)
    number, cells = next(
        ((number, cells) for number, cells in rows if any(_is_filled(cell) for cell in cells.values())), (1, {})
    )
    header = [cells.get(place) for place in range(1, max(cells, default=0) + 1)]
    if NO_VALUE in header:
        _note_lost(source, number, "the header")
        header = [None if name is NO_VALUE else name for name in header]
    read_header(header, source)
    return _rows(source, rows)


def _rows(source: Source, rows: Iterator[tuple[int, dict[int, Any]]]) -> Iterator[tuple[str, int, dict[str, Cell]]]:
    names = source.names
    # Offsets of tags are those of the text, so that the fields stay texts whatever they look like.
    fields = {*STANDARD_FIELDS, *(each for name, each in source.columns.items() if name not in KNOWN_KEYS - {*STANDARD_FIELDS})}
    # A person who empties such a cell takes the tags away.
    emptied: dict[str, Cell] = dict.fromkeys(filter(is_readable, names), "") if {"tags", "reviewed"} & {*names} else {}
    outside = False
    for number, cells in rows:
        if not any(map(_is_filled, cells.values())):
            continue
        if not outside and (outside := any(place > len(names) and cell not in (None, "") for place, cell in cells.items())):
            reason = "cells to the right of the column names are not read, in further rows neither: name them in row 1"
            source.problems.add(UNNAMED, f"{source.name}, row {number}", reason)
        row = {name: cell for place, name in enumerate(names, 1) if (cell := cells.get(place)) is not None}
        if lost := [name for name, cell in row.items() if cell is NO_VALUE]:
            _note_lost(source, number, ", ".join(lost))
        values = {name: _plain(cell) for name, cell in row.items() if cell is not NO_VALUE}
        values = {name: str(cell) if name in fields else cell for name, cell in values.items()}
        yield f"{source.name}, row {number}", number - 1, emptied | values


def _note_lost(source: Source, number: int, what: str) -> None:
    todo = "it is read as empty; open the workbook in Excel or LibreOffice and save it"
    source.problems.add("no-value", f"{source.name}, row {number}", f"{what}: a formula without a saved value; {todo}")


def _sheet(source: Source) -> Iterator[tuple[int, dict[int, Any]]]:
    """The rows of the first sheet; a workbook that is damaged in the middle ends there."""
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


def _is_filled(cell: Any) -> bool:
    return cell is not None and cell != ""


def _plain(cell: Any) -> Cell:
    """A cell as a person sees it: 24.0 is 24, a date is in ISO format; numbers stay numbers."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime):
        return (cell if cell.time() != time() else cell.date()).isoformat()
    return cell if isinstance(cell, str | int | float) else str(cell)


def page(reader: RecordReader, row: dict[str, Cell], *, where: str, number: int) -> Page | None:
    """The page of a row, with all cells as text."""
    texts = {name: str(cell) for name, cell in row.items()}
    return reader.page(from_cells(texts), where=where, number=number)


def write(pages: Iterable[Page], stream: BinaryIO, *, also: Sequence[str] = ()) -> None:
    """Write a workbook with batag's own columns, those that stand `also` by themselves, and a readable one for each label that
    people correct; `tags`, which is for programs, is hidden. Text that does not fit into a cell is an error."""
    with cast(BinaryIO, TemporaryFile()) as waiting:
        # The columns are named before the first row, and only the last page may have the last label.
        found: dict[str, None] = {}
        for page in pages:
            found |= dict.fromkeys(tag.label for tag in page.tags)
            waiting.write(_line(_possible_row(page, also)))
        labels = [label for label in in_order(found) if (name := readable(label)) == name.strip() and name not in also]
        header = (*COLUMNS, *also)
        waiting.seek(0)
        write_rows(_rows_of(waiting), stream, header, errors=False, labels=labels, hidden=[len(header) + len(labels)])


def _line(row: Row) -> bytes:
    """A row that waits until it is written, as a line of JSON."""
    cells = [cell if isinstance(cell, int | float) else text_cell(cell) for cell in row.cells]
    tags = None if row.tags is None else list(map(astuple, row.tags))
    return json.dumps([cells, tags, row.reviewed, row.error, dict(row.columns), row.where]).encode() + b"\n"


def _rows_of(stream: BinaryIO) -> Iterator[Row]:
    for line in stream:
        cells, tags, *rest = json.loads(line)
        yield Row(cells, None if tags is None else [Tag(*values) for values in tags], *rest)


def _possible_row(page: Page, also: Sequence[str]) -> Row:
    return to_row(replace(page, fields={name: possible(text) for name, text in page.fields.items()}), also=also)


def write_rows(
    rows: Iterable[Row],
    stream: BinaryIO,
    header: Sequence[str],
    *,
    errors: bool = True,
    marked: bool = False,
    labels: Sequence[str] = (),
    hidden: Collection[int] = (),
) -> Written:
    """Write tagged rows, with a readable column for each of the `labels`; columns at `hidden` places are not shown. Text that
    does not fit into a cell is truncated, which the row's error says (without `errors` it is an exception)."""
    written = Written()
    with SheetWriter(stream, look=hiding(hidden) if hidden else None) as sheet:
        sheet.row([*header, *map(readable, labels), *(ADDED if errors else ADDED[:2]), *([KEY] if marked else [])])
        for number, row in enumerate(rows):
            whole = [cell if isinstance(cell, int | float) else text_cell(cell) for cell in row.cells]
            cells = [cut(cell) if isinstance(cell, str) else cell for cell in whole]
            lost = {name: len(str(cell)) for name, cell, each in zip(header, cells, whole, strict=True) if cell != each}
            given = row.tags or ()
            tags = [replace(tag, text=possible(tag.text)) for tag in given if tag.end <= lost.get(tag.field, tag.end)]
            while (room := len(cut(text := tags_json(tags)))) < len(text):
                tags = tags[: len(tags) * room // len(text)]
            error = row.error
            if lost or len(tags) < len(given):
                names, todo = ", ".join(lost) or "tags", "Write .csv, .parquet or .jsonl, which have no such limit"
                if not errors:
                    raise InputError(f"{names}: longer than a cell of Excel", where=row.where, todo=todo)
                left_out = f"; {len(given) - len(tags):,} tags left out" if len(tags) < len(given) else ""
                what = f"{names} truncated: a cell of Excel holds {MOST_CHARACTERS:,} characters{left_out}"
                written.cut[number] = what
                error = "; ".join(filter(None, [error, f"{row.where}: {what}"]))
            texts = [cut(shown(tag.text for tag in tags if tag.label == label)) for label in labels]
            last = [cut(error or "")] if errors else []
            last += [row.layout_text()] if marked else []
            sheet.row([*cells, *texts, text if row.tags is not None else "", row.reviewed_text(), *last])
    return written


def join(parts: Iterable[bytes], stream: BinaryIO) -> None:
    """Concatenate workbooks that `write_rows` wrote."""
    with SheetWriter(stream) as sheet:
        for data in parts:
            sheet.rows_of(data)
