"""JSON Lines, batag's own format: one page per line (docs/formats.md)."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO

import orjson

from batag.pages.fields import check_columns
from batag.pages.formats.json_objects import parse, split_array
from batag.pages.page import Page
from batag.pages.record import dump, to_record
from batag.pages.source import Source

__all__ = ["check_keys", "lines", "parse", "read", "write"]


def read(source: Source) -> Iterator[tuple[str, int, bytes]]:
    """Yield (place, line number, bytes) for each line of a JSON Lines file. A column of `--columns` that does not occur in the
    file is an error."""
    check_keys(source)
    return lines(source)


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """Write one JSON object per line, with keys in a fixed order."""
    for page in pages:
        stream.write(dump(to_record(page)) + b"\n")


def check_keys(source: Source) -> None:
    """Raise an error if a column of `--columns` is in none of the records at the beginning of the file."""
    names: dict[str, None] = {}
    head = source.head if source.columns else b""
    for piece in _elements(head) if head.lstrip().startswith(b"[") else head.split(b"\n"):
        try:
            record = orjson.loads(piece)
        except orjson.JSONDecodeError:  # cut off at the end of the head, or listed when it is read
            continue
        names |= dict.fromkeys(record if isinstance(record, dict) else ())
    if names:
        check_columns(source.columns, names, where=source.name)


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
