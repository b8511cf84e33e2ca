"""Parquet, read and written in batches; `tags` is a list of structs or text."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import accumulate, islice, pairwise
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from batag.errors import InputError
from batag.pages.formats.row import ADDED, COLUMNS, Row, Written, page, read_header, text_cell, to_row
from batag.pages.layout import KEY
from batag.pages.page import Page, Tag
from batag.pages.source import Source

__all__ = ["join", "page", "read", "write", "write_rows"]
_BATCH = 1_000
_FOOTER = 1 << 16


def read(source: Source) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the rows of a Parquet file, with a thousand in memory at a time."""
    return _rows(open_table(source), source)


def open_table(source: Source) -> Any:
    """Open the file, and set the columns of the source."""
    raw = source.seekable()
    with _readable(source):
        file = pq.ParquetFile(raw)
        schema = file.schema_arrow
        names = schema.names
    _check_rows(file.metadata, raw, source.name)
    read_header(names, source)
    source.types = tuple(str(each.type) for each in schema)
    return file


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        what = f"is not a readable Parquet file ({first_line(error)})"
        raise InputError(what, where=source.name, todo="Write it anew") from error


def _rows(file: Any, source: Source) -> Iterator[tuple[str, int, dict[str, Any]]]:
    number = 0
    with file:
        try:
            for batch in file.iter_batches(_BATCH):
                yield from rows_of(batch, source, first=number + 1)
                number += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            reason = f"the file cannot be read further ({first_line(error)})"
            source.problems.add("truncated", f"{source.name}, row {number + 1}", reason)


def rows_of(batch: Any, source: Source, *, first: int, names: Sequence[str] = ()) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the rows of an Arrow batch or table, with all columns or those of `names`; bad bytes in text become U+FFFD."""
    columns = {
        name: _values(column) for name, column in zip(source.names, batch.columns, strict=True) if not names or name in names
    }
    bad = {place: name for name, (_, places) in columns.items() for place in places}
    for place, values in enumerate(zip(*(values for values, _ in columns.values()), strict=True)):
        where = f"{source.name}, row {first + place}"
        if place in bad:
            source.problems.add("bad-encoding", where, f"the text of {bad[place]} is not UTF-8")
        yield where, first + place, dict(zip(columns, values, strict=True))


def _values(column: Any) -> tuple[list[Any], set[int]]:
    """The values of a column as Python objects, or as text where Python has no type (a date in the year 20,000), and the rows
    with bad bytes."""
    try:
        return column.to_pylist(), set()
    except (ValueError, OverflowError, LookupError):
        values: list[Any] = []
        bad: set[int] = set()
    for place, scalar in enumerate(column):
        try:
            values.append(scalar.as_py())
        except (ValueError, OverflowError, LookupError) as error:
            values.append(_mended(scalar))
            if isinstance(error, UnicodeDecodeError):
                bad.add(place)
    return values, bad


def _mended(scalar: Any) -> Any:
    """A value without a Python type, converted piece by piece."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind) and hasattr(scalar, "values"):
        return [_mended(each) for each in scalar.values]
    if pa.types.is_struct(kind):
        return {str(name): _mended(scalar[place]) for place, name in enumerate(each.name for each in kind)}
    if pa.types.is_dictionary(kind):
        return _mended(scalar.value)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return scalar.as_buffer().to_pybytes().decode(errors="replace")
    try:
        return scalar.as_py()
    except (ValueError, OverflowError, LookupError):
        try:
            return scalar.cast(pa.string()).as_py()
        except (pa.ArrowException, ValueError):
            return f"a {kind} that cannot be read"


def row_groups(source: Source) -> tuple[list[tuple[int, int]], str]:
    """The rows and bytes of each row group, and a key that identifies the file's content."""
    with open_table(source) as file:
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
        length = source.raw.seek(0, 2)
        source.raw.seek(max(0, length - _FOOTER))
        identity = f"{length} {hashlib.blake2b(source.raw.read(), digest_size=16).hexdigest()}"
    return [(group.num_rows, group.total_byte_size) for group in groups], identity


def read_range(source: Source, first: int, rows: int) -> tuple[Any, str]:
    """Read `rows` rows from `first` (counted from 0) as a table, and the reason if they cannot be read (they are empty then).
    Only the row groups needed are read."""
    with _readable(source):
        file = pq.ParquetFile(source.raw)
    with file:
        try:
            # Copied, so that the batches that it was cut from can go.
            return pa.Table.from_batches(_batches(file, first, rows), schema=file.schema_arrow).combine_chunks(), ""
        except (pa.ArrowException, OSError) as error:
            what = f"cannot be read ({first_line(error)})"
            if isinstance(error, OSError) and error.errno is not None:  # the disk's or the network's, not the file's
                where = f"{source.name}, row {first + 1}"
                raise InputError(what, where=where, todo="Run the same command again to resume") from error
            return pa.table([pa.nulls(rows, each.type) for each in file.schema_arrow], schema=file.schema_arrow), what


def _batches(file: Any, first: int, rows: int) -> Iterator[Any]:
    starts = list(accumulate((file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)), initial=0))
    groups = [n for n, (start, end) in enumerate(pairwise(starts)) if start < first + rows and end > first]
    place = starts[groups[0]]
    for batch in file.iter_batches(batch_size=min(rows, 4 * _BATCH), row_groups=groups):
        begin, end = max(first - place, 0), min(first + rows - place, batch.num_rows)
        if begin < end:
            yield batch.slice(begin, end - begin)
        place += batch.num_rows
        if place >= first + rows:
            return


def _check_rows(metadata: Any, file: BinaryIO, name: str) -> None:
    """Raise an error if a file claims far more rows than it has bytes; a few bytes can claim a million rows."""
    rows = sum(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
    place = file.tell()
    size = file.seek(0, 2)
    file.seek(place)
    if rows > 100 * size:
        raise InputError(f"claims {rows:,} rows in {size:,} bytes", where=name, todo="Write it anew")


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """Write a Parquet file; `tags` is a list of structs, and null (as `reviewed`) for a page without labels."""
    rows = map(to_row, pages)
    table = _table(list(islice(rows, _BATCH)), COLUMNS, errors=False)
    with pq.ParquetWriter(stream, table.schema, compression="zstd") as writer:
        while table.num_rows:
            writer.write_table(table)
            table = _table(list(islice(rows, _BATCH)), COLUMNS, errors=False)


def write_rows(
    rows: Iterable[Row], stream: BinaryIO, header: Sequence[str], *, marked: bool = False, kept: Any = None
) -> Written:
    """Write tagged rows; `kept` is the Arrow table of the input columns if they came from Parquet."""
    pq.write_table(_table(list(rows), header, marked=marked, kept=kept), stream, compression="zstd")
    return Written()


def _table(rows: Sequence[Row], header: Sequence[str], *, errors: bool = True, marked: bool = False, kept: Any = None) -> Any:
    if kept is None:
        # What is empty here was empty or absent there.
        cells = list(zip(*([text_cell(cell) or None for cell in row.cells] for row in rows), strict=True))
        kept = pa.table([pa.array(column, pa.string()) for column in cells or [()] * len(header)], names=list(header))
    added = [_tag_column([row.tags for row in rows]), pa.array([row.reviewed for row in rows], pa.bool_())]
    added += [pa.array([row.error for row in rows], pa.string())] if errors else []
    for name, column in zip(ADDED, added, strict=False):
        kept = kept.append_column(name, column)
    return kept.append_column(KEY, pa.array([row.layout_text() or None for row in rows], pa.string())) if marked else kept


def _tag_column(tags: Sequence[Sequence[Tag] | None]) -> Any:
    """The column `tags`, a list of structs per row."""
    flat = [tag for each in tags for tag in each or ()]
    ends = list(accumulate((len(each or ()) for each in tags), initial=0))
    # A list whose beginning is null is null.
    offsets = [None if each is None else start for start, each in zip(ends, tags, strict=False)] + ends[-1:]
    text, number = pa.string(), pa.int32()
    kinds = {"field": text, "start": number, "end": number, "label": text, "text": text, "score": pa.float64()}
    kinds |= {"normal": text, "canonical": text, "category": text, "source": text}
    columns = [pa.array([getattr(tag, name) for tag in flat], kind) for name, kind in kinds.items()]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.StructArray.from_arrays(columns, names=list(kinds)))


def join(parts: Iterable[bytes], stream: BinaryIO) -> None:
    """Concatenate files with the same columns."""
    writer = None
    for data in parts:
        with pq.ParquetFile(BytesIO(data)) as file:
            table = file.read()
        if writer is None:
            # A column that is never empty in one input may be in another.
            schema = pa.schema([each.with_nullable(True) for each in table.schema], metadata=table.schema.metadata)
            writer = pq.ParquetWriter(stream, schema, compression="zstd")
        writer.write_table(table.cast(schema))
    if writer is not None:
        writer.close()


def first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:120]
