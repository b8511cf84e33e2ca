"""JSON Lines, batag's own format: one page per line (docs/formats.md)."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO

import orjson

from batag.pages.fields import check_columns, check_text_column, columns_in
from batag.pages.formats.json_objects import parse, split_array
from batag.pages.page import Page
from batag.pages.record import dump, to_record
from batag.pages.source import Source

__all__ = ["check_keys", "lines", "parse", "read", "write"]


def read(source: Source) -> Iterator[tuple[str, int, bytes]]:
    """Yield (place, line number, bytes) for each line of a JSON Lines file. A column of `--columns` that does not occur in the
    file is an error."""
    names = check_keys(source)
    if source.usual_columns and names and "tokens" not in names:
        check_text_column(source.columns, names, usual=source.usual_columns, where=source.name)
    return lines(source)


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """Write one JSON object per line, with keys in a fixed order."""
    for page in pages:
        stream.write(dump(to_record(page)) + b"\n")


def check_keys(source: Source) -> Iterable[str]:
    """Choose the columns of a file by the keys of its first records, and return these keys. A column of `--columns` that is in
    none of the records is an error."""
    names: dict[str, None] = {}
    head = source.head if source.columns or source.usual_columns else b""
    for piece in _elements(head) if head.lstrip().startswith(b"[") else head.split(b"\n"):
        try:
            record = orjson.loads(piece)
        except orjson.JSONDecodeError:  # cut off at the end of the head, or listed when it is read
            continue
        for part in (
            (record, record.get("data")) if isinstance(record, dict) else ()
        ):  # a task of Label Studio has its page there
            names |= dict.fromkeys(part if isinstance(part, dict) else ())
    if names:
        check_columns(source.columns, names, where=source.name)
    seen = names or source.usual_columns.values()  # a first record that is longer than the head does not show its keys
    source.columns = columns_in(seen, columns=source.columns, usual=source.usual_columns)
    return names


def _elements(head: bytes) -> Iterator[bytes]:
    """The elements of an array that are complete in the beginning of the file."""
    with suppress(EOFError):
        yield from filter(None, split_array(BytesIO(head)))


def lines(source: Source) -> Iterator[tuple[str, int, bytes]]:
    """Yield the lines without blank ones."""
    for number, line in source.raw_lines():
        if line.isspace():
            continue
        where = source.where(number)
        if not line.endswith(b"\n") and line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}"):
            source.problems.add("truncated", where, "the file ends in the middle of a record")
        else:
            yield where, number, line
