"""Label Studio's JSON (full and JSON-MIN). Its offsets are UTF-16 units; ours are code points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from batag.pages.check import check_tag, from_utf16, settle
from batag.pages.formats.array import elements, write_array
from batag.pages.page import Page, Tag
from batag.pages.record import RecordReader, to_record
from batag.pages.source import Source


def read(source: Source) -> Iterator[Page]:
    """Pages of an export; a tag's `to_name` names the field of the task's data that it lies in."""
    for where, number, task in elements(source):
        data = task.get("data") if "annotations" in task or "completions" in task or "data" in task else task
        if not isinstance(data, dict):
            source.problems.add("bad-field", where, "the task's data is not an object")
            continue
        page = _page(data, task, source, where=where, number=number)
        if page is not None:
            results = _results(task, source, page)
            yield page if results is None else _with_tags(page, results, source)


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """Tasks to import; the labelling configuration that fits stands in docs/formats.md."""
    write_array(map(_task, pages), stream)


def _page(data: dict[str, Any], task: Mapping[str, Any], source: Source, *, where: str, number: int) -> Page | None:
    own = {"tags", "labels"} | ({"label", "annotations", "completions"} if data is task else set())
    record = {key: value for key, value in data.items() if key not in own}
    columns = dict(source.columns)
    if not columns and not {"title", "description", "fields"} & record.keys():
        columns = {"title": "text" if "text" in record else next((k for k, v in record.items() if isinstance(v, str)), "text")}
    record.setdefault("id", task.get("id"))
    reader = RecordReader(problems=source.problems, stem=source.stem, columns=columns, language=source.language)
    return reader.page(record, where=where, number=number)


def _results(task: Mapping[str, Any], source: Source, page: Page) -> list[Any] | None:
    """What people marked; None if nobody did."""
    given = task.get("annotations", task.get("completions"))
    if given is None:
        label = task.get("label")
        return label if isinstance(label, list) and "data" not in task else None
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        source.problems.add("bad-tag", page.source, "the annotations are not a list of objects", page=page.id)
        return None
    done = [item for item in given if not item.get("was_cancelled")]
    if len(done) > 1:
        source.problems.add("other-annotation", page.source, f"{len(done)} annotations; one is used", page=page.id)
    chosen = next((item for item in done if item.get("ground_truth")), done[0] if done else None)
    if chosen is None:
        return None
    result = chosen.get("result") or []
    if isinstance(result, list):
        return result
    source.problems.add("bad-tag", page.source, "the result of an annotation is not a list", page=page.id)
    return None


def _with_tags(page: Page, results: list[Any], source: Source) -> Page:
    tags = [tag for result in results for tag in _tags(page, result, source)]
    settled = settle(tags, page.fields, where=page.source, page_id=page.id, problems=source.problems)
    return replace(page, tags=settled, labelled=True)


def _tags(page: Page, result: Any, source: Source) -> Iterator[Tag]:
    value = result.get("value", result) if isinstance(result, dict) else None
    labels = value.get("labels") if isinstance(value, dict) else None
    name = result.get("to_name", "") if isinstance(result, dict) else None
    if not isinstance(value, dict) or not isinstance(labels, list) or not labels or not isinstance(name, str):
        source.problems.add("not-a-span", page.source, "an annotation without labels of a piece of text", page=page.id)
        return
    text = value.get("text")
    field = name if name in page.fields else next(iter(page.fields))
    start, end = (from_utf16(page[field], x) if type(x) is int else None for x in (value.get("start"), value.get("end")))
    if start is None or end is None:
        reason = f"{labels[0]} {value.get('start')}-{value.get('end')} lies outside {field}"
        source.problems.add("out-of-range", page.source, reason, page=page.id)
        return
    for label in labels:
        tag = Tag(field, start, end, str(label), text if isinstance(text, str) else "")
        checked = check_tag(tag, page[field], where=page.source, page_id=page.id, problems=source.problems)
        if checked is not None:
            yield checked


def _task(page: Page) -> dict[str, Any]:
    data = to_record(page)
    data.pop("tags", None)
    task: dict[str, Any] = {"data": data}
    if page.labelled:
        result = [
            {
                "id": f"{tag.field}-{tag.start}",
                "from_name": f"{tag.field}_label",
                "to_name": tag.field,
                "type": "labels",
                "value": {
                    "start": to_utf16(page[tag.field], tag.start),
                    "end": to_utf16(page[tag.field], tag.end),
                    "text": tag.text,
                    "labels": [tag.label],
                },
            }
            for tag in page.tags
        ]
        task["annotations"] = [{"result": result}]
    return task


def to_utf16(text: str, offset: int) -> int:
    """The UTF-16 offset of a code-point offset."""
    return offset + sum(1 for character in text[:offset] if character > "\uffff")
