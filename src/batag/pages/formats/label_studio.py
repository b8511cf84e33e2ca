"""Label Studio's JSON (full and JSON-MIN): annotations are labels of people, predictions of machines. Its offsets are UTF-16
units, batag's are code points."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from batag.pages.check import check_tag, from_utf16, settle, to_utf16
from batag.pages.fields import MAIN_FIELD, STANDARD_FIELDS
from batag.pages.formats.json_objects import elements, parse, write_array
from batag.pages.formats.json_objects import join_arrays as join
from batag.pages.formats.jsonl import check_keys
from batag.pages.page import MODEL, PERSON, SOURCES, Page, Tag
from batag.pages.problems import Note
from batag.pages.record import RecordReader, to_record
from batag.pages.source import Source

__all__ = ["is_result", "join", "page", "parse", "read", "write"]
from batag.pages.tags import score_of

_TEXTS = ("normal", "canonical", "category")


def read(source: Source) -> Iterator[tuple[str, int, bytes]]:
    """The tasks of a file."""
    check_keys(source)
    return elements(source)


def page(reader: RecordReader, task: dict[str, Any], *, where: str, number: int) -> Page | None:
    """The page of a task; `to_name` of a tag names its field in the task's data."""
    data = task.get("data") if "annotations" in task or "completions" in task or "data" in task else task
    if not isinstance(data, dict):
        reader.problems.add("bad-field", where, "the task's data is not an object")
        return None
    record = {key: value for key, value in data.items() if not (data is task and is_result(value))}
    columns: Mapping[str, str] = reader.columns
    if not columns and not {*STANDARD_FIELDS, "fields"} & record.keys():
        text = next((key for key, value in record.items() if isinstance(value, str)), "text")
        columns = {MAIN_FIELD: "text" if "text" in record else text}
    record.setdefault("id", task.get("id"))
    found = reader.page(record, where=where, number=number, columns=columns)
    return _labelled(found, task, reader) if found is not None else None


def write(pages: Iterable[Page], stream: BinaryIO) -> None:
    """Write tasks to import; docs/formats.md has the matching labelling configuration."""
    write_array(map(_task, pages), stream)


def is_result(value: Any) -> bool:
    """Whether a value is a list of labels as in JSON-MIN."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "labels" in value[0]


def _labelled(page: Page, task: Mapping[str, Any], reader: RecordReader) -> Page:
    """The page with the tags of its annotation; if no person completed one, also with those of its prediction."""
    note = reader.problems.at(page.where, page.id)
    by_people = _chosen("annotations", _annotations(task), note)
    unfinished = by_people is None or by_people.get("reviewed") is False
    by_machine = _chosen("predictions", task.get("predictions"), note) if unfinished else None
    given = [(each, _list(each, note)) for each in (by_people, by_machine) if each is not None]
    results = [(each, result) for each, found in given for result in found or ()]
    fields = {column: ours for ours, column in reader.columns.items()}
    tags = [
        tag
        for each, result in results
        for tag in _tags(page, result, fields, note, prediction=each if each is by_machine else None)
    ]
    if not any(found is not None for _, found in given) or (results and not tags):
        return page  # nothing of what was marked can be used: not a page without tags
    return replace(page, tags=settle(tags, page.fields, note), labelled=True, reviewed=not unfinished)


def _annotations(task: Mapping[str, Any]) -> Any:
    given = task.get("annotations", task.get("completions"))
    if given is None:
        # JSON-MIN: a list for each control, named as in our configuration (title_label) or as the user named it.
        lists = {key: value for key, value in task.items() if "data" not in task and is_result(value)}
        named = [{"to_name": key.removesuffix("_label"), "value": each} for key, value in lists.items() for each in value]
        return [{"result": named}] if lists else None
    return given


def _chosen(what: str, given: Any, note: Note) -> Mapping[str, Any] | None:
    """The one of several annotations (or predictions) to use."""
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        note("bad-tag", f"the {what} are not a list of objects")
        return None
    done = [item for item in given if not item.get("was_cancelled")]
    if len(done) > 1:
        note("other-annotation", f"{len(done)} {what}; one is used")
    return next((item for item in done if item.get("ground_truth")), done[0] if done else None)


def _list(chosen: Mapping[str, Any], note: Note) -> list[Any] | None:
    result = chosen.get("result") or []
    if isinstance(result, list):
        return result
    note("bad-tag", "the result of an annotation is not a list")
    return None


def _tags(
    page: Page, result: Any, fields: Mapping[str, str], note: Note, *, prediction: Mapping[str, Any] | None
) -> Iterator[Tag]:
    value = result.get("value", result) if isinstance(result, dict) else None
    labels = value.get("labels") if isinstance(value, dict) else None
    name = result.get("to_name", "") if isinstance(result, dict) else None
    if not isinstance(value, dict) or not isinstance(labels, list) or not labels or not isinstance(name, str):
        note("not-a-span", "an annotation without labels of a piece of text")
        return
    text = value.get("text")
    field = fields.get(name, name)
    if field not in page.fields:
        fitting = [
            each for each, whole in page.fields.items() if isinstance(text, str) and text and _stands_in(whole, value, text)
        ]
        candidates = fitting or list(page.fields)
        if len(candidates) > 1:
            note("bad-tag", f"{name!r} is not a field of the page")
            return
        field = candidates[0]
    start, end = _offsets(page[field], value)
    if start is None or end is None:
        note("out-of-range", f"{labels[0]} {value.get('start')}-{value.get('end')} lies outside {field}")
        return
    more = {} if prediction is None else _of_machine(result, prediction)
    for label in labels:
        tag = Tag(field, start, end, str(label), text if isinstance(text, str) else "", **more)
        checked = check_tag(tag, page[field], note)
        if checked is not None:
            yield checked


def _of_machine(result: Mapping[str, Any], prediction: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a predicted tag besides its place and label."""
    meta = result.get("meta")
    meta = meta if isinstance(meta, Mapping) else {}
    return {
        "score": score_of(result.get("score", prediction.get("score"))),
        **{name: meta[name] if isinstance(meta.get(name), str) else None for name in _TEXTS},
        "source": meta["source"] if meta.get("source") in SOURCES[1:] else MODEL,
    }


def _offsets(text: str, value: Mapping[str, Any]) -> tuple[int | None, int | None]:
    start, end = value.get("start"), value.get("end")
    return from_utf16(text, start) if type(start) is int else None, from_utf16(text, end) if type(end) is int else None


def _stands_in(whole: str, value: Mapping[str, Any], text: str) -> bool:
    start, end = _offsets(whole, value)
    return start is not None and end is not None and end - start == len(text) and whole.startswith(text, start)


def _task(page: Page) -> dict[str, Any]:
    """The task of a page: tags of people as an annotation, tags of machines as a prediction with scores."""
    data = to_record(page)
    task: dict[str, Any] = {"data": data}
    if not page.labelled:
        return task
    data.pop("tags")
    by_people = [tag for tag in page.tags if tag.source == PERSON]
    if page.reviewed or by_people:
        task["annotations"] = [{"result": [_region(page, tag) for tag in by_people]}]
    if not page.reviewed:
        # Label Studio drops this key: an annotation that comes back from it is a person's review of the whole page.
        data.pop("reviewed")
        for annotation in task.get("annotations", ()):
            annotation["reviewed"] = False
        task["predictions"] = [_prediction(page, [tag for tag in page.tags if tag.source != PERSON])]
    return task


def _prediction(page: Page, tags: Sequence[Tag]) -> dict[str, Any]:
    regions = []
    for tag in tags:
        meta = {"source": tag.source} | {name: text for name in _TEXTS if (text := getattr(tag, name)) is not None}
        regions.append(_region(page, tag) | {"meta": meta} | ({} if tag.score is None else {"score": tag.score}))
    scores = [tag.score for tag in tags if tag.score is not None]
    mean = {"score": sum(scores) / len(scores)} if scores and len(scores) == len(tags) else {}
    return {"model_version": "batag", **mean, "result": regions}


def _region(page: Page, tag: Tag) -> dict[str, Any]:
    text = page[tag.field]
    return {
        "id": f"{tag.field}-{tag.start}",
        "from_name": f"{tag.field}_label",
        "to_name": tag.field,
        "type": "labels",
        "value": {
            "start": to_utf16(text, tag.start),
            "end": to_utf16(text, tag.end),
            "text": tag.text,
            "labels": [tag.label],
        },
    }
