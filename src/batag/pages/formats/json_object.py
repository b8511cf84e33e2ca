"""One JSON object from bytes, whatever is odd in it: huge numbers, lone surrogates, raw control characters, bad bytes."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from batag.pages.record import plain
from batag.pages.source import Source

_DEEPEST = 100
_LONG = re.compile(rb"[0-9]{19}")
STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\],]', re.DOTALL)
"""A whole string, or one character that opens, closes or parts; a quote alone is a string that does not end."""


def parse_object(source: Source, data: bytes, where: str) -> dict[str, Any] | None:
    """The object; None, with the problem listed, for anything else."""
    if (data.count(b"[") > _DEEPEST or data.count(b"{") > _DEEPEST) and _depth(data) > _DEEPEST:
        source.problems.add("bad-json", where, "not JSON that can be read: nested too deep")
        return None
    try:
        record = orjson.loads(data)
        # Whole numbers over 64 bits would come as rounded floats.
        if _LONG.search(data):
            record = json.loads(data)
    except ValueError:
        record = _slowly(source, data, where)
        if record is None:
            return None
    if type(record) is dict:
        return record
    source.problems.add("bad-json", where, "JSON, but not an object")
    return None


def _slowly(source: Source, data: bytes, where: str) -> Any:
    text = source.decode(data, where)
    try:
        record = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        source.problems.add("bad-json", where, f"not JSON: {error.msg} at character {error.pos + 1}")
        return None
    except (ValueError, RecursionError) as error:
        source.problems.add("bad-json", where, f"not JSON that can be read: {str(error)[:60]}")
        return None
    if any(character < " " for character in text.replace("\r", "").replace("\n", "")):
        source.problems.add("control-characters", where, "raw control characters in a JSON string")
    return plain(record) if record is not None else []


def _depth(data: bytes) -> int:
    depth = deepest = 0
    for match in STRUCTURE.finditer(data):
        mark = match[0]
        if mark in b"{[":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in b"}]":
            depth -= 1
    return deepest
