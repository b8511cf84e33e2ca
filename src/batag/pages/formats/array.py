"""JSON arrays, read one element at a time however long the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import ijson
import orjson

from batag.pages.file import READ_ERRORS
from batag.pages.source import Source


def elements(source: Source) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Each object of the array with its place (`file, record n`) and number."""
    number = 0
    try:
        for number, record in enumerate(ijson.items(source.stream, "item", use_float=True), 1):
            where = place(source, number)
            if isinstance(record, dict):
                yield where, number, record
            else:
                source.problems.add("bad-json", where, "an element of the array is not an object")
    except (ijson.JSONError, UnicodeDecodeError, *READ_ERRORS) as error:
        reason = f"the array cannot be read further ({' '.join(str(error).split())[:120]})"
        source.problems.add("truncated", place(source, number + 1), reason)


def place(source: Source, number: int) -> str:
    return f"{source.name}, record {number}"


def write_array(records: Iterable[Any], stream: BinaryIO) -> None:
    """A JSON array, one element a line."""
    before = b"[\n"
    for record in records:
        stream.write(before + orjson.dumps(record))
        before = b",\n"
    stream.write(b"\n]\n" if before != b"[\n" else b"[]\n")
