"""doccano's JSON lines: `label` (or `labels`) as [start, end, label], or `entities` with start_offset and end_offset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import orjson

from batag.pages.formats.jsonl import objects
from batag.pages.page import Page
from batag.pages.record import RecordReader, to_record
from batag.pages.source import Source

_LABELS = ("label", "labels", "entities")


def read(source: Source) -> Iterator[Page]:
    """Pages of a doccano export; `fields` (as `write` puts it) says where a page's fields lie in the one text."""
    reader = RecordReader(problems=source.problems, stem=source.stem, language=source.language)
    column = source.columns.get("title") or source.columns.get("description")
    name = "description" if "description" in source.columns and "title" not in source.columns else "title"
    for number, record in objects(source):
        text = record.pop(column or ("text" if "text" in record else "data"), None)
        given = next((record.pop(key) for key in _LABELS if key in record), None)
        layout = record.pop("fields", None)
        if isinstance(text, str) and _is_layout(layout, text):
            record["fields"] = {field: text[start:end] for field, (start, end) in layout.items()}
        else:
            layout = {name: (0, len(text) if isinstance(text, str) else 0)}
            record[name] = text
        if isinstance(given, list):
            record["tags"] = [_in_field(item, layout) for item in given]
        page = reader.page(record, where=source.where(number), number=number)
        if page is not None:
            yield page


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """One text a page, its fields on lines of their own; where they lie stands in `fields`."""
    for page in pages:
        record = to_record(page)
        for key in ("tags", "title", "description", "fields"):
            record.pop(key, None)
        layout: dict[str, tuple[int, int]] = {}
        text = ""
        for name, value in page.fields.items():
            text += "\n" if layout else ""
            layout[name] = (len(text), len(text) + len(value))
            text += value
        labels = {}
        if page.labelled:
            labels["label"] = [
                [tag.start + layout[tag.field][0], tag.end + layout[tag.field][0], tag.label] for tag in page.tags
            ]
        line = {"id": record.pop("id"), "text": text, **labels, "fields": layout, **record}
        stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS))


def _is_layout(layout: Any, text: str) -> bool:
    return isinstance(layout, Mapping) and all(
        isinstance(place, list)
        and len(place) == 2
        and all(type(x) is int for x in place)
        and 0 <= place[0] <= place[1] <= len(text)
        for place in layout.values()
    )


def _in_field(item: Any, layout: Mapping[str, tuple[int, int]]) -> Any:
    """A doccano label as a tag of the field it lies in; anything odd is left for the record reader to report."""
    if isinstance(item, list) and len(item) == 3:
        start, end, label = item
    elif isinstance(item, Mapping):
        start, end, label = item.get("start_offset"), item.get("end_offset"), item.get("label")
    else:
        return item
    if isinstance(start, int) and isinstance(end, int):
        for field, (low, high) in layout.items():
            if low <= start < high or len(layout) == 1:
                return {"field": field, "start": start - low, "end": end - low, "label": label}
    return {"start": start, "end": end, "label": label}
