"""The OpenAPI document, put together from the paths of the service."""

from __future__ import annotations

from typing import Any

from batag.serving.openapi import asked
from batag.serving.openapi.answered import schemas
from batag.serving.problem import KINDS, MEDIA_TYPE
from batag.serving.routes import ROUTES, Route

Schema = dict[str, Any]
_ABOUT: dict[str, tuple[str, str, str, str]] = {
    "tag": ("Tags of a page, or of up to 32", "tagging", "TagRequest", "Tags"),
    "explain": ("Which words moved a tag's score", "tagging", "ExplainRequest", "Explanation"),
    "keywords": ("Keywords of a page, or of up to 32", "tagging", "KeywordsRequest", "Keywords"),
    "terms": ("Canonical form, lexicon entry and category of texts", "tagging", "TermsRequest", "Terms"),
    "models": ("The bundle: hash, labels, languages, fields, metrics", "service", "", "Models"),
    "reload": ("Load the bundle again, without a gap", "service", "", "Reloaded"),
    "session": ("The session of this browser", "sessions", "", "Session"),
    "begin_session": ("Begin a session with a key", "sessions", "SessionRequest", "Session"),
    "end_session": ("End the session", "sessions", "", "Session"),
    "alive": ("Whether the process is alive", "service", "", "Alive"),
    "ready": ("Whether an engine has just tagged a page", "service", "", "Ready"),
    "metrics": ("Metrics for Prometheus", "service", "", ""),
    "openapi": ("This description", "service", "", ""),
}
"""What each handler does: summary, group, the schema of its body and of its answer."""
_BODY = ("bad-json", "bad-request", "slow-client", "too-large", "not-json", "wrong-value")
_ENGINE = ("engine", "full", "late")


def document(labels: list[str], *, has_dial: bool, has_keys: bool) -> Schema:
    """The description of a service with these labels; keys stand in it if the service needs them."""
    paths: dict[str, Schema] = {}
    for route in ROUTES.values():
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, has_keys=has_keys)
    own = {
        "Page": asked.page(),
        "TagRequest": asked.tag_request(labels, has_dial=has_dial),
        "ExplainRequest": asked.explain_request(labels),
        "KeywordsRequest": asked.keywords_request(),
        "TermsRequest": asked.terms_request(),
        "SessionRequest": asked.session_request(),
    }
    components: Schema = {"schemas": own | schemas()}
    if has_keys:
        components["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer", "description": "A key made with `batag keys add`."},
            "session": {"type": "apiKey", "in": "cookie", "name": "batag_session"},
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "batag",
            "version": "1",
            "summary": "Tags product pages: goods, brands and features.",
            "description": "Offsets are code points of the original text, end exclusive. A request is answered or refused "
            "whole. The header X-Request-Id comes back. With a session, requests other than GET send X-CSRF-Token.",
        },
        "paths": paths,
        "components": components,
    }


def _operation(route: Route, *, has_keys: bool) -> Schema:
    about, group, body, answer = _ABOUT[route.handler]
    found: Schema = {"operationId": route.handler, "summary": about, "tags": [group]}
    kinds = [] if route.probe else ["foreign-host", "stopping"]
    if body:
        schema: Schema = {"schema": {"$ref": f"#/components/schemas/{body}"}}
        found["requestBody"] = {"required": True, "content": {"application/json": schema}}
        kinds += _BODY
    if route.handler in ("tag", "explain", "keywords", "terms"):
        kinds += _ENGINE
    kinds += {
        "models": ["not-ready"],
        "ready": ["not-ready"],
        "reload": ["reloading", "bad-bundle"],
        "begin_session": ["no-key"] if has_keys else [],
    }.get(route.handler, [])
    if has_keys and route.scope:
        found["security"] = [{"key": []}, {"session": []}]
        kinds += ["no-key", "rate"]
    found["responses"] = {"200": _good(route, answer)} | {
        str(status): _bad(status) for status in sorted({KINDS[kind][0] for kind in kinds})
    }
    return found


def _good(route: Route, answer: str) -> Schema:
    if route.handler == "metrics":
        return {"description": "Prometheus's text format", "content": {"text/plain": {"schema": {"type": "string"}}}}
    schema: Schema = {"$ref": f"#/components/schemas/{answer}"} if answer else {"type": "object"}
    return {"description": "Done", "headers": _headers(), "content": {"application/json": {"schema": schema}}}


def _bad(status: int) -> Schema:
    titles = "; ".join(title for code, title in KINDS.values() if code == status)
    schema: Schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    headers = _headers()
    if status in (429, 503):
        headers["Retry-After"] = {"description": "Seconds to wait", "schema": {"type": "string"}}
    return {"description": titles, "headers": headers, "content": {MEDIA_TYPE: schema}}


def _headers() -> Schema:
    return {"X-Request-Id": {"description": "The id of the request", "schema": {"type": "string"}}}
