"""Every limit of the service holds at n and refuses n + 1."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.processes import PATIENCE, wait_until
from tests.serving.service import Service, serving

from batag.settings import settings

JSON = {"Content-Type": "application/json"}
SMALL = {"BATAG_SERVE_BODY_SECONDS": "1", "BATAG_SERVE_HEADER_SECONDS": "1", "BATAG_SERVE_SECONDS": "2"}


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with little patience and a small queue."""
    with serving(tmp_path_factory.mktemp("hasty"), "--engines", 1, BATAG_SERVE_QUEUE_TOKENS="4000", **SMALL) as found:
        yield found


def refused(answer: httpx.Response, status: int, kind: str, where: str = "") -> None:
    """An error of the one shape."""
    body = answer.json()
    assert (answer.status_code, body["type"], body["status"]) == (status, f"urn:batag:{kind}", status), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["request_id"] == answer.headers["x-request-id"]
    assert {*body} == {"type", "title", "status", "detail", "where", "todo", "request_id"}
    if where:
        assert body["where"] == where


def page_of(characters: int) -> dict[str, str]:
    return {"title": ("boots " * (characters // 6 + 1))[:characters]}


LIMITS: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("/v1/tag", {"pages": [{"title": "x"}] * 32}, {"pages": [{"title": "x"}] * 33}, "too-many", "pages"),
    ("/v1/tag", {"pages": [{"title": "x"}]}, {"pages": []}, "too-many", "pages"),
    ("/v1/tag", {"page": page_of(100_000)}, {"page": page_of(100_001)}, "too-long", "page"),
    ("/v1/tag", {"pages": [page_of(100_000)]}, {"pages": [page_of(100_001)]}, "too-long", "pages[0]"),
    (
        "/v1/tag",
        {"page": {"title": "x", "id": "i" * 1_000}},
        {"page": {"title": "x", "id": "i" * 1_001}},
        "too-long",
        "page.id",
    ),
    ("/v1/tag", {"page": {"title": "x"}, "top": 1_000}, {"page": {"title": "x"}, "top": 1_001}, "wrong-value", "top"),
    ("/v1/tag", {"page": {"title": "x"}, "top": 1}, {"page": {"title": "x"}, "top": 0}, "wrong-value", "top"),
    (
        "/v1/tag",
        {"page": {"title": "x"}, "min_score": 1},
        {"page": {"title": "x"}, "min_score": 1.001},
        "wrong-value",
        "min_score",
    ),
    (
        "/v1/tag",
        {"page": {"title": "x"}, "richness": 1},
        {"page": {"title": "x"}, "richness": 1.001},
        "wrong-value",
        "richness",
    ),
    ("/v1/tag", {"page": {"title": "x"}, "steps": 21}, {"page": {"title": "x"}, "steps": 22}, "wrong-value", "steps"),
    (
        "/v1/tag",
        {"page": {"fields": {f"f{number}": "x" for number in range(settings.max_page_fields)}}},
        {"page": {"fields": {f"f{number}": "x" for number in range(settings.max_page_fields + 1)}}},
        "too-many",
        "page.fields",
    ),
    ("/v1/keywords", {"page": {"title": "x"}, "top": 100}, {"page": {"title": "x"}, "top": 101}, "wrong-value", "top"),
    ("/v1/keywords", {"pages": [{"title": "x"}] * 32}, {"pages": [{"title": "x"}] * 33}, "too-many", "pages"),
    ("/v1/terms/explain", {"texts": ["x"] * 32}, {"texts": ["x"] * 33}, "too-many", "texts"),
    ("/v1/terms/explain", {"texts": ["x" * 1_000]}, {"texts": ["x" * 1_001]}, "too-long", "texts[0]"),
]


@pytest.mark.parametrize(
    ("path", "most", "over", "kind", "where"), LIMITS, ids=[f"{row[0]}-{row[4]}-{row[3]}" for row in LIMITS]
)
def test_a_limit_holds_at_n_and_refuses_n_plus_1(
    service: Service, path: str, most: dict[str, Any], over: dict[str, Any], kind: str, where: str
) -> None:
    assert service.post(path, most).status_code == 200
    refused(service.post(path, over), 422, kind, where)


def body_of(size: int) -> bytes:
    data = json.dumps({"page": {"title": "x"}}).encode()
    return data[:-1] + b" " * (size - len(data)) + b"}"


def test_a_body_of_2_mb_is_read_and_one_byte_more_is_not(service: Service) -> None:
    most = settings.serve_body_bytes
    assert service.client.post("/v1/tag", content=body_of(most), headers=JSON).status_code == 200
    refused(service.client.post("/v1/tag", content=body_of(most + 1), headers=JSON), 413, "too-large", "body")


def test_a_body_of_unknown_size_ends_at_the_limit(service: Service) -> None:
    def parts(size: int) -> Iterator[bytes]:
        data = body_of(size)
        for start in range(0, size, 100_000):
            yield data[start : start + 100_000]

    most = settings.serve_body_bytes
    assert service.client.post("/v1/tag", content=parts(most), headers=JSON).status_code == 200
    with httpx.Client(base_url=service.url, timeout=PATIENCE, trust_env=False) as client:
        refused(client.post("/v1/tag", content=parts(most + 1), headers=JSON), 413, "too-large", "body")


def raw(service: Service, data: bytes, *, then: bytes = b"") -> bytes:
    """What comes back to bytes sent by hand, until the answer ends or the connection is closed."""
    host, _, port = service.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as link:
        link.sendall(data)
        if then:
            time.sleep(0.1)
            link.sendall(then)
        got = b""
        while part := link.recv(65_536):
            got += part
            head, end, body = got.partition(b"\r\n\r\n")
            if end and (size := _length(head)) is not None and len(body) >= size:
                break
        return got


def _length(head: bytes) -> int | None:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return None


def test_a_body_over_the_limit_is_refused_before_it_is_sent(service: Service) -> None:
    head = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000001\r\n\r\n"
    assert raw(service, head).startswith(b"HTTP/1.1 413")


def test_headers_over_the_limit_are_refused(service: Service) -> None:
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: "
    fits = settings.serve_header_bytes - len(head) - 4
    assert raw(service, head + b"x" * fits + b"\r\n\r\n").startswith(b"HTTP/1.1 200")
    assert raw(service, head + b"x" * (fits + 1) + b"\r\n\r\n").startswith(b"HTTP/1.1 431")


def test_headers_that_do_not_come_close_the_connection(hasty: Service) -> None:
    began = time.monotonic()
    assert b"200" not in raw(hasty, b"GET /healthz HTTP/1.1\r\nHost: loc")
    assert time.monotonic() - began < PATIENCE / 2
    assert raw(hasty, b"GET /healthz HTTP/1.1\r\nHost: loc", then=b"alhost\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_a_body_that_does_not_come_is_408(hasty: Service) -> None:
    head = b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n"
    assert raw(hasty, head + b'{"page"').startswith(b"HTTP/1.1 408")
    assert raw(hasty, head + b'{"page"', then=b': {"title": "x"}}').startswith(b"HTTP/1.1 200")


@pytest.fixture
def asleep(hasty: Service) -> Iterator[Service]:
    """A service whose engine does not answer."""
    (engine,) = hasty.engines()
    os.kill(engine, signal.SIGSTOP)
    yield hasty
    os.kill(engine, signal.SIGCONT)
    wait_until(lambda: hasty.tag().status_code == 200)


def test_an_answer_that_takes_too_long_is_504(asleep: Service) -> None:
    refused(asleep.tag(), 504, "late")


def test_a_full_queue_is_503_with_retry_after_and_is_empty_again_later(asleep: Service) -> None:
    """The engine has one batch and one ahead; behind them so many tokens wait, and no more."""
    answers: list[httpx.Response] = []
    page = {"title": "boots " * 600}  # 900 tokens, as a body is counted

    def ask() -> None:
        answers.append(httpx.post(f"{asleep.url}/v1/tag", json={"page": page}, timeout=PATIENCE, trust_env=False))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses.count(503) > 0
    assert statuses.count(503) + statuses.count(504) == 20
    for answer in answers:
        if answer.status_code == 503:
            refused(answer, 503, "full")
            assert int(answer.headers["retry-after"]) >= 1
    assert asleep.metric("batag_queue_tokens") == 0  # what was too late does not wait any more


def test_a_client_that_has_left_is_dropped(asleep: Service) -> None:
    before = asleep.metric("batag_dropped_total")
    for _ in range(2):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{asleep.url}/v1/tag", json={"page": {"title": "x"}}, timeout=0.3, trust_env=False)
    wait_until(lambda: asleep.metric("batag_dropped_total") == before + 2)


def test_an_explanation_looks_at_64_tokens_at_most(service: Service) -> None:
    page = {"title": "NORDVIK " + "waterproof " * 99}
    tag = service.tag(page, richness="rich").json()["pages"][0]["tags"][0]
    place = {key: tag[key] for key in ("field", "start", "end", "label")}
    found = service.post("/v1/explain", {"page": page, "tag": place}).json()
    assert (len(found["tokens"]), found["tokens_of_page"]) == (64, 100)


def test_headers_that_are_no_text_are_answered(service: Service) -> None:
    for name in (b"Authorization: Bearer ", b"X-Request-Id: ", b"Cookie: ", b"Origin: ", b"Content-Type: "):
        answer = raw(service, b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n" + name + b"\xe9\xff\r\n\r\n")
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400", b"HTTP/1.1 403")), answer
