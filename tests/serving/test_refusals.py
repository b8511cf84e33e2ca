"""What a stranger may send: each has its status and the one shape of errors."""

from __future__ import annotations

import socket
import time
from typing import Any

import httpx
import pytest
from tests.processes import PATIENCE
from tests.serving.service import PAGE, Service
from tests.serving.test_limits import JSON, refused

BAD: list[tuple[str, Any, str, str]] = [
    ("/v1/tag", {}, "wrong-value", "page"),
    ("/v1/tag", {"page": PAGE, "pages": [PAGE]}, "wrong-value", "page"),
    ("/v1/tag", [], "wrong-type", "body"),
    ("/v1/tag", {"page": "boots"}, "wrong-type", "page"),
    ("/v1/tag", {"pages": {"title": "x"}}, "wrong-type", "pages"),
    ("/v1/tag", {"page": {"title": 3}}, "wrong-type", "page.title"),
    ("/v1/tag", {"page": {"titel": "x"}}, "unknown-key", "page.titel"),
    ("/v1/tag", {"page": {"id": "1"}}, "wrong-value", "page"),
    ("/v1/tag", {"page": {"title": "x", "id": 1}}, "wrong-type", "page.id"),
    ("/v1/tag", {"page": {"title": "x", "language": "tlh"}}, "wrong-value", "page.language"),
    ("/v1/tag", {"page": {"fields": {"specs": []}}}, "wrong-type", "page.fields.specs"),
    ("/v1/tag", {"page": {"title": 1}}, "wrong-type", "page.title"),
    ("/v1/tag", {"page": {"title": "Sony", "fields": {"title": "Bosch"}}}, "wrong-value", "page.fields.title"),
    ("/v1/tag", {"page": {"fields": {"": "Bosch"}}}, "wrong-value", "page.fields"),
    ("/v1/tag", {"page": PAGE, "richnes": 1}, "unknown-key", "richnes"),
    ("/v1/tag", {"page": PAGE, "richness": "richest"}, "wrong-value", "richness"),
    ("/v1/tag", {"page": PAGE, "richness": True}, "wrong-type", "richness"),
    ("/v1/tag", {"page": PAGE, "labels": "brand"}, "wrong-type", "labels"),
    ("/v1/tag", {"page": PAGE, "labels": ["brnd"]}, "wrong-value", "labels"),
    ("/v1/tag", {"page": PAGE, "distinct": 1}, "wrong-type", "distinct"),
    ("/v1/tag", {"page": PAGE, "top": 1.5}, "wrong-type", "top"),
    ("/v1/tag", {"page": PAGE, "steps": 21, "top": 3}, "wrong-value", "top"),
    ("/v1/tag", {"page": PAGE, "steps": None}, "wrong-value", "steps"),
    ("/v1/tag", {"page": PAGE, "canonical_language": "tlh"}, "wrong-value", "canonical_language"),
    ("/v1/tag", {"page": PAGE, "canonical_language": 1}, "wrong-type", "canonical_language"),
    ("/v1/keywords", {"page": PAGE, "method": "tfidf"}, "wrong-value", "method"),
    ("/v1/terms/explain", {"texts": "LEVIS"}, "wrong-type", "texts"),
    ("/v1/terms/explain", {"texts": [1]}, "wrong-type", "texts[0]"),
    ("/v1/explain", {"page": PAGE}, "wrong-type", "tag"),
    (
        "/v1/explain",
        {"page": PAGE, "tag": {"field": "specs", "start": 0, "end": 1, "label": "brand"}},
        "wrong-value",
        "tag.field",
    ),
    ("/v1/explain", {"page": PAGE, "tag": {"field": "title", "start": 0, "end": 99, "label": "brand"}}, "wrong-value", "tag"),
]


@pytest.mark.parametrize(("path", "body", "kind", "where"), BAD)
def test_a_body_that_cannot_be_used_is_422_with_its_place(
    service: Service, path: str, body: Any, kind: str, where: str
) -> None:
    answer = service.post(path, body)
    refused(answer, 422, kind, where)
    assert answer.json()["todo"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"page": {"title": "\xff"}}', b"[" * 100_000, b'{"page":' * 2_000 + b"1" + b"}" * 2_000, b"NaN"]
)
def test_bad_and_deep_json_is_400(service: Service, body: bytes) -> None:
    refused(service.client.post("/v1/tag", content=body, headers=JSON), 400, "bad-json", "body")


def test_a_typing_error_is_answered_with_the_right_word(service: Service) -> None:
    assert service.tag({"titel": "x"}).json()["todo"] == "Did you mean 'title'?"


def test_a_body_must_be_announced_as_json(service: Service) -> None:
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "", "application/json-seq"):
        answer = service.client.post("/v1/tag", content=b"{}", headers={"Content-Type": media_type})
        refused(answer, 415, "not-json", "Content-Type")
    ok = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert service.client.post("/v1/tag", content=b'{"page": {"title": "x"}}', headers=ok).status_code == 200


def test_paths_and_methods_that_are_not_there(service: Service) -> None:
    refused(service.client.get("/v2/tag"), 404, "not-found", "/v2/tag")
    refused(service.client.get("/../../etc/passwd"), 404, "not-found")
    answer = service.client.get("/v1/tag")
    refused(answer, 405, "wrong-method", "/v1/tag")
    assert answer.headers["allow"] == "POST"
    refused(service.client.request("PROPFIND", "/v1/session"), 405, "wrong-method")


def test_a_request_id_comes_back_or_is_made(service: Service) -> None:
    assert service.client.get("/healthz", headers={"X-Request-Id": "my-id.1"}).headers["x-request-id"] == "my-id.1"
    made = service.client.get("/healthz", headers={"X-Request-Id": "not an id"}).headers["x-request-id"]
    assert made != "not an id"
    assert len(made) == 16


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""])
def test_a_foreign_name_is_refused(service: Service, host: str) -> None:
    """A website may let its own name point to this machine (DNS rebinding)."""
    refused(service.client.get("/v1/models", headers={"Host": host}), 403, "foreign-host", "Host")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", "http://localhost.evil.example"])
def test_another_website_is_refused_on_a_service_without_keys(service: Service, origin: str) -> None:
    refused(service.post("/v1/tag", {"page": PAGE}, headers={"Origin": origin}), 403, "foreign-origin", "Origin")


def test_its_own_page_may_ask(service: Service) -> None:
    assert service.post("/v1/tag", {"page": PAGE}, headers={"Origin": service.url}).status_code == 200
    cross = service.post("/v1/models/reload", {}, headers={"Sec-Fetch-Site": "cross-site"})
    refused(cross, 403, "foreign-origin", "Sec-Fetch-Site")


def test_no_other_website_may_read_an_answer(service: Service) -> None:
    """Without CORS a browser asks in vain before it sends JSON."""
    answer: httpx.Response = service.client.request(
        "OPTIONS", "/v1/tag", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    )
    assert answer.status_code in (403, 405)
    for each in (answer, service.tag()):
        assert not [name for name in each.headers if name.startswith("access-control")]
        assert each.headers["x-content-type-options"] == "nosniff"
        assert each.headers["cache-control"] == "no-store"


def test_a_connection_outlives_a_refusal_whose_body_comes_late(service: Service) -> None:
    """A refusal before the body arrived made the server close, while the client sent its next request."""
    host, _, port = service.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as link, link.makefile("rb") as answers:
        for _ in range(3):
            link.sendall(b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n")
            time.sleep(0.05)
            link.sendall(b"late")
            assert b"415" in answers.readline()
            headers = [line.lower() for line in iter(answers.readline, b"\r\n")]
            length = next(int(line.split(b":")[1]) for line in headers if line.startswith(b"content-length"))
            answers.read(length)
