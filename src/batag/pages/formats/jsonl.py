"""JSON lines, batag's own format: one page a line (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from batag.pages.formats.json_object import parse_object
from batag.pages.page import Page
from batag.pages.record import RecordReader, dump, to_record
from batag.pages.source import Source


def read(source: Source) -> Iterator[Page]:
    """Pages of a JSON-lines file."""
    reader = RecordReader(problems=source.problems, stem=source.stem, columns=source.columns, language=source.language)
    for number, record in objects(source):
        page = reader.page(record, where=source.where(number), number=number)
        if page is not None:
            yield page


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """One JSON object a line; keys in a fixed order, text as it is."""
    for page in pages:
        stream.write(dump(to_record(page)) + b"\n")


def objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbered JSON objects, one a line; blank lines do not count."""
    for number, line in source.raw_lines():
        if line.isspace():
            continue
        if not line.endswith(b"\n") and line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}"):
            source.problems.add("truncated", source.where(number), "the file ends in the middle of a record")
        elif (record := parse_object(source, line, source.where(number))) is not None:
            yield number, record
