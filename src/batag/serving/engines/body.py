"""Read the body of a request: every key, type and limit is checked, and what is wrong is said with its place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from batag.errors import BatagError, nearest
from batag.evaluation.operating_point import NAMES, parse_richness
from batag.pages.fields import STANDARD_FIELDS
from batag.pages.languages import LANGUAGES, known_language
from batag.pages.page import Page
from batag.serving.problem import Problem
from batag.serving.request import read_object
from batag.settings import settings

METHODS = ("auto", "yake", "textrank", "singlerank", "rake")
"""The methods of keywords that need neither a corpus nor a backbone."""
STEPS = 21
MOST_KEYWORDS = 100
LONGEST_NAME = 1_000
_PAGE = ("id", "language", *STANDARD_FIELDS, "fields")
_NAMES = {bool: "true or false", int: "a number", float: "a number", str: "text", dict: "an object", list: "a list"}


@dataclass(frozen=True, slots=True)
class Asked:
    """Pages, whether the request names an id for each, and the options of a request."""

    pages: list[Page]
    ids: list[str | None]
    options: dict[str, Any]


def read_tag(body: bytes, *, classes: Collection[str], has_dial: bool) -> Asked:
    """A request to `/v1/tag`."""
    found = read_object(body)
    options = ("richness", "labels", "min_score", "top", "distinct", "steps", "canonical_language")
    _known(found, ("page", "pages", *options), "", what="a key of this request")
    given = {name: value for name in options if (value := found.get(name)) is not None}
    if "steps" in found:
        if type(found["steps"]) is bool or found["steps"] != STEPS:
            raise Problem("wrong-value", f"steps can only be {STEPS}", where="steps", todo=f"Send {STEPS}, or leave it out")
        for other in ("richness", "top", "distinct"):
            if other in given:
                raise Problem("wrong-value", f"{other} does not go with steps", where=other, todo="Leave one of them out")
    if "richness" in given:
        given["richness"] = _richness(given["richness"], has_dial=has_dial)
    if "labels" in given:
        given["labels"] = _labels(given["labels"], classes)
    if "min_score" in given and not (type(given["min_score"]) in (int, float) and 0 <= given["min_score"] <= 1):
        todo = "Send a number from 0 to 1, or leave it out"
        raise Problem("wrong-value", "min_score is not a number from 0 to 1", where="min_score", todo=todo)
    if "top" in given:
        given["top"] = _whole(given["top"], "top", most=1_000)
    if "distinct" in given and type(given["distinct"]) is not bool:
        raise _wrong_type(given["distinct"], "distinct", "true or false")
    if "canonical_language" in given:
        given["canonical_language"] = _language(given, "canonical_language", name="canonical_language")
    return _asked(found, given)


def read_keywords(body: bytes) -> Asked:
    """A request to `/v1/keywords`."""
    found = read_object(body)
    _known(found, ("page", "pages", "top", "method"), "", what="a key of this request")
    method = found.get("method")
    if method is not None and method not in METHODS:
        raise Problem("wrong-value", "this is not a method", where="method", todo=f"There are {', '.join(METHODS)}")
    top = found.get("top")
    number = 10 if top is None else _whole(top, "top", most=MOST_KEYWORDS)
    return _asked(found, {"method": method or "auto", "top": number})


def read_terms(body: bytes) -> tuple[list[str], str | None, str | None]:
    """A request to `/v1/terms/explain`: texts, label and language."""
    found = read_object(body)
    _known(found, ("texts", "label", "language"), "", what="a key of this request")
    texts = found.get("texts")
    if not isinstance(texts, list):
        raise _wrong_type(texts, "texts", "a list")
    if not 1 <= len(texts) <= settings.serve_texts:
        todo = f"Send 1 to {settings.serve_texts} texts a request"
        raise Problem("too-many", f"{len(texts):,} texts, not 1 to {settings.serve_texts}", where="texts", todo=todo)
    for number, text in enumerate(texts):
        _text(text, f"texts[{number}]", most=LONGEST_NAME)
    label = found.get("label")
    return texts, None if label is None else _text(label, "label", most=LONGEST_NAME), _language(found, "language")


def read_explain(body: bytes, *, classes: Collection[str]) -> tuple[Page, tuple[str, int, int, str]]:
    """A request to `/v1/explain`: the page, and field, start, end and label of the tag."""
    found = read_object(body)
    _known(found, ("page", "tag"), "", what="a key of this request")
    page, _ = _page(found.get("page"), "page")
    tag = _object(found.get("tag"), "tag")
    wanted = ("field", "start", "end", "label")
    _known(tag, wanted, "tag.", what="a key of the tag here")
    field, label = tag.get("field"), tag.get("label")
    if not isinstance(field, str):
        raise _wrong_type(field, "tag.field", "text")
    if field not in page.fields:
        todo = f"The page has {', '.join(name[:100] for name in [*page.fields][:10])}"
        raise Problem("wrong-value", "the page has no such field", where="tag.field", todo=todo)
    start, end = (_integer(tag.get(name), f"tag.{name}") for name in ("start", "end"))
    if not isinstance(label, str):
        raise _wrong_type(label, "tag.label", "text")
    (label,) = _labels([label], classes, where="tag.label")
    if not 0 <= start < end <= len(page[field]):
        what = f"{start} to {end} is not a place in {len(page[field]):,} characters"
        raise Problem("wrong-value", what, where="tag", todo="Send start and end of a tag of /v1/tag for this page")
    return page, (field, start, end, label)


def _asked(found: Mapping[str, Any], options: dict[str, Any]) -> Asked:
    one, many = found.get("page"), found.get("pages")
    if (one is None) == (many is None):
        what = "there is neither page nor pages" if one is None else "there are page and pages"
        raise Problem("wrong-value", what, where="page", todo='Send {"page": {"title": "..."}} or {"pages": [...]}')
    if one is not None:
        read = [_page(one, "page")]
    else:
        if not isinstance(many, list):
            raise _wrong_type(many, "pages", "a list")
        if not 1 <= len(many) <= settings.serve_pages:
            todo = f"Send 1 to {settings.serve_pages} pages a request"
            raise Problem("too-many", f"{len(many):,} pages, not 1 to {settings.serve_pages}", where="pages", todo=todo)
        read = [_page(each, f"pages[{number}]") for number, each in enumerate(many)]
    return Asked([page for page, _ in read], [own for _, own in read], options)


def _page(given: Any, where: str) -> tuple[Page, str | None]:
    record = _object(given, where)
    _known(record, _PAGE, f"{where}.", what="a key of a page", todo="Other fields stand under `fields`")
    own = record.get("id")
    if own is not None:
        _text(own, f"{where}.id", most=LONGEST_NAME)
    fields = {name: value for name in STANDARD_FIELDS if (value := record.get(name)) is not None}
    own_place = dict.fromkeys(fields, where)
    if (more := record.get("fields")) is not None:
        if "" in _object(more, f"{where}.fields"):
            raise Problem("wrong-value", "a field has no name", where=f"{where}.fields", todo="Name it, or leave it out")
        others = {name: value for name, value in more.items() if value is not None}
        for name in others.keys() & fields.keys():
            todo = "Leave one of them out"
            raise Problem("wrong-value", f"{name} stands twice", where=f"{where}.fields.{name}", todo=todo)
        fields |= others
        if len(fields) > settings.max_page_fields:
            what = f"a page has at most {settings.max_page_fields} fields"
            raise Problem("too-many", what, where=f"{where}.fields", todo="Join some of them")
    if not fields:
        todo = f"Send {' or '.join(STANDARD_FIELDS)}, or fields"
        raise Problem("wrong-value", "the page has no text field", where=where, todo=todo)
    length = 0
    for name, value in fields.items():
        if type(value) is not str:
            raise _wrong_type(value, f"{own_place.get(name, f'{where}.fields')}.{name[:100]}", "text")
        length += len(value)
    if length > (most := settings.serve_page_characters):
        todo = f"Send at most {most:,}; `batag tag` takes longer pages"
        raise Problem("too-long", f"the page has {length:,} characters, more than {most:,}", where=where, todo=todo)
    return Page(own or "page", fields, language=_language(record, f"{where}.language")), own


def _language(record: Mapping[str, Any], where: str, *, name: str = "language") -> str | None:
    given = record.get(name)
    if given is None:
        return None
    known = known_language(_text(given, where, most=LONGEST_NAME))
    if known is None:
        raise Problem("wrong-value", "this is not a known language", where=where, todo=f"There are {', '.join(LANGUAGES)}")
    return known


def _richness(given: Any, *, has_dial: bool) -> float | None:
    try:
        if type(given) not in (int, float, str):
            raise _wrong_type(given, "richness", "a number or a name")
        if isinstance(given, str) and given not in NAMES:
            detail = "this is not clean, balanced, rich or a number from 0 to 1"
            raise Problem("wrong-value", detail, where="richness", todo="0 is clean, 1 is rich")
        value = parse_richness(given)
    except BatagError as error:
        raise Problem("wrong-value", error.what, where="richness", todo=error.todo) from None
    if not has_dial:
        todo = "Leave it out: the answer has the tags that are more probable than not"
        raise Problem("wrong-value", "this bundle has no operating points", where="richness", todo=todo)
    return value


def _labels(given: Any, classes: Collection[str], *, where: str = "labels") -> frozenset[str]:
    if not isinstance(given, list) or not all(type(each) is str for each in given):
        raise _wrong_type(given, where, "a list of texts")
    for each in given:
        if each not in classes:
            raise Problem("wrong-value", "the bundle has no such label", where=where, todo=f"There are {', '.join(classes)}")
    return frozenset(given)


def _integer(given: Any, where: str) -> int:
    """A whole number; 3.0 is one too, as JSON has one kind of numbers."""
    if type(given) is float and given.is_integer():
        return int(given)
    if type(given) is not int:
        raise _wrong_type(given, where, "a whole number")
    return given


def _whole(value: Any, where: str, *, most: int) -> int:
    given = _integer(value, where)
    if not 1 <= given <= most:
        raise Problem("wrong-value", f"{where} is not 1 to {most:,}", where=where, todo=f"Send a number from 1 to {most:,}")
    return given


def _object(given: Any, where: str) -> dict[str, Any]:
    if type(given) is not dict:
        raise _wrong_type(given, where, "an object")
    return given


def _known(found: Mapping[str, Any], allowed: Collection[str], prefix: str, *, what: str, todo: str = "") -> None:
    for name in found:
        if name not in allowed:
            near = nearest(name[:100], allowed)
            hint = f"Did you mean {near!r}?" if near else todo or f"There are {', '.join(allowed)}"
            raise Problem("unknown-key", f"{name[:100]!r} is not {what}", where=f"{prefix}{name[:100]}", todo=hint)


def _text(given: Any, where: str, *, most: int) -> str:
    if type(given) is not str:
        raise _wrong_type(given, where, "text")
    if len(given) > most:
        what = f"{len(given):,} characters, more than {most:,}"
        raise Problem("too-long", what, where=where, todo=f"Send at most {most:,}")
    return given


def _wrong_type(given: Any, where: str, wanted: str) -> Problem:
    there = "missing" if given is None else _NAMES.get(type(given), type(given).__name__)
    example = 'Send text in quotes, such as "..."' if wanted == "text" else f"Send {wanted}"
    if wanted == "an object" and where != "tag":
        example += ', such as {"title": "..."}'
    return Problem("wrong-type", f"this is {there}, not {wanted}", where=where, todo=example)
