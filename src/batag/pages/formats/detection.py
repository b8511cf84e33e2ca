"""Detect the format of a file by its content, then by its name."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import orjson

from batag.errors import InputError
from batag.pages.fields import STANDARD_FIELDS
from batag.pages.formats.column_layout import looks_like_columns
from batag.pages.formats.delimited import looks_like_table, separator_of
from batag.pages.formats.format import FORMATS, format_of_name
from batag.pages.formats.json_objects import split_array
from batag.pages.formats.label_studio import is_result
from batag.pages.layout import KEY
from batag.pages.signatures import text_kind
from batag.pages.source import Source

UNDETECTED = "has a format that cannot be detected"
"""How the error begins that the format is not clear."""


def detect_format(source: Source) -> str:
    """The format of a file, by its content, then by its name; an error if neither is conclusive."""
    head = source.head
    named = format_of_name(source.name)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    if (known := text_kind(head)) is not None:
        raise InputError(f"is {known[0]}", where=source.name, todo=known[1])
    text = head.decode(errors="replace")
    start = text.lstrip()[:1]
    if not start:
        return named or "jsonl"
    if start in "[{" and (first := _first_record(head, array=start == "[")) is not None:
        return _detect_json(first, array=start == "[")
    if named in ("csv", "tsv", "conll", "words", "jsonl") and not (named == "tsv" and not looks_like_table(text)):
        return named
    if source.columns or looks_like_table(text, also=source.usual_columns.values()):
        return "tsv" if separator_of(text) == "\t" else "csv"
    if looks_like_columns(text):
        return "words" if "\t" in text else "conll"
    if named is not None:
        return named
    lines = "To tag one title per line, give them on standard input: batag tag RUN < titles.txt"
    todo = f"Name it, such as --format conll (there are {', '.join(FORMATS)}). {lines}"
    python = f'Name it, such as format="conll" (there are {", ".join(FORMATS)})'
    raise InputError(f"{UNDETECTED} from its content or name", where=source.name, todo=todo, python=python)


def _detect_json(first: Mapping[str, Any], *, array: bool) -> str:
    """The format of a JSON file, by the keys of its first record."""
    layout = isinstance(first.get("fields"), Mapping) and all(isinstance(each, list) for each in first["fields"].values())
    ours = {*STANDARD_FIELDS, KEY} & first.keys() or ("fields" in first and not layout)
    if array:
        tasks = {"annotations", "completions", "data"} & first.keys() and not ours
        return "label-studio" if tasks or any(map(is_result, first.values())) else "spans"
    labels = {"label", "labels", "entities"} & first.keys()
    return "doccano" if {"text", "data"} & first.keys() and (labels or layout) and not ours else "jsonl"


def _first_record(head: bytes, *, array: bool) -> Mapping[str, Any] | None:
    """The first record, or as many of its keys as are visible; None if the text does not look like JSON."""
    text = head.lstrip()
    if array and text[1:].lstrip()[:1] not in (b"{", b"]", b""):
        return None
    try:
        first = next(split_array(BytesIO(head)), None) or b"{}" if array else text.split(b"\n", 1)[0]
    except EOFError:
        first = text
    try:
        record = orjson.loads(first or b"{}")
    except orjson.JSONDecodeError:
        # Longer than the head of the file, or bad: the keys at its beginning have to do.
        names = [name.decode(errors="replace") for name in re.findall(rb'"([a-z_]+)"\s*:', first[:20_000])]
        return dict.fromkeys(names) if names or b'"' in first[:100] else None
    return record if isinstance(record, dict) else {}
