"""A JSON array of texts with spans: `{"text", "entities": [{"name", "span": [start, end], "type"}]}` (code points)."""

from collections.abc import Iterator
from typing import Any

from batag.pages.fields import MAIN_FIELD, STANDARD_FIELDS
from batag.pages.formats.json_objects import elements, parse
from batag.pages.formats.jsonl import check_keys
from batag.pages.page import Page
from batag.pages.record import RecordReader
from batag.pages.source import Source

__all__ = ["page", "parse", "read"]


def read(source: Source) -> Iterator[tuple[str, int, bytes]]:
    """Yield the elements of a span file, or of a JSON array of batag's own records."""
    check_keys(source)
    return elements(source)


def page(reader: RecordReader, record: dict[str, Any], *, where: str, number: int) -> Page | None:
    """The page of a text with spans; other keys (such as an article's id) are kept."""
    record = dict(record)
    entities = record.pop("entities", None)
    if entities is not None:
        record["tags"] = [_tag(entity) for entity in entities] if isinstance(entities, list) else entities
    fields = {*STANDARD_FIELDS, "fields"}
    if "text" in record and not fields & (record.keys() | reader.columns.keys()):
        record[MAIN_FIELD] = record.pop("text")
    return reader.page(record, where=where, number=number)


def _tag(entity: Any) -> Any:
    span = entity.get("span") if isinstance(entity, dict) else None
    if not (isinstance(span, list) and len(span) == 2):
        return entity
    return {"start": span[0], "end": span[1], "label": entity.get("type") or entity.get("label"), "text": entity.get("name")}
