"""One JSON object from bytes, whatever is odd in it: huge numbers, lone surrogates, raw control characters, bad bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import orjson

from batag.pages.record import plain
from batag.pages.source import Source

_DEEPEST = 100
STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\],]', re.DOTALL)
"""A whole string, or one character that opens, closes or parts; a quote alone is a string that does not end."""


def parse_object(source: Source, data: bytes, where: str) -> dict[str, Any] | None:
    """The object; None, with the problem listed, for anything else."""

    def bad(reason: str, kind: str = "bad-json") -> None:
        source.problems.add(kind, where, reason)

    if data.count(b"[") + data.count(b"{") > _DEEPEST and _depth(data) > _DEEPEST:
        bad("not JSON that can be read: nested too deep")
        return None
    try:
        record = orjson.loads(data)
        # Whole numbers over 64 bits come as rounded floats: an id must not be rounded.
        if isinstance(record, dict) and isinstance(record.get("id"), float):
            record = json.loads(data)
    except (orjson.JSONDecodeError, ValueError):
        record = _slowly(source, data, where, bad)
        if record is None:
            return None
    if not isinstance(record, dict):
        bad("JSON, but not an object")
        return None
    return record


def _slowly(source: Source, data: bytes, where: str, bad: Callable[..., None]) -> Any:
    text = source.decode(data, where)
    try:
        record = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        bad(f"not JSON: {error.msg} at character {error.pos + 1}")
        return None
    except (ValueError, RecursionError) as error:
        bad(f"not JSON that can be read: {str(error)[:60]}")
        return None
    if any(character < " " for character in text.replace("\r", "").replace("\n", "")):
        bad("raw control characters in a JSON string", "control-characters")
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
