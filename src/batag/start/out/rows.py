"""The rows of the export with their tags, from the parts that the catalogue job wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from batag.errors import InputError
from batag.pages.formats.row import text_cell
from batag.pages.page import MODEL, Tag
from batag.start.out.export import Export, ExportRow

_PART = re.compile(r"part-(\d{6,})\.parquet")
_BATCH = 1_000
_AGAIN = "Run the same command again: it tags what has changed"
_ORDER = ("field", "start", "end", "label", "text", "score", "normal", "source", "canonical", "category")


@dataclass(frozen=True, slots=True)
class TaggedRow(ExportRow):
    """A row with its tags. `error` says why it could not be tagged. A `variant` has no text of its own and the tags of the row
    above that belongs to the same product."""

    tags: tuple[Tag, ...] = ()
    error: str | None = None
    variant: bool = False


def tagged_rows(export: Export, tagged: Path) -> Iterator[TaggedRow]:
    """All rows of an export with their tags, in order. Other numbers of rows than the job had are an error."""
    found = part_rows(tagged)
    header = export.header()
    group = header.index(export.group) if export.group in header else None
    product: tuple[str, tuple[Tag, ...]] = ("", ())
    for row in export.rows():
        if not row.in_job:
            yield _with(row, (), None)
            continue
        if (part := next(found, None)) is None:
            raise InputError("has more rows than were tagged", where=row.where, todo=_AGAIN)
        tags, error = part
        own = () if row.page is None else _tags(tags, row)
        key = "" if group is None else text_cell(row.cells[group])
        if row.page is not None:
            product = key, own
            yield _with(row, own, error)
        elif key and key == product[0]:
            yield replace(_with(row, product[1], None), variant=True)
        else:
            yield _with(row, (), error or "it could not be read")
    if next(found, None) is not None:
        raise InputError("has fewer rows than were tagged", where=", ".join(export.paths), todo=_AGAIN)


def part_files(tagged: Path) -> list[Path]:
    """The files of the job's parts, in order."""
    names = (
        [(int(match[1]), path) for path in tagged.iterdir() if (match := _PART.fullmatch(path.name))] if tagged.is_dir() else []
    )
    if not names:
        raise InputError("contains no tagged pages", where=str(tagged), todo="Tag the export first")
    return [path for _, path in sorted(names)]


def part_rows(tagged: Path) -> Iterator[tuple[Sequence[Mapping[str, Any]], str | None]]:
    """The tags of each row as dicts, and its error."""
    for path in part_files(tagged):
        for batch in _batches(path, ["tags", "error"]):
            tags, errors = (batch.column(name).to_pylist() for name in ("tags", "error"))
            yield from zip((each or () for each in tags), errors, strict=True)


def part_columns(tagged: Path, columns: Sequence[str]) -> Iterator[Any]:
    """Some columns of the parts in batches of Arrow."""
    for path in part_files(tagged):
        yield from _batches(path, columns)


def _batches(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    try:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH, columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read ({str(error)[:120]})", where=str(path), todo="Tag the export again") from error


def _with(row: ExportRow, tags: tuple[Tag, ...], error: str | None) -> TaggedRow:
    page = None if row.page is None else replace(row.page, tags=tags, labelled=True, reviewed=False)
    reason = None if error is None else error.removeprefix(f"{row.where}: ")
    return TaggedRow(row.cells, page, row.where, row.fields, row.in_job, tags, reason)


def _tags(given: Sequence[Mapping[str, Any]], row: ExportRow) -> tuple[Tag, ...]:
    """The tags of a row, with our names of its fields; those that do not fit its text are an error."""
    found = []
    assert row.page is not None
    for each in given:
        values = {name: each.get(name) for name in _ORDER}
        name = row.fields.get(str(values["field"]), str(values["field"]))
        name = name if name in row.page.fields else name.lower()
        tag = Tag(**values | {"field": name, "source": values["source"] or MODEL})
        if row.page.fields.get(name, "")[tag.start : tag.end] != tag.text:
            raise InputError("has changed since it was tagged", where=row.where, todo=_AGAIN)
        found.append(tag)
    return tuple(found)
