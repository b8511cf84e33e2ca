"""Parquet, read and written in batches; `tags` may be a list of structs or text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from batag.errors import InputError
from batag.pages.formats.delimited import column_names
from batag.pages.page import Page
from batag.pages.record import RecordReader, tag_record
from batag.pages.row import COLUMNS, from_cells, to_cells
from batag.pages.source import Source

_BATCH = 1_000


def read(source: Source) -> Iterator[Page]:
    """Pages of a Parquet file, a thousand rows in memory at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    raw = source.seekable()
    try:
        file = pq.ParquetFile(raw)
        columns = file.schema_arrow.names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"is not a readable Parquet file ({_first_line(error)})", where=source.name, todo="Write it anew"
        ) from error
    with file:
        check_rows(file.metadata, raw, source.name)
        names = column_names(columns, source)
        reader = RecordReader(problems=source.problems, stem=source.stem, columns=source.columns, language=source.language)
        number = 0
        try:
            for batch in file.iter_batches(_BATCH):
                for place in range(batch.num_rows):
                    number += 1
                    where = f"{source.name}, row {number}"
                    row = row_of(batch, place, names, source, where)
                    page = reader.page(from_cells(row), where=where, number=number)
                    if page is not None:
                        yield page
        except (pa.ArrowException, OSError) as error:
            reason = f"the file cannot be read further ({_first_line(error)})"
            source.problems.add("truncated", f"{source.name}, row {number + 1}", reason)


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """A Parquet file; `tags` is a list of structs; it and `reviewed` are null for a page that nobody labelled."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    number = pa.int32()
    tag = pa.struct(
        {
            "field": text,
            "start": number,
            "end": number,
            "label": text,
            "text": text,
            "score": pa.float64(),
            "normal": text,
            "source": text,
        }.items()
    )
    kinds = {"tags": pa.list_(tag), "reviewed": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, text)) for name in COLUMNS])
    iterator = iter(pages)
    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        while batch := list(islice(iterator, _BATCH)):
            writer.write_table(pa.Table.from_pylist([_row(page) for page in batch], schema))


def _row(page: Page) -> dict[str, Any]:
    row: dict[str, Any] = {name: cell if cell != "" else None for name, cell in to_cells(page).items()}
    row["tags"] = [tag_record(tag) for tag in page.tags] if page.labelled else None
    return row | {"reviewed": page.reviewed}


def check_rows(metadata: Any, file: BinaryIO, name: str) -> None:
    """An error if a file says that it has far more rows than bytes: a few bytes can say that a row comes a million times."""
    rows = sum(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
    place = file.tell()
    size = file.seek(0, 2)
    file.seek(place)
    if rows > 100 * size:
        raise InputError(f"says that it has {rows:,} rows in {size:,} bytes", where=name, todo="Write it anew")


def row_of(batch: Any, place: int, names: list[str], source: Source, where: str) -> dict[str, Any]:
    """One row without nulls (a struct's nulls are fields that it does not have); bad bytes in a text become U+FFFD."""
    row = {}
    for name, column in zip(names, batch.columns, strict=True):
        try:
            value = column[place].as_py()
        except (ValueError, OverflowError, LookupError) as error:
            value = mended(column[place])
            if isinstance(error, UnicodeDecodeError):
                source.problems.add("bad-encoding", where, f"the text of {name} is not UTF-8")
        if value is not None:
            row[name] = value
    if isinstance(tags := row.get("tags"), list):
        row["tags"] = [
            {key: value for key, value in tag.items() if value is not None} if isinstance(tag, dict) else tag for tag in tags
        ]
    return row


def mended(scalar: Any) -> Any:
    """A value that Python has no word for, piece by piece: bad bytes become U+FFFD, a date in the year 20,000 text."""
    import pyarrow as pa

    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind) and hasattr(scalar, "values"):
        return [mended(each) for each in scalar.values]
    if pa.types.is_struct(kind):
        return {str(name): mended(scalar[place]) for place, name in enumerate(each.name for each in kind)}
    if pa.types.is_dictionary(kind):
        return mended(scalar.value)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return scalar.as_buffer().to_pybytes().decode(errors="replace")
    try:
        return scalar.as_py()
    except (ValueError, OverflowError, LookupError):
        try:
            return scalar.cast(pa.string()).as_py()
        except (pa.ArrowException, ValueError):
            return f"a {kind} that cannot be read"


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:120]
