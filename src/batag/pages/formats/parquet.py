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

    try:
        file = pq.ParquetFile(source.seekable())
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"is not a readable Parquet file ({_first_line(error)})", where=source.name, todo="Write it anew"
        ) from error
    with file:
        names = column_names(file.schema_arrow.names, source)
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


def row_of(batch: Any, place: int, names: list[str], source: Source, where: str) -> dict[str, Any]:
    """One row without nulls (a struct's nulls are fields that it does not have); bad bytes in a text become U+FFFD."""
    row = {}
    for name, column in zip(names, batch.columns, strict=True):
        try:
            value = column[place].as_py()
        except UnicodeDecodeError:
            value = column[place].as_buffer().to_pybytes().decode(errors="replace")
            source.problems.add("bad-encoding", where, f"the text of {name} is not UTF-8")
        if value is not None:
            row[name] = value
    if isinstance(tags := row.get("tags"), list):
        row["tags"] = [
            {key: value for key, value in tag.items() if value is not None} if isinstance(tag, dict) else tag for tag in tags
        ]
    return row


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:120]
