"""The client of the service: what it returns, when it tries again, and `batag tag --server`."""

from __future__ import annotations

import asyncio
import csv
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import Run
from tests.serving.service import BUNDLE, PAGE, Service
from tests.tiny import typed

from batag import Page, read_pages
from batag.client import AsyncClient, Client, ServiceError, Tagged, exchange
from batag.errors import UsageError
from batag.tagging.tagger import Tagger

MANY: list[dict[str, Any]] = [{"id": str(number), "title": f"NORDVIK waterproof boots {number}"} for number in range(100)]


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[Client]:
    with Client(service.url) as found:
        yield found


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger.load(BUNDLE, device="cpu")


def test_tags_are_those_of_the_tagger(client: Client, tagger: Tagger) -> None:
    assert client.tag(PAGE) == list(tagger.tag(PAGE))
    assert client.tag(PAGE, richness="rich", labels=["brand"], distinct=True, top=1, min_score=0.1)
    with pytest.raises(UsageError, match="'richnes' is not an option"):
        client.tag(PAGE, richnes=1)


def test_many_pages_come_back_in_order(client: Client, tagger: Tagger) -> None:
    found = list(client.tag_many(iter(MANY)))
    assert [each.id for each in found] == [each["id"] for each in MANY]
    assert [list(each.tags) for each in found] == [list(tagger.tag(each)) for each in MANY]


def test_pages_are_read_as_the_answers_come(client: Client) -> None:
    read = 0

    def endless() -> Iterator[dict[str, Any]]:
        nonlocal read
        while True:
            read += 1
            yield {"title": f"boots {read}"}

    found = client.tag_many(endless())
    for _ in range(10):
        next(found)
    found.close()
    assert read < 32 * 12


def test_a_page_that_cannot_be_tagged_does_not_stop_the_others(client: Client) -> None:
    bad: list[dict[str, Any]] = [
        {"id": "long", "title": "x" * 100_001},
        {"id": "none"},
        {"id": "huge", "title": "靴" * 700_000},
    ]
    found = list(client.tag_many([MANY[0], bad[0], MANY[1], bad[1], bad[2], MANY[2]]))
    assert [each.id for each in found] == ["0", "long", "1", "none", "huge", "2"]
    assert [each.error is None for each in found] == [True, False, True, False, False, True]
    assert "more than 100,000" in str(found[1].error)


def test_a_lone_surrogate_is_a_character_like_others(client: Client) -> None:
    page = Page("1", {"title": "NORDVIK \ud800 boots"})
    assert [page["title"][tag.start : tag.end] for tag in client.tag(page)] == [tag.text for tag in client.tag(page)]


def test_a_file_is_tagged_page_by_page(client: Client, tagger: Tagger, tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in MANY[:5]), encoding="utf-8")
    found = list(client.tag_file(file))
    assert [page.id for page in found] == ["0", "1", "2", "3", "4"]
    assert [list(page.tags) for page in found] == [list(tagger.tag(page)) for page in MANY[:5]]


def test_the_other_paths_are_methods(client: Client) -> None:
    assert client.is_ready()
    assert client.models()[0]["engines"] == 1
    assert client.keywords(PAGE, top=2)[0]["text"]
    assert client.explain_terms(["LEVIS", "リーバイス"], label="brand")["same"] is True
    tag = client.tag(PAGE)[0]
    assert client.explain(PAGE, tag)["score"] == pytest.approx(tag.score, abs=1e-4)


def test_the_client_for_asyncio_does_the_same(service: Service, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in MANY[:3]), encoding="utf-8")

    async def ask() -> None:
        async with AsyncClient(service.url) as other:
            assert await other.tag(PAGE) == client.tag(PAGE)
            assert [each async for each in other.tag_many(MANY)] == list(client.tag_many(MANY))
            assert [page async for page in other.tag_file(file)] == list(client.tag_file(file))
            assert await other.is_ready()
            assert await other.models() == client.models()
            assert await other.keywords(PAGE) == client.keywords(PAGE)
            assert await other.explain_terms(["LEVIS"]) == client.explain_terms(["LEVIS"])
            assert await other.explain(PAGE, client.tag(PAGE)[0]) == client.explain(PAGE, client.tag(PAGE)[0])
            with pytest.raises(ServiceError, match="not a key"):
                await other.tag({"titel": "x"})

    asyncio.run(ask())


def test_a_refusal_is_an_error_with_its_place_and_advice(client: Client) -> None:
    with pytest.raises(ServiceError) as caught:
        client.tag({"titel": "x"})
    error = caught.value
    assert (error.status, error.kind, error.todo) == (422, "unknown-key", "Did you mean 'title'?")
    assert error.where.endswith("/v1/tag: page.titel")
    assert error.request_id


class Waits:
    """A service that gives these answers in turn, and the seconds that a client waited before each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Iterable[httpx.Response | Exception]) -> None:
        self._answers = iter(answers)
        self.waited: list[float] = []
        monkeypatch.setattr(time, "sleep", self.waited.append)

        async def sleep(seconds: float) -> None:
            self.waited.append(seconds)

        monkeypatch.setattr(asyncio, "sleep", sleep)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


FULL = {"type": "urn:batag:full", "detail": "the queue is full", "where": "", "todo": "", "status": 503}
GOOD = {"bundle": "x", "pages": [{"id": None, "language": "en", "error": None, "tags": []}]}


def hard() -> list[httpx.Response | Exception]:
    return [
        httpx.Response(503, json=FULL, headers={"Retry-After": "7"}),
        httpx.ConnectError("refused"),
        httpx.Response(429, json=FULL, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        httpx.Response(502, content=b"<html>"),
        httpx.Response(200, json=GOOD),
    ]


def test_a_full_service_is_asked_again_when_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = Waits(monkeypatch, hard())
    with Client("http://service", transport=httpx.MockTransport(waits)) as client:
        assert client.tag(PAGE) == []
    assert 7 <= waits.waited[0] < 7.2
    assert all(0.05 * 2**number <= wait <= 0.1 * 2**number for number, wait in enumerate(waits.waited[1:], 1))
    assert len(waits.waited) == 4


def test_the_client_for_asyncio_waits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = Waits(monkeypatch, hard())

    async def ask() -> None:
        async with AsyncClient("http://service", transport=httpx.MockTransport(waits)) as client:
            assert await client.tag(PAGE) == []

    asyncio.run(ask())
    assert waits.waited[0] >= 7
    assert len(waits.waited) == 4


def test_at_last_it_gives_up_with_the_services_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = Waits(monkeypatch, (httpx.Response(503, json=FULL) for _ in range(9)))
    with Client("http://service", retries=2, transport=httpx.MockTransport(waits)) as client:
        with pytest.raises(ServiceError, match="the queue is full"):
            client.tag(PAGE)
        assert len(waits.waited) == 2


def test_a_refusal_is_not_tried_again_and_a_foreign_page_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = Waits(monkeypatch, [httpx.Response(200, content=b"<html>"), httpx.Response(404, json=[])])
    with Client("http://service", transport=httpx.MockTransport(waits)) as client:
        for _ in range(2):
            with pytest.raises(ServiceError, match="not JSON"):
                client.tag(PAGE)
    assert waits.waited == []
    with pytest.raises(UsageError, match="is not the address"):
        Client("localhost:8080")


def test_a_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json=GOOD)

    with Client("http://service", key="batag_x", transport=httpx.MockTransport(answer)) as client:
        client.tag(PAGE)
    assert seen == ["Bearer batag_x"]


def test_batches_keep_to_the_services_limits() -> None:
    pages = [{"title": "x" * size} for size in (10, 10, 10, 900, 900, 900)]
    groups = list(exchange.batches(pages, exchange.Limits(pages=2, body_bytes=1_900)))
    assert [len(each) for each in groups] == [2, 1, 1, 1, 1]
    flow = exchange.tag_batch(groups[0], {"top": 3})
    assert json.loads(next(flow)) == {"pages": pages[:2], "top": 3}
    with pytest.raises(StopIteration) as done:
        flow.send((200, {"pages": GOOD["pages"] * 2}))  # type: ignore[operator]
    assert done.value.value == [Tagged(None, "en", ())] * 2


def test_a_file_is_tagged_by_command_through_the_service(batag: Run, service: Service, tmp_path: Path) -> None:
    source, direct, remote = tmp_path / "pages.csv", tmp_path / "direct.jsonl", tmp_path / "remote.jsonl"
    with source.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["id", "title"], *([each["id"], each["title"]] for each in MANY[:40])])
    done = batag("tag", "--server", service.url, source, "-o", remote, "--richness", "rich")
    assert done.returncode == 0, done.stderr
    assert "40 pages tagged" in " ".join(done.stderr.split())
    assert batag("tag", BUNDLE, source, "-o", direct, "--richness", "rich").returncode == 0
    assert [page.tags for page in read_pages(remote)] == [page.tags for page in read_pages(direct)]
    again = batag("tag", "--server", service.url, source, "-o", remote)
    assert (again.returncode, "is there already" in again.stderr) == (1, True)
    table = tmp_path / "tagged.csv"
    assert batag("tag", "--server", service.url, source, "-o", table, "--restart").returncode == 0
    assert len(table.read_text(encoding="utf-8").splitlines()) == 41


def test_a_service_that_is_not_there_is_one_line(batag: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = batag("tag", "--server", "http://127.0.0.1:1", "red boots")
    assert (text.returncode, "is not a file" in text.stderr) == (2, True)


def test_a_text_is_no_page_and_one_page_is_not_many() -> None:
    with Client("http://service") as client:
        with pytest.raises(UsageError, match="str is not a page: give a Page, or a dict with title"):
            client.tag("NORDVIK")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="dict is not a list of pages"):
            next(client.tag_many(PAGE))  # type: ignore[arg-type]

    async def ask() -> None:
        async with AsyncClient("http://service") as other:
            with pytest.raises(UsageError, match="str is not a page: give a Page, or a dict with title"):
                await other.tag("NORDVIK")  # type: ignore[arg-type]
            with pytest.raises(UsageError, match="str is not a list of pages"):
                await anext(other.tag_many("NORDVIK"))  # type: ignore[arg-type]

    asyncio.run(ask())


def test_the_address_of_a_path_is_answered_with_that_of_the_service() -> None:
    with pytest.raises(UsageError, match=r"Give the address without /v1/tag: http://localhost:8080$"):
        Client("http://localhost:8080/v1/tag")
    Client("http://v1/").close()  # the name of a machine


@pytest.mark.parametrize(
    "option",
    [("--engine", "torch"), ("--device", "cuda"), ("--workers", "2"), ("--canonical-language", "ja")],
    ids=lambda each: each[0],
)
def test_options_that_do_nothing_with_a_service_are_refused(option: tuple[str, str]) -> None:
    done = typed("tag", "--server", "http://127.0.0.1:1", "pages.csv", *option)
    assert (done.returncode, f"{option[0]} does not go with --server" in done.stderr) == (2, True)
