"""JSON lines, batag's own format: one page a line (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import orjson

from batag.pages.page import Page
from batag.pages.record import RecordReader, to_record
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
        stream.write(orjson.dumps(to_record(page), option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS))


def objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbered JSON objects, one a line; blank lines do not count."""
    for number, line in source.raw_lines():
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            if not line.strip():
                continue
            record = _slowly(source, line, number)
        if isinstance(record, dict):
            yield number, record
        elif record is not None:
            source.problems.add("bad-json", source.where(number), "the line is JSON, but not an object")


def _slowly(source: Source, line: bytes, number: int) -> Any:
    """What the strict reader refuses: lone surrogates, raw control characters, NaN, bytes that are not UTF-8."""
    text = source.decode(line, number)
    try:
        record = json.loads(text, strict=False)
    except (json.JSONDecodeError, RecursionError) as error:
        if not line.endswith(b"\n") and line.lstrip().startswith(b"{"):
            source.problems.add("truncated", source.where(number), "the file ends in the middle of a record")
        else:
            what = f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else "nested too deep"
            source.problems.add("bad-json", source.where(number), f"not JSON: {what}")
        return None
    if any(character < " " for character in text.rstrip("\r\n")):
        source.problems.add("control-characters", source.where(number), "raw control characters in a JSON string")
    return record if record is not None else []
