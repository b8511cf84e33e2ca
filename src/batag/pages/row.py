"""A page as one row of a table (CSV, Parquet, XLSX): plain columns, and JSON for what a cell cannot hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from batag.pages.corrections import corrected, is_readable, readable
from batag.pages.layout import KEY, unescaped
from batag.pages.mapping import KNOWN_KEYS, STANDARD_FIELDS
from batag.pages.page import Page
from batag.pages.record import dump, to_record

COLUMNS = ("id", "language", "shop", *STANDARD_FIELDS, "tags", "reviewed", "more")
"""`tags` is a JSON list; `reviewed` true, false or, without labels, empty; `more` a JSON object of everything else
(other fields, tokens, extra columns), often empty."""

_OWN = frozenset({*COLUMNS, *KNOWN_KEYS, KEY})


def to_cells(page: Page) -> dict[str, str]:
    """One text a column."""
    record = to_record(page)
    cells = {name: record.pop(name) if isinstance(record.get(name), str) else "" for name in COLUMNS[:-3]}
    # Tags that could not be read when the page came in are no tags: they go with everything else.
    cells["tags"] = dump(record.pop("tags")).decode() if page.labelled else ""
    cells["reviewed"] = dump(page.reviewed).decode() if page.labelled else ""
    if page.labelled:
        record.pop("reviewed", None)
    absent = [name for name in STANDARD_FIELDS if name in page.fields and not page.fields[name]]
    if absent and "fields" not in record:
        record["fields"] = dict(page.fields)
    cells["more"] = dump(record).decode() if record or not page.labelled else ""
    return cells


def from_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a row, as it was before cells were escaped; with the tags that people put right in columns for them."""
    tags, more = _loads(cells.get("tags"), b"["), _loads(cells.get("more"), b"{")
    record = unescaped(cells)
    if isinstance(tags, list):
        repeating = {readable(str(tag.get("label"))) for tag in tags if isinstance(tag, Mapping)}
        empty = {key for key, value in record.items() if value == "" and is_readable(key)}
        mended = {"tags": corrected(tags, record)}
        record = {key: value for key, value in record.items() if key not in repeating | empty} | mended
    if isinstance(more, dict):
        del record["more"]
        record |= more
    return {key: value for key, value in record.items() if value != "" or key not in _OWN}


def _loads(cell: Any, opening: bytes) -> Any:
    if not isinstance(cell, str) or cell[:1].encode() != opening:
        return None
    try:
        return orjson.loads(cell)
    except orjson.JSONDecodeError:
        return None
