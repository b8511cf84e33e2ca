"""A JSON array of texts with spans: `{"text", "entities": [{"name", "span": [start, end], "type"}]}` (code points)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batag.pages.formats.array import elements
from batag.pages.formats.jsonl import check_keys
from batag.pages.mapping import STANDARD_FIELDS
from batag.pages.page import Page
from batag.pages.record import RecordReader
from batag.pages.source import Source


def read(source: Source) -> Iterator[Page]:
    """Pages of a span file; also a JSON array of batag's own records. Other keys (an article's id) stay what they are."""
    check_keys(source)
    reader = RecordReader(problems=source.problems, stem=source.stem, columns=source.columns, language=source.language)
    for where, number, record in elements(source):
        entities = record.pop("entities", None)
        if isinstance(entities, list):
            record["tags"] = [_tag(entity) for entity in entities]
        elif entities is not None:
            record["tags"] = entities
        fields = {*STANDARD_FIELDS, "fields"}
        if "text" in record and not fields & (record.keys() | source.columns.keys()):
            record["title"] = record.pop("text")
        page = reader.page(record, where=where, number=number)
        if page is not None:
            yield page


def _tag(entity: Any) -> Any:
    span = entity.get("span") if isinstance(entity, dict) else None
    if not (isinstance(span, list) and len(span) == 2):
        return entity
    return {"start": span[0], "end": span[1], "label": entity.get("type") or entity.get("label"), "text": entity.get("name")}
