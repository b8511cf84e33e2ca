"""Encode tagged rows as the bytes of a part: the input columns, then `tags`, `reviewed` and `error`."""

import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from batag.catalogue.rows import Rows
from batag.pages.corrections import readable
from batag.pages.fields import columns_in
from batag.pages.formats import FORMATS, NEEDS_TOKENS, write_stream
from batag.pages.formats.format import format_module
from batag.pages.formats.row import ADDED, COLUMNS, Row, Written, text_cell, to_cells
from batag.pages.layout import KEY, Layout, escape, layout_of
from batag.pages.page import Page, Tag
from batag.pages.record import dump
from batag.pages.tags import tag_record
from batag.segmentation.segmentation import Segmentation, bring_tokens

SUFFIXES = {name: (*each.suffixes, ".json")[0] for name, each in FORMATS.items() if each.writes} | {"doccano": ".jsonl"}
COMPRESSIONS = {"": "", "gz": ".gz", "zst": ".zst"}


@dataclass(frozen=True, kw_only=True)
class Output:
    """The output format and compression; `bom` and `excel_safe` are options of CSV and TSV."""

    format: str = "parquet"
    compression: str = ""
    bom: bool = False
    excel_safe: bool = False

    @property
    def suffix(self) -> str:
        """The file name suffix of a part."""
        return f"{SUFFIXES[self.format]}{COMPRESSIONS[self.compression]}"


def encode(
    rows: Rows,
    tags: Sequence[Sequence[Tag]],
    output: Output,
    *,
    labels: Sequence[str] = (),
    shown: Sequence[str] = (),
    segmentation: Segmentation | None = None,
) -> tuple[bytes, Written]:
    """Encode the rows of a part with their tags. `labels` are all labels of the tagger; a workbook gets a readable column for
    each label in `shown`, and column formats get the tokens of the `segmentation`."""
    stream, written = io.BytesIO(), Written()
    kind = FORMATS[output.format].kind
    if kind == "pages":
        write_stream(_pages(rows, tags, segmentation if output.format in NEEDS_TOKENS else None), stream, format=output.format)
    elif kind == "records":
        stream.writelines(_lines(rows, tags, labels))
    else:
        options: dict[str, Any] = dict(FORMATS[output.format].writing)
        if output.format in ("csv", "tsv"):
            options |= {"bom": output.bom, "excel_safe": output.excel_safe}
        elif output.format == "xlsx":
            options["labels"] = shown
        replaced = _replaced(rows, labels)
        names = [name for name in rows.part.names if name not in replaced]
        if output.format == "parquet" and rows.table is not None:
            options["kept"] = rows.table.select([n for n, name in enumerate(rows.part.names) if name not in replaced])
        spelling = dict(zip(rows.part.names, rows.part.header, strict=True))
        header = [spelling[name] for name in names] if rows.part.names else COLUMNS
        made = _rows(rows, tags, names, excel_safe=output.excel_safe)
        # The column `batag` records the columns of the fields.
        marked = bool(rows.part.names) and (bool(rows.part.columns) or KEY in rows.part.names)
        written = format_module(output.format).write_rows(made, stream, header, marked=marked, **options)
    return compress(stream.getvalue(), output.compression), written


def compress(data: bytes, compression: str) -> bytes:
    """Compress bytes as a .gz or .zst member, or return them as they are; concatenated members are a valid file."""
    if compression == "gz":
        return gzip.compress(data, compresslevel=6, mtime=0)
    if compression == "zst":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return data


def _pages(rows: Rows, tags: Sequence[Sequence[Tag]], segmentation: Segmentation | None) -> Iterator[Page]:
    """Yield the pages with their tags; rows that could not be read as pages are left out."""
    for page, own in zip(rows.pages, tags, strict=True):
        if page is not None:
            tagged = replace(page, tags=tuple(own), labelled=True, reviewed=False, extra={**page.extra, "error": None})
            yield tagged if segmentation is None else bring_tokens(tagged, segmentation)


def _lines(rows: Rows, tags: Sequence[Sequence[Tag]], labels: Sequence[str]) -> Iterator[bytes]:
    """Yield input records as JSON lines with the output keys appended."""
    of_table = _replaced(rows, labels) if rows.part.names else frozenset()
    for record, page, own, error in zip(rows.records, rows.pages, tags, rows.errors(), strict=True):
        columns = _columns(record, rows, {})
        replaced = {*ADDED, *of_table, *([KEY] if columns else [])}
        kept = {key: value for key, value in record.items() if key not in replaced}
        named = {"id": page.id} if page is not None and record.get(columns.get("id", "id")) is None else {}
        layout = {KEY: Layout(columns).record()} if columns else {}
        added = {"tags": [tag_record(tag) for tag in _named(own, columns, {})], "reviewed": False, "error": error}
        yield dump(kept | named | added | layout) + b"\n"


def _rows(rows: Rows, tags: Sequence[Sequence[Tag]], names: Sequence[str], *, excel_safe: bool) -> Iterator[Row]:
    """Yield rows of a table with the input columns, or batag's own columns if the input has none."""
    header = [escape(name) if excel_safe else name for name in rows.part.header]
    spelling = dict(zip(rows.part.names, header, strict=True))
    for record, page, own, error in zip(rows.records, rows.pages, tags, rows.errors(), strict=True):
        where = page.where if page is not None else ""
        if rows.part.names:
            columns = _columns(record, rows, spelling)
            cells: Sequence[Any] = [record.get(name) for name in names]
            yield Row(cells, _named(own, columns, spelling), error=error, columns=columns, where=where)
        elif page is not None:
            yield Row(to_cells(page), own, error=error, where=where)
        else:
            more = dump(record).decode() if record else ""
            yield Row([text_cell(record.get("id")), *[""] * (len(COLUMNS) - 2), more], own, error=error)


def _replaced(rows: Rows, labels: Sequence[str]) -> frozenset[str]:
    """The input columns that are replaced by output columns, or that repeat their content for people."""
    return frozenset({*ADDED, KEY, *(map(readable, labels) if "tags" in rows.part.names else ())})


def _columns(record: Mapping[str, Any], rows: Rows, spelling: Mapping[str, str]) -> dict[str, str]:
    """Map each renamed field to its column in the file, as given now or recorded when the file was tagged before."""
    columns: Mapping[str, str] = rows.part.columns if FORMATS[rows.part.format].kind != "pages" else {}
    if (layout := layout_of(record)) is not None:
        columns = columns_in(record, columns=columns, usual=layout.columns_of(record))
    return {name: spelling.get(each, each) for name, each in columns.items() if name not in ("tags", "labels", "reviewed")}


def _named(tags: Sequence[Tag], columns: Mapping[str, str], spelling: Mapping[str, str]) -> Sequence[Tag]:
    """Return the tags with the field names of the file; if two fields share a column, with the first."""
    names = {tag.field: columns.get(tag.field) or spelling.get(tag.field, tag.field) for tag in tags}
    if all(name == field for field, name in names.items()):
        return tags
    firsts = {name: field for field, name in reversed(names.items())}
    return [replace(tag, field=names[tag.field]) for tag in tags if firsts[names[tag.field]] == tag.field]
