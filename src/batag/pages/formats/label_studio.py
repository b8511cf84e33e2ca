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
    record = {key: value for key, value in data.items() if not (data is task and is_result(value))}
    columns = dict(source.columns)
    if not columns and not {"title", "description", "fields"} & record.keys():
        columns = {"title": "text" if "text" in record else next((k for k, v in record.items() if isinstance(v, str)), "text")}
    record.setdefault("id", task.get("id"))
    reader = RecordReader(problems=source.problems, stem=source.stem, columns=columns, language=source.language)
    return reader.page(record, where=where, number=number)


def is_result(value: Any) -> bool:
    """Whether a value is what people marked, as JSON-MIN has it."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "labels" in value[0]


def _results(task: Mapping[str, Any], source: Source, page: Page) -> list[Any] | None:
    """What people marked; None if nobody did."""
    given = task.get("annotations", task.get("completions"))
    if given is None:
        # JSON-MIN: a list for each control, named as in our configuration (title_label) or as the user named it.
        lists = {key: value for key, value in task.items() if "data" not in task and is_result(value)}
        named = [{"to_name": key.removesuffix("_label"), "value": each} for key, value in lists.items() for each in value]
        return named if lists else None
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        source.problems.add("bad-tag", page.where, "the annotations are not a list of objects", page=page.id)
        return None
    done = [item for item in given if not item.get("was_cancelled")]
    if len(done) > 1:
        source.problems.add("other-annotation", page.where, f"{len(done)} annotations; one is used", page=page.id)
    chosen = next((item for item in done if item.get("ground_truth")), done[0] if done else None)
    if chosen is None:
        return None
    result = chosen.get("result") or []
    if isinstance(result, list):
        return result
    source.problems.add("bad-tag", page.where, "the result of an annotation is not a list", page=page.id)
    return None


def _with_tags(page: Page, results: list[Any], source: Source) -> Page:
    tags = [tag for result in results for tag in _tags(page, result, source)]
    if results and not tags:
        return page  # nothing of what was marked can be used: not a page without tags
    settled = settle(tags, page.fields, where=page.where, page_id=page.id, problems=source.problems)
    return replace(page, tags=settled, labelled=True)


def _tags(page: Page, result: Any, source: Source) -> Iterator[Tag]:
    value = result.get("value", result) if isinstance(result, dict) else None
    labels = value.get("labels") if isinstance(value, dict) else None
    name = result.get("to_name", "") if isinstance(result, dict) else None
    if not isinstance(value, dict) or not isinstance(labels, list) or not labels or not isinstance(name, str):
        source.problems.add("not-a-span", page.where, "an annotation without labels of a piece of text", page=page.id)
        return
    text = value.get("text")
    theirs = {column: ours for ours, column in source.columns.items()}
    field = theirs.get(name, name)
    if field not in page.fields:
        fitting = [each for each, whole in page.fields.items() if text and _cut(whole, value) == text]
        candidates = fitting or list(page.fields)
        if len(candidates) > 1:
            source.problems.add("bad-tag", page.where, f"{name!r} is not a field of the page", page=page.id)
            return
        field = candidates[0]
    start, end = _offsets(page[field], value)
    if start is None or end is None:
        reason = f"{labels[0]} {value.get('start')}-{value.get('end')} lies outside {field}"
        source.problems.add("out-of-range", page.where, reason, page=page.id)
        return
    for label in labels:
        tag = Tag(field, start, end, str(label), text if isinstance(text, str) else "")
        checked = check_tag(tag, page[field], where=page.where, page_id=page.id, problems=source.problems)
        if checked is not None:
            yield checked


def _offsets(text: str, value: Mapping[str, Any]) -> tuple[int | None, int | None]:
    start, end = value.get("start"), value.get("end")
    return from_utf16(text, start) if type(start) is int else None, from_utf16(text, end) if type(end) is int else None


def _cut(text: str, value: Mapping[str, Any]) -> str:
    start, end = _offsets(text, value)
    return text[start:end] if start is not None and end is not None else ""


def _task(page: Page) -> dict[str, Any]:
    data = to_record(page)
    if page.labelled:
        data.pop("tags")
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
    return len(text[:offset].encode("utf-16-le")) // 2
