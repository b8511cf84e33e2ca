"""Read the rows of a part: the input record of each row, and the page made from it or the problems that prevented that."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from batag.catalogue.part import Part
from batag.pages.fields import KNOWN_KEYS
from batag.pages.file import open_file
from batag.pages.formats import FORMATS
from batag.pages.formats.format import format_module
from batag.pages.formats.reading import PageMaker, Record
from batag.pages.layout import KEY, unescaped
from batag.pages.page import Page
from batag.pages.problems import Problem
from batag.pages.record import to_record
from batag.pages.source import Source

_REPLACED = frozenset({"tags", "labels", "reviewed"})


@dataclass
class Rows:
    """For each row of a part its input record, its page (None if it could not be read) and its problems; `table` is the Arrow
    table of a Parquet range."""

    part: Part
    records: list[dict[str, Any]] = field(default_factory=list)
    pages: list[Page | None] = field(default_factory=list)
    problems: list[tuple[Problem, ...]] = field(default_factory=list)
    table: Any = None

    def errors(self) -> list[str | None]:
        """For each row the reason why it could not be read as a page, or None."""
        pairs = zip(self.pages, self.problems, strict=True)
        return [None if page is not None else "; ".join(f"{p.where}: {p.reason}" for p in own) for page, own in pairs]


def read_rows(part: Part, *, whole: bool = True) -> Rows:
    """Read the rows of a part; with `whole` the records keep all columns, else only those that a page needs."""
    rows = Rows(part)
    make = PageMaker(part.format, stem=part.stem, columns=part.columns, language=part.language, tags=False)
    kind = FORMATS[part.format].kind
    for record in _of_range(rows, whole=whole) if part.is_range else part.records:
        page, value, problems = make(record)
        if page is not None and page.language is None and part.usual_language is not None:
            page = replace(page, usual_language=part.usual_language)
        kept = value or {}
        if kind == "pages":
            kept = to_record(page) if page is not None else {}
        elif kind == "table" and KEY in kept:
            kept = unescaped(kept)
        rows.records.append(kept)
        rows.pages.append(page)
        rows.problems.append(problems)
    return rows


def _of_range(rows: Rows, *, whole: bool) -> Iterator[Record]:
    part, parquet = rows.part, format_module("parquet")
    with open_file(part.source) as stream:
        source = Source(name=part.source, head=b"", stream=stream, raw=stream, columns=part.columns, names=part.names)
        table, damage = parquet.read_range(source, part.first - 1, part.rows)
    rows.table = table.rename_columns(list(part.header))
    if damage:
        for number in range(part.first, part.first + part.rows):
            where = f"{part.source}, row {number}"
            yield Record(where, number, None, (Problem("truncated", where, damage),))
        return
    wanted = {*KNOWN_KEYS, "more", *part.columns.values()} - _REPLACED
    # The layout of a row may name any column.
    names = [name for name in part.names if whole or KEY in part.names or name in wanted]
    for where, number, value in parquet.rows_of(table, source, first=part.first, names=names):
        yield Record(where, number, value, source.problems.take())
