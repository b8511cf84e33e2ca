"""Tagged rows as bytes: the columns that came in, then `tags`, `reviewed` and `error`; and parts joined into one file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from batag.catalogue.rows import Rows
from batag.catalogue.sheet import TaggedSheet
from batag.pages.corrections import readable
from batag.pages.formats.sheet import Cell, SheetWriter
from batag.pages.formats.table import TableWriter
from batag.pages.layout import KEY, Layout, escape, layout_of
from batag.pages.page import Page, Tag
from batag.pages.record import dump, tag_record
from batag.pages.row import COLUMNS, to_cells

SUFFIXES = {"parquet": ".parquet", "jsonl": ".jsonl", "csv": ".csv", "tsv": ".tsv", "xlsx": ".xlsx"}
COMPRESSIONS = {"": "", "gz": ".gz", "zst": ".zst"}
_ADDED = ("tags", "reviewed", "error")
_OURS = tuple(name for name in COLUMNS if name not in _ADDED)


@dataclass(frozen=True)
class Encoded:
    """A part's bytes, the error of each row, and how many cells were escaped."""

    data: bytes
    errors: Sequence[str | None]
    escaped: int = 0


def encode(
    rows: Rows,
    tags: Sequence[Sequence[Tag]],
    errors: Sequence[str | None],
    *,
    format: str,
    compression: str = "",
    bom: bool = False,
    excel_safe: bool = False,
    labels: Sequence[str] = (),
    shown: Sequence[str] = (),
) -> Encoded:
    """The rows of a part in a format, compressed if asked; a workbook has a column for each label that is `shown`."""
    header = tuple(escape(name) if excel_safe else name for name in rows.header)
    spelt = {} if format == "jsonl" else dict(zip(rows.names, header, strict=True))
    mapped = bool(rows.names) or format == "jsonl"
    columns = [_columns(record, rows, spelt) if mapped else {} for record in rows.records]
    tags = [_named(own, said, spelt) for own, said in zip(tags, columns, strict=True)] if mapped else tags
    replaced = _replaced(rows, labels)
    if format == "parquet":
        return Encoded(_parquet(rows, tags, errors, columns, replaced=replaced), errors)
    if format == "jsonl":
        lines = zip(rows.records, rows.pages, tags, errors, columns, strict=True)
        data = b"".join(dump(_line(*line, replaced=replaced)) + b"\n" for line in lines)
        return Encoded(compress(data, compression), errors)
    stream = io.BytesIO()
    names, cells = _cells(rows, replaced, typed=format == "xlsx")
    table = zip(cells, tags, errors, columns, strict=True)
    if format == "xlsx":
        wheres = (page.where if isinstance(page, Page) else "" for page in rows.pages)
        with SheetWriter(stream) as writer:
            sheet = TaggedSheet(writer, names, labels=shown, marked=_is_marked(rows))
            said = [sheet.row(*row[:3], columns=row[3], where=where) for row, where in zip(table, wheres, strict=True)]
        return Encoded(stream.getvalue(), said)
    mark = "\t" if format == "tsv" else ","
    lined = TableWriter(stream, (*names, *_ADDED), mark=mark, bom=bom, excel_safe=excel_safe, marked=_is_marked(rows))
    for own, found, error, of_row in table:
        lined.row((*own, dump([tag_record(tag) for tag in found]).decode(), "false", error or ""), columns=of_row)
    return Encoded(compress(stream.getvalue(), compression), errors, lined.escaped.total())


def _is_marked(rows: Rows) -> bool:
    """Whether a table needs a column that says which columns fields are in."""
    return bool(rows.names) and (bool(rows.columns) or KEY in rows.names)


def _replaced(rows: Rows, labels: Sequence[str]) -> frozenset[str]:
    """The columns of the input that are written anew, or repeat for people what was in those."""
    repeating = map(readable, labels) if "tags" in rows.names else ()
    return frozenset({*_ADDED, *repeating, *([KEY] if rows.names else [])})


def _columns(record: Mapping[str, Any], rows: Rows, spelt: Mapping[str, str]) -> dict[str, str]:
    """The column in the file of each field that was mapped: now, or when the record was tagged before."""
    said: Mapping[str, str] = rows.columns
    if not said and (layout := layout_of(record)) is not None:
        said = {name: layout.column_of(name, record) for name in layout.columns}
    return {name: spelt.get(column, column) for name, column in said.items() if name not in ("tags", "labels", "reviewed")}


def _named(tags: Sequence[Tag], columns: Mapping[str, str], spelt: Mapping[str, str]) -> Sequence[Tag]:
    """The tags with the names that their fields have in the file; of two fields in one column the first."""
    names = {tag.field: columns.get(tag.field) or spelt.get(tag.field, tag.field) for tag in tags}
    if all(name == field for field, name in names.items()):
        return tags
    firsts = {name: field for field, name in reversed(names.items())}
    return [replace(tag, field=names[tag.field]) for tag in tags if firsts[names[tag.field]] == tag.field]


def compress(data: bytes, compression: str) -> bytes:
    """Bytes as they are, or as a member of .gz or .zst; members one after the other are a file again."""
    if compression == "gz":
        return gzip.compress(data, compresslevel=6, mtime=0)
    if compression == "zst":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return data


def _line(
    record: dict[str, Any],
    page: Page | str,
    tags: Sequence[Tag],
    error: str | None,
    columns: Mapping[str, str],
    *,
    replaced: frozenset[str],
) -> dict[str, Any]:
    """A record as it came, with what is written anew at its end."""
    replaced = replaced | {KEY} if columns else replaced
    if not record.keys().isdisjoint(replaced):
        record = {key: value for key, value in record.items() if key not in replaced}
    named = {"id": page.id} if isinstance(page, Page) and record.get(columns.get("id", "id")) is None else {}
    said = {KEY: Layout(columns).record()} if columns else {}
    return record | named | {"tags": [tag_record(tag) for tag in tags], "reviewed": False, "error": error} | said


def _cells(rows: Rows, replaced: frozenset[str], *, typed: bool = False) -> tuple[list[str], Iterable[list[Any]]]:
    """The columns that came in and each row's cells as text (`typed`: numbers as they are); of records without columns, those
    of batag's own tables."""
    if rows.names:
        kept = [(name, own) for name, own in zip(rows.names, rows.header, strict=True) if name not in replaced]
        text = _typed if typed else _text
        return [own for _, own in kept], ([text(record.get(name)) for name, _ in kept] for record in rows.records)
    pairs = zip(rows.pages, rows.records, strict=True)
    return list(_OURS), ([own[name] for name in _OURS] for own in (_our_cells(page, record) for page, record in pairs))


def _our_cells(page: Page | str, record: Mapping[str, Any]) -> dict[str, str]:
    if isinstance(page, Page):
        return to_cells(page)
    kept = dict.fromkeys(COLUMNS, "")
    return kept | {"id": _text(record.get("id")), "more": dump(record).decode() if record else ""}


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return dump(value).decode() if isinstance(value, (bool, dict, list, tuple, bytes)) else str(value)


def _typed(value: Any) -> Cell:
    return value if isinstance(value, int | float) else _text(value)


def _parquet(
    rows: Rows,
    tags: Sequence[Sequence[Tag]],
    errors: Sequence[str | None],
    columns: Sequence[Mapping[str, str]],
    *,
    replaced: frozenset[str],
) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rows.table is not None:
        table = rows.table.select([place for place, name in enumerate(rows.names) if name not in replaced])
    else:
        names, cells = _cells(rows, replaced)
        # What is empty here was empty or absent there.
        texts = list(zip(*cells, strict=True)) or [()] * len(names)
        made = [pa.array([cell or None for cell in column], pa.string()) for column in texts]
        table = pa.table(made, names=names)
    seen = pa.array([False] * len(errors), pa.bool_())
    added = (_tag_column(tags), seen, pa.array(errors, pa.string()))
    for name, column in zip(_ADDED, added, strict=True):
        table = table.append_column(name, column)
    if _is_marked(rows):
        said = [dump(Layout(each).record()).decode() if each else None for each in columns]
        table = table.append_column(KEY, pa.array(said, pa.string()))
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _tag_column(tags: Sequence[Sequence[Tag]]) -> Any:
    """A list of structs a row, made column by column."""
    import pyarrow as pa

    flat = [tag for each in tags for tag in each]
    offsets = [0]
    for each in tags:
        offsets.append(offsets[-1] + len(each))
    kinds: dict[str, tuple[Any, Callable[[Tag], Any]]] = {
        "field": (pa.string(), lambda tag: tag.field),
        "start": (pa.int32(), lambda tag: tag.start),
        "end": (pa.int32(), lambda tag: tag.end),
        "label": (pa.string(), lambda tag: tag.label),
        "text": (pa.string(), lambda tag: tag.text),
        "score": (pa.float64(), lambda tag: tag.score),
        "normal": (pa.string(), lambda tag: tag.normal),
        "source": (pa.string(), lambda tag: tag.source),
    }
    columns = [pa.array([get(tag) for tag in flat], kind) for kind, get in kinds.values()]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.StructArray.from_arrays(columns, names=list(kinds)))


def join(parts: Iterable[bytes], stream: BinaryIO, *, format: str) -> None:
    """Parts, in order, as one file; tables have their header once."""
    if format == "parquet":
        _join_parquet(parts, stream)
        return
    if format == "xlsx":
        with SheetWriter(stream) as sheet:
            for data in parts:
                sheet.rows_of(data)
        return
    for number, data in enumerate(parts):
        stream.write(data[_header_length(data) :] if number and format in ("csv", "tsv") else data)


def _header_length(data: bytes) -> int:
    """Where the first row of a table ends; a line end inside quotes does not end it."""
    start = quotes = 0
    while True:
        end = data.index(b"\r\n", start) + 2
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0:
            return end
        start = end


def _join_parquet(parts: Iterable[bytes], stream: BinaryIO) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for data in parts:
        with pq.ParquetFile(io.BytesIO(data)) as file:
            table = file.read()
        if writer is None:
            # A column that is never empty in one input may be in another.
            schema = pa.schema([each.with_nullable(True) for each in table.schema], metadata=table.schema.metadata)
            writer = pq.ParquetWriter(stream, schema, compression="zstd")
        writer.write_table(table.cast(schema))
    if writer is not None:
        writer.close()
