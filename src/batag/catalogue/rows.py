"""The rows of a part: what came in, as records, and each as a page or as the reason why it is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import accumulate, pairwise
from typing import Any

from batag.catalogue.inputs import spelt
from batag.catalogue.part import Part
from batag.errors import InputError
from batag.pages.file import open_file
from batag.pages.formats.delimited import column_names
from batag.pages.formats.json_object import parse_object
from batag.pages.formats.parquet import mended, row_of
from batag.pages.layout import KEY, unescaped
from batag.pages.mapping import KNOWN_KEYS, STANDARD_FIELDS
from batag.pages.page import Page
from batag.pages.problems import Problem, Problems
from batag.pages.record import RecordReader, to_record
from batag.pages.row import from_cells
from batag.pages.source import Source

_TYPED = frozenset({"range", "sheet"})
_BATCH = 4_096
_REPLACED = frozenset({"tags", "labels", "reviewed", "error"})


@dataclass
class Rows:
    """A record and a page (or why there is none) a row; `table` is the Arrow table of a Parquet file, `names` the columns of a
    table of cells, `columns` what was said of them. What was repaired or noted is counted, the first of it listed."""

    records: list[dict[str, Any]] = field(default_factory=list)
    pages: list[Page | str] = field(default_factory=list)
    table: Any = None
    names: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    listed: list[Problem] = field(default_factory=list)


def read_rows(part: Part, *, whole: bool) -> Rows:
    """The rows of a part; `whole` asks for records with all columns, else only what makes a page."""
    rows = Rows(names=part.names, header=part.header, columns=part.columns if part.kind != "pages" else {})
    problems = Problems()
    reader = RecordReader(problems=problems, stem=part.stem, columns=part.columns, language=part.language)
    for where, number, record in _records(part, rows, problems, whole=whole):
        page: Page | str | None
        if isinstance(record, str):
            page, kept = record, {}
        elif isinstance(record, Page):
            page, kept = record, to_record(record)
        else:
            kept = unescaped(record) if part.kind in ("cells", "sheet") else record
            there = {key: value for key, value in record.items() if value is not None} if part.kind in _TYPED else record
            if part.kind == "sheet":
                there = {key: str(value) for key, value in there.items()}
                mapped = (column for name, column in part.columns.items() if name in STANDARD_FIELDS or name not in KNOWN_KEYS)
                kept |= {name: there[name] for name in (*STANDARD_FIELDS, *mapped) if name in there}
            cells = record if part.kind == "lines" else from_cells(there)
            if _REPLACED.isdisjoint(cells):
                page = reader.page(cells, where=where, number=number)
            else:
                asked = {key: value for key, value in cells.items() if key not in _REPLACED}
                page = reader.page(asked, where=where, number=number)
                if isinstance(page, Page) and "labels" in cells:
                    page = replace(page, extra={**page.extra, "labels": cells["labels"]})
        if part.usual_language is not None and isinstance(page, Page) and page.language is None:
            page = replace(page, usual_language=part.usual_language)
        if problems.counts:
            if page is None:
                page = "; ".join(f"{each.where}: {each.reason}" for each in problems.listed)
            elif isinstance(page, Page):
                rows.counts += problems.counts
                rows.listed += problems.listed[: max(0, 20 - len(rows.listed))]
            problems.counts.clear()
            problems.listed.clear()
        rows.records.append(kept)
        rows.pages.append(page if page is not None else f"{where}: not a page")
    return rows


def _records(part: Part, rows: Rows, problems: Problems, *, whole: bool) -> Iterator[tuple[str, int, Any]]:
    if part.kind == "range":
        yield from _of_range(part, rows, problems, whole=whole)
        return
    source = Source(name=part.source, head=b"", stream=BytesIO(), raw=BytesIO(), problems=problems)
    for line, number, held in part.entries:
        where = f"{part.source}, row {line}" if part.kind == "sheet" else f"{part.source}:{line}"
        if isinstance(held, bytes):
            record = parse_object(source, held, where)
            failed = "; ".join(f"{each.where}: {each.reason}" for each in problems.listed)
            yield where, number, record if record is not None else failed
        elif isinstance(held, list):
            yield where, number, _of_cells(held, part.names, where)
        else:
            yield where, number, held


def _of_cells(given: list[str], names: tuple[str, ...], where: str) -> dict[str, Any] | str:
    cells = list(given)  # a part stays as it was read
    while len(cells) > len(names) and not cells[-1]:
        cells.pop()
    if len(cells) > len(names):
        return f"{where}: {len(cells)} cells under {len(names)} column names (a separator inside a text needs quotes)"
    return dict(zip(names, cells, strict=False))


def _of_range(part: Part, rows: Rows, problems: Problems, *, whole: bool) -> Iterator[tuple[str, int, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_file(part.source) as stream:
        source = Source(name=part.source, head=b"", stream=stream, raw=stream, problems=problems, columns=part.columns)
        try:
            with pq.ParquetFile(stream) as file:
                names = column_names(file.schema_arrow.names, source)
                rows.names, rows.header = tuple(names), spelt(file.schema_arrow.names, names)
                rows.table = pa.table([pa.nulls(part.rows, each.type) for each in file.schema_arrow], names=list(rows.header))
                kept = pa.Table.from_batches(_of_rows(file, part.first - 1, part.rows), schema=file.schema_arrow)
                # Copied, so that the batches that it was cut from can go.
                rows.table = kept.combine_chunks().rename_columns(list(rows.header))
        except (pa.ArrowException, OSError) as error:
            what = f"cannot be read ({str(error).splitlines()[0][:120]})"
            if isinstance(error, OSError) and error.errno is not None:  # the disk's or the network's, not the file's
                raise InputError(what, where=f"{part.source}, row {part.first}", todo="Try again; the job goes on") from error
            yield from _damaged(part, rows, what)
            return
    wanted = {*KNOWN_KEYS, "more", *part.columns.values()} - _REPLACED
    whole = whole or KEY in names  # which may name any of them
    chosen = [(name, column) for name, column in zip(names, rows.table.columns, strict=True) if whole or name in wanted]
    try:
        columns: Mapping[str, list[Any]] = {name: _values(column) for name, column in chosen}
    except UnicodeDecodeError:
        yield from _of_bad_bytes(part, rows.table, names, [name for name, _ in chosen], source)
        return
    for place in range(rows.table.num_rows):
        record = {name: values[place] for name, values in columns.items()}
        yield f"{part.source}, row {part.first + place}", part.first + place, record


def _damaged(part: Part, rows: Rows, what: str) -> Iterator[tuple[str, int, Any]]:
    """Rows that are known to be there and cannot be decoded: each is an error, and empty."""
    if rows.table is None:
        raise InputError(what, where=part.source, todo="Write the file anew")
    for number in range(part.first, part.first + part.rows):
        where = f"{part.source}, row {number}"
        yield where, number, f"{where}: {what}"


def _values(column: Any) -> list[Any]:
    """A column in Python's own kinds; as text what Python has none for (a date in the year 20,000)."""
    try:
        found: list[Any] = column.to_pylist()
    except (OverflowError, ValueError, LookupError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise
        found = [mended(each) for each in column]
    return found


def _of_bad_bytes(
    part: Part, table: Any, names: list[str], chosen: list[str], source: Source
) -> Iterator[tuple[str, int, Any]]:
    """Row by row, for texts that are not UTF-8."""
    wanted = set(chosen)
    columns = [place for place, name in enumerate(names) if name in wanted]
    (batch,) = table.select(columns).combine_chunks().to_batches()
    for place in range(batch.num_rows):
        where = f"{part.source}, row {part.first + place}"
        yield where, part.first + place, row_of(batch, place, chosen, source, where)


def _of_rows(file: Any, first: int, rows: int) -> Iterable[Any]:
    """The batches of a range, cut to it; row groups before and after it are not read."""
    starts = list(accumulate((file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)), initial=0))
    groups = [n for n, (start, end) in enumerate(pairwise(starts)) if start < first + rows and end > first]
    place = starts[groups[0]]
    for batch in file.iter_batches(batch_size=min(rows, _BATCH), row_groups=groups):
        begin, end = max(first - place, 0), min(first + rows - place, batch.num_rows)
        if begin < end:
            yield batch.slice(begin, end - begin)
        place += batch.num_rows
        if place >= first + rows:
            return
