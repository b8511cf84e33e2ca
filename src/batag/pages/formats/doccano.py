"""doccano's JSON lines: `label` (or `labels`) as [start, end, label], or `entities` with start_offset and end_offset.

These are labels of people. doccano has no predictions: the tags of pages that nobody reviewed are written to `predictions`, a
key that it keeps unchanged, each with its source.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from batag.pages.fields import MAIN_FIELD, STANDARD_FIELDS
from batag.pages.formats.jsonl import check_keys, lines, parse
from batag.pages.page import PERSON, Page
from batag.pages.record import RecordReader, dump, to_record
from batag.pages.source import Source
from batag.pages.tags import tag_record

__all__ = ["page", "parse", "read", "write"]
_LABELS = ("label", "labels", "entities")
_OWN = frozenset({"id", "text", "data", "fields", "extra", "tags", "predictions", *_LABELS})


def read(source: Source) -> Iterator[tuple[str, int, bytes]]:
    """The lines of doccano's file."""
    check_keys(source)
    return lines(source)


def page(reader: RecordReader, record: dict[str, Any], *, where: str, number: int) -> Page | None:
    """The page of a line; `fields` (written by `write`) locates the page's fields in the one text."""
    record = dict(record)
    name = next((field for field in STANDARD_FIELDS if field in reader.columns), MAIN_FIELD)
    others = {ours: theirs for ours, theirs in reader.columns.items() if ours not in STANDARD_FIELDS}
    text = record.pop(reader.columns.get(name) or ("text" if "text" in record else "data"), None)
    given = next((record.pop(key) for key in _LABELS if key in record), None)
    layout = record.pop("fields", None)
    if isinstance(text, str) and _is_layout(layout, text):
        record["fields"] = {field: text[start:end] for field, (start, end) in layout.items()}
        record |= record.pop("extra", {})
    else:
        layout = {name: (0, len(text) if isinstance(text, str) else 0)}
        record[name] = text
    places = sorted((start, end, field) for field, (start, end) in layout.items())
    labels = [_in_field(item, places) for item in given] if isinstance(given, list) else given
    predictions = record.get("predictions")
    if isinstance(predictions, list) and all(isinstance(item, Mapping) and "source" in item for item in predictions):
        del record["predictions"]
        tags = [_in_field(item, places) for item in predictions]
        if labels is None or _places(labels) == _places([tag for tag in tags if tag["source"] == PERSON]):
            # No person has done anything yet: doccano writes an empty list of labels for a page that nobody opened.
            labels, record["reviewed"] = tags, False
    if labels is not None:
        record["tags"] = labels
    return reader.page(record, where=where, number=number, columns=others)


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """Write one text per page with its fields on separate lines; `fields` locates them."""
    for page in pages:
        record = to_record(page)
        for key in ("tags", "fields", *STANDARD_FIELDS, *(["reviewed"] if page.labelled and not page.reviewed else [])):
            record.pop(key, None)
        layout: dict[str, tuple[int, int]] = {}
        text = ""
        for name, value in page.fields.items():
            text += "\n" if layout else ""
            layout[name] = (len(text), len(text) + len(value))
            text += value
        labels: dict[str, Any] = {}
        starts = {name: start for name, (start, _) in layout.items()}
        moved = [replace(tag, start=tag.start + starts[tag.field], end=tag.end + starts[tag.field]) for tag in page.tags]
        by_people = [[tag.start, tag.end, tag.label] for tag in moved if tag.source == PERSON]
        if page.reviewed or by_people:
            labels["label"] = by_people
        if page.labelled and not page.reviewed:
            labels["predictions"] = [tag_record(tag) for tag in moved]
        line = {"id": record.pop("id"), "text": text, **labels, "fields": layout}
        line |= {key: value for key, value in record.items() if key not in _OWN}
        if colliding := {key: value for key, value in page.extra.items() if key in _OWN or key in STANDARD_FIELDS}:
            line["extra"] = colliding
        stream.write(dump(line) + b"\n")


def _is_layout(layout: Any, text: str) -> bool:
    return isinstance(layout, Mapping) and all(
        isinstance(place, list) and list(map(type, place)) == [int, int] and 0 <= place[0] <= place[1] <= len(text)
        for place in layout.values()
    )


def _in_field(item: Any, places: Sequence[tuple[int, int, str]]) -> Any:
    """A doccano label (or one of batag's predictions) as a tag of the field that it lies in; anything else is left to the
    record reader, which reports it."""
    more: Mapping[str, Any] = {}
    if isinstance(item, list) and len(item) == 3:
        start, end, label = item
    elif isinstance(item, Mapping) and "source" in item:
        start, end, label, more = item.get("start"), item.get("end"), item.get("label"), item
    elif isinstance(item, Mapping):
        start, end, label = item.get("start_offset"), item.get("end_offset"), item.get("label")
    else:
        return item
    if type(start) is int and type(end) is int:
        near = max(bisect_right(places, start, key=lambda place: place[0]) - 1, 0)
        low, high, field = places[near] if places else (0, 0, "")
        if low <= start < high or len(places) == 1:
            return {**more, "field": field, "start": start - low, "end": end - low, "label": label}
    return {**more, "start": start, "end": end, "label": label}


def _places(tags: Any) -> Any:
    """The places and labels of tags in a fixed order, for comparison; anything unexpected is returned as it is."""
    if not isinstance(tags, list) or not all(isinstance(tag, Mapping) for tag in tags):
        return tags
    return sorted(str([tag.get(key) for key in ("field", "start", "end", "label")]) for tag in tags)
