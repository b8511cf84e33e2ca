"""Schemas of what is sent, each with an example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from batag.pages.fields import STANDARD_FIELDS
from batag.settings import settings

Schema = dict[str, Any]
LANGUAGES = ("zh-Hant", "zh-Hans", "ja", "en")
METHODS = ("auto", "yake", "textrank", "singlerank", "rake")
_NAME = 1_000
BOOTS = {"id": "17", "title": "NORDVIK waterproof hiking boots", "description": "Light boots for wet paths."}
COAT = {"id": "18", "language": "ja", "title": "NORDVIK レインコート 赤"}


def page() -> Schema:
    """A page: at least one text field."""
    text: Schema = {"type": ["string", "null"]}
    written: Schema = {"type": "string"}
    filled: Schema = {"type": "object", "not": {"additionalProperties": {"type": "null"}}}
    return {
        "type": "object",
        "description": f"A page; all its fields have at most {settings.serve_page_characters:,} characters together.",
        "properties": {
            "id": {"type": ["string", "null"], "maxLength": _NAME, "description": "Comes back with the tags."},
            "language": _language(),
            "title": text,
            "description": text,
            "fields": {
                "type": ["object", "null"],
                "description": "Further fields, such as specs.",
                "maxProperties": settings.max_page_fields - 2,
                "propertyNames": {"minLength": 1},
                "additionalProperties": text,
            },
        },
        "additionalProperties": False,
        "anyOf": [
            {"required": [name], "properties": {name: kind}}
            for name, kind in (("title", written), ("description", written), ("fields", filled))
        ],
        "allOf": [{"not": _twice(name, written)} for name in STANDARD_FIELDS],
        "examples": [BOOTS, COAT],
    }


def _twice(name: str, written: Schema) -> Schema:
    """A page with a field both by its own key and among the further ones."""
    further: Schema = {"type": "object", "required": [name], "properties": {name: {"not": {"type": "null"}}}}
    return {"required": [name, "fields"], "properties": {name: written, "fields": further}}


def _language() -> Schema:
    about = "Detected if it is not given; other names that --language takes are understood too."
    return {"enum": [*LANGUAGES, None], "description": about}


def _for_pages(options: Schema) -> list[Schema]:
    """A request with one page and one with several, with the same options."""
    one: Schema = {"$ref": "#/components/schemas/Page"}
    many = {"type": "array", "minItems": 1, "maxItems": settings.serve_pages, "items": one}
    return [
        {"type": "object", "required": [name], "properties": {name: schema} | options, "additionalProperties": False}
        for name, schema in (("page", one), ("pages", many))
    ]


def tag_request(labels: Sequence[str], *, has_dial: bool) -> Schema:
    """Tags of one page or several: at one richness, or at all 21 steps."""
    label: Schema = {"enum": list(labels)} if labels else {"type": "string"}
    common: Schema = {
        "labels": {"type": ["array", "null"], "items": label, "description": "Only tags with these labels."},
        "min_score": {"type": ["number", "null"], "minimum": 0, "maximum": 1, "description": "Only tags with this score."},
        "canonical_language": {
            "enum": [*LANGUAGES, None],
            "description": "Language of canonical forms that come from the lexicon (default: that of the service).",
        },
    }
    plain: Schema = {
        "top": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 1_000,
            "description": "Only the best tags of each page, one per label and canonical form, at most this many.",
        },
        "distinct": {"type": ["boolean", "null"], "description": "One tag per text and label instead of every occurrence."},
    }
    if has_dial:
        names: Schema = {"enum": ["clean", "balanced", "rich", None]}
        number: Schema = {"type": "number", "minimum": 0, "maximum": 1}
        plain["richness"] = {"anyOf": [names, number], "description": "clean (0), balanced (0.5, the default), rich (1)."}
    steps: Schema = {"steps": {"enum": [21], "description": "The tags of all 21 richness steps; each tag has its lowest."}}
    with_steps = _for_pages(common | steps)
    for each in with_steps:
        each["required"] = [*each["required"], "steps"]
    return {
        "anyOf": [*_for_pages(common | plain), *with_steps],
        "examples": [
            {"page": BOOTS},
            {"pages": [BOOTS, COAT], "top": 5} | ({"richness": "rich"} if has_dial else {}),
            {"page": BOOTS, "steps": 21},
        ],
    }


def keywords_request() -> Schema:
    """Keywords of one page or several."""
    options: Schema = {
        "top": {"type": ["integer", "null"], "minimum": 1, "maximum": 100, "description": "How many a page (default: 10)."},
        "method": {"enum": [*METHODS, None], "description": "The extractor (default: auto)."},
    }
    return {"anyOf": _for_pages(options), "examples": [{"page": BOOTS, "top": 3}]}


def terms_request() -> Schema:
    """Texts to explain."""
    text: Schema = {"type": "string", "maxLength": _NAME}
    return {
        "type": "object",
        "required": ["texts"],
        "properties": {
            "texts": {"type": "array", "minItems": 1, "maxItems": settings.serve_texts, "items": text},
            "label": {"type": ["string", "null"], "maxLength": _NAME},
            "language": _language(),
        },
        "additionalProperties": False,
        "examples": [{"texts": ["LEVIS", "リーバイス"], "label": "brand"}],
    }


def explain_request(labels: Sequence[str]) -> Schema:
    """A tag that `/v1/tag` gave, with its page."""
    place: Schema = {
        "type": "object",
        "required": ["field", "start", "end", "label"],
        "properties": {
            "field": {"type": "string"},
            "start": {"type": "integer", "minimum": 0},
            "end": {"type": "integer", "minimum": 1},
            "label": {"enum": list(labels)} if labels else {"type": "string"},
        },
        "additionalProperties": False,
    }
    example = {"page": BOOTS, "tag": {"field": "title", "start": 0, "end": 7, "label": "brand"}}
    return {
        "type": "object",
        "required": ["page", "tag"],
        "properties": {"page": {"$ref": "#/components/schemas/Page"}, "tag": place},
        "additionalProperties": False,
        "examples": [example],
    }


def session_request() -> Schema:
    """A key that becomes a session."""
    return {
        "type": "object",
        "required": ["key"],
        "properties": {"key": {"type": "string"}},
        "additionalProperties": False,
        "examples": [{"key": "batag_00000000_..."}],
    }
