"""Schemas of what is answered, each with an example."""

from __future__ import annotations

from typing import Any

from batag.serving.problem import KINDS

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_SCORE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_MAYBE: Schema = {"type": ["string", "null"]}
_TRUTH: Schema = {"type": "boolean"}
TAG = {"field": "title", "start": 0, "end": 7, "label": "brand", "text": "NORDVIK", "score": 0.97, "normal": "NORDVIK"}
TAG = TAG | {"canonical": "nordvik", "source": "model"}


def record(required: Schema, optional: Schema | None = None, *, example: Any = None) -> Schema:
    """An object with these keys and no others."""
    found: Schema = {
        "type": "object",
        "required": list(required),
        "properties": required | (optional or {}),
        "additionalProperties": False,
    }
    return found if example is None else found | {"examples": [example]}


def listed(items: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": items}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_PLACE: Schema = {"field": _TEXT, "start": _WHOLE, "end": _WHOLE}
_PAGE: Schema = {"id": _MAYBE, "language": _MAYBE, "error": _MAYBE}
_KEYWORD: Schema = {"text": _TEXT, "score": _NUMBER, "places": listed(record(_PLACE))}
_ENTRY = record({"kind": _TEXT, "id": _TEXT, "groups": listed(_TEXT), "names": listed(_TEXT)})
_TERM = record(
    {
        "text": _TEXT,
        "steps": listed(record({"rule": _TEXT, "text": _TEXT})),
        "key": _TEXT,
        "canonical": _MAYBE,
        "by": _MAYBE,
        "entry": {"anyOf": [_ENTRY, {"type": "null"}]},
        "others": listed(_ENTRY),
        "category": {"type": ["object", "null"]},
    }
)
_MODEL = record(
    {
        "name": _TEXT,
        "bundle": _TEXT,
        "created": _TEXT,
        "batag": _TEXT,
        "engine": _TEXT,
        "engines": _WHOLE,
        "labels": listed(_TEXT),
        "languages": listed(_TEXT),
        "fields": listed(_TEXT),
        "dial": _TRUTH,
        "metrics": {"type": "object"},
        "limits": record({"pages": _WHOLE, "page_characters": _WHOLE, "body_bytes": _WHOLE, "explain_tokens": _WHOLE}),
    }
)
_SESSION: Schema = {"open": _TRUTH, "scopes": listed({"enum": ["tag", "admin"]}), "csrf": _MAYBE}
_TOKEN: Schema = _PLACE | {"text": _TEXT, "inside": _TRUTH, "score": _NUMBER, "change": _NUMBER}


def schemas() -> dict[str, Schema]:
    """The schemas by name."""
    tag = record(
        _PLACE | {"label": _TEXT, "text": _TEXT, "score": _SCORE, "source": _TEXT},
        {"normal": _TEXT, "canonical": _TEXT, "category": _TEXT, "richness": _SCORE},
        example=TAG,
    )
    page = {"id": "17", "language": "en", "error": None}
    place = {"field": "title", "start": 8, "end": 18}
    return {
        "Tag": tag,
        "Tags": record(
            {"bundle": _TEXT, "pages": listed(record(_PAGE | {"tags": listed(_ref("Tag"))}))},
            example={"bundle": "3f9c21d04b7a", "pages": [page | {"tags": [TAG]}]},
        ),
        "Explanation": record(
            {"bundle": _TEXT, "score": _NUMBER, "tokens_of_page": _WHOLE, "tag": _ref("Tag"), "tokens": listed(record(_TOKEN))},
            example={
                "bundle": "3f9c21d04b7a",
                "score": 0.97,
                "tokens_of_page": 4,
                "tag": TAG,
                "tokens": [place | {"text": "waterproof", "inside": False, "score": 0.91, "change": 0.06}],
            },
        ),
        "Keywords": record(
            {"pages": listed(record(_PAGE | {"keywords": listed(record(_KEYWORD))}))},
            example={"pages": [page | {"keywords": [{"text": "waterproof", "score": 0.61, "places": [place]}]}]},
        ),
        "Terms": record({"same": {"type": ["boolean", "null"]}, "terms": listed(_TERM)}),
        "Models": record({"models": listed(_MODEL)}),
        "Reloaded": record(
            {"bundle": _TEXT, "was": _MAYBE, "seconds": _NUMBER},
            example={"bundle": "77aa01c2e9d3", "was": "3f9c21d04b7a", "seconds": 1.2},
        ),
        "Session": record(_SESSION, example={"open": True, "scopes": ["tag", "admin"], "csrf": None}),
        "Alive": record({"alive": {"const": True}}),
        "Ready": record({"ready": {"const": True}, "engines": _WHOLE}),
        "Problem": problem(),
    }


def problem() -> Schema:
    """The one shape of errors."""
    example = {
        "type": "urn:batag:unknown-key",
        "title": "Unknown key",
        "status": 422,
        "detail": "'titel' is not a key of a page",
        "where": "page.titel",
        "todo": "Did you mean 'title'?",
        "request_id": "c0ffee0123456789",
    }
    return record(
        {
            "type": {"enum": [f"urn:batag:{kind}" for kind in KINDS]},
            "title": _TEXT,
            "status": {"type": "integer"},
            "detail": _TEXT,
            "where": _TEXT,
            "todo": _TEXT,
            "request_id": _TEXT,
        },
        example=example,
    )
