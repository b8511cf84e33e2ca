"""Read the tags of a record in any of the usual notations; unusable ones are noted."""

from collections.abc import Mapping, Sequence
from typing import Any

from batag.pages.check import check_tag, settle
from batag.pages.corrections import beside, has_no_place
from batag.pages.mentions import find_labels, label_pairs
from batag.pages.page import MODEL, PERSON, SOURCES, Tag
from batag.pages.problems import Note

_YES = (True, "true", "1", "yes", "y", "ok", "v", "是", "はい", "✓", "✔", "○", "◯", "〇")
_NO = (False, "false", "0", "no", "n", "否", "いいえ")


def read_tags(
    record: Mapping[str, Any],
    fields: Mapping[str, str],
    columns: Mapping[str, str],
    extra: dict[str, Any],
    note: Note,
) -> tuple[tuple[Tag, ...] | None, bool | None]:
    """The tags of a page (None if it is not labelled) and whether it was reviewed; unusable values are kept in `extra`."""
    used = "tags" if record.get("tags") is not None else "labels"
    given = record.get(used)
    tags = None if given is None else _tags(given, fields, columns, note)
    if given is not None and tags is None:
        extra[used] = given
    if used == "tags" and record.get("labels") is not None:
        extra["labels"] = record["labels"]
    answer = record.get("reviewed")
    reviewed = None if tags is None else yes_or_no(answer)
    if reviewed is None and answer is not None and answer != "":
        extra["reviewed"] = answer
        if tags is not None:
            note("unknown-reviewed", f"reviewed is {str(answer)[:40]!r}, which is neither true nor false")
    return tags, reviewed


def _tags(given: Any, fields: Mapping[str, str], columns: Mapping[str, str], note: Note) -> tuple[Tag, ...] | None:
    """The tags of a page; None if none of the given values is usable, so that the page counts as unlabelled."""
    if (pairs := label_pairs(given)) is not None:
        return find_labels(pairs, fields, note)
    if not isinstance(given, list):
        what = f"{kind_of(given)} ({str(given)[:40]!r})"
        note("bad-tag", f"tags are {what}, not a list and not LABEL=TEXT; write them like brand=ACME;goods=shoes")
        return None
    theirs = {columns[name]: name for name in reversed(list(fields)) if name in columns}
    tags = []
    texts = [(item["label"], item["text"]) for item in given if has_no_place(item)]
    for item in given if not texts else [item for item in given if not has_no_place(item)]:
        if type(item) is not dict and isinstance(item, Sequence) and len(item) == 3:
            item = dict(zip(("start", "end", "label"), item, strict=True))
        tag = _tag(item, fields, theirs, note)
        if tag is not None:
            tags.append(tag)
    if texts:
        people = find_labels(texts, fields, note) or ()
        tags = [*beside(tags, people, note), *people]
    if given and not tags:
        return None
    return settle(tags, fields, note)


def _tag(item: Any, fields: Mapping[str, str], theirs: Mapping[str, str], note: Note) -> Tag | None:
    if type(item) is not dict and not isinstance(item, Mapping):
        note("bad-tag", f"a tag is {kind_of(item)}, not an object")
        return None
    field = item.get("field", next(iter(fields)) if len(fields) == 1 else None)
    start, end, label, text = item.get("start"), item.get("end"), item.get("label"), item.get("text")
    if isinstance(field, str):
        # A tag names the column of the file, as the file has it, or our field.
        field = theirs.get(field, field)
        field = field if field in fields else field.strip().lower()
    texts = isinstance(label, str) and isinstance(field, str)
    if type(start) is not int or type(end) is not int or not texts or not label or field not in fields:
        note("bad-tag", f"the tag {str(item)[:120]} lacks a whole start and end, a label or a field of the page")
        return None
    tag = Tag(
        field,
        start,
        end,
        label,
        "" if text is None else str(text),
        score_of(item.get("score")),
        _text(item.get("normal")),
        _source(item.get("source"), note),
        _text(item.get("canonical")),
        _text(item.get("category")),
    )
    return check_tag(tag, fields[field], note)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _source(given: Any, note: Note) -> str:
    """The source of a tag: person if none is given, model (with a note) if it is unknown."""
    if given is None or given == "" or given in SOURCES:
        return given or PERSON
    note("unknown-source", f"the source {str(given)[:40]!r} of a tag is not one of {', '.join(SOURCES)}")
    return MODEL


def tag_record(tag: Tag) -> dict[str, Any]:
    """A tag as a JSON object: always with text (which is checked when it is read) and source, the rest if it is set."""
    record: dict[str, Any] = {"field": tag.field, "start": tag.start, "end": tag.end, "label": tag.label, "text": tag.text}
    if tag.score is not None:
        record["score"] = tag.score
    if tag.normal is not None:
        record["normal"] = tag.normal
    if tag.canonical is not None:
        record["canonical"] = tag.canonical
    if tag.category is not None:
        record["category"] = tag.category
    return record | {"source": tag.source}


def score_of(value: Any) -> float | None:
    """The score of a tag in a file; None if it is not a number."""
    return float(value) if isinstance(value, (int, float)) and type(value) is not bool and abs(value) < 1e300 else None


def yes_or_no(value: Any) -> bool | None:
    """Parse true or false, also in words or as a number; None for anything else."""
    word = value.strip().casefold() if isinstance(value, str) else value
    return True if word in _YES else False if word in _NO else None


def kind_of(value: Any) -> str:
    """The type of a value in words."""
    names = {bool: "true or false", dict: "an object", list: "a list", str: "text", int: "a number", float: "a number"}
    return names.get(type(value), "nothing" if value is None else f"a {type(value).__name__}")
