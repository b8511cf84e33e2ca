"""What happens behind each path."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from batag.serving.engines.queue import Answer, Item, Queue, estimated_tokens, full
from batag.serving.openapi import document
from batag.serving.problem import Problem
from batag.serving.request import JSON, ClientLeftError, Reply, Request, announced_size
from batag.settings import settings

if TYPE_CHECKING:
    from batag.serving.app import App

Handler = Callable[[Request], Awaitable[Reply]]
_WATCH_AFTER = 0.1
"""Most answers are there after 100 ms; only then is it worth while to watch whether the client leaves."""
_READY_SECONDS = 5
_READY_TOKENS = 8


def handlers(app: App) -> dict[str, Handler]:
    """The handlers by name."""
    kinds: dict[str, Handler] = {kind: partial(_engine, app, kind) for kind in ("tag", "explain", "keywords", "terms")}
    own = {
        "models": _models,
        "reload": _reload,
        "session": _session,
        "begin_session": _begin_session,
        "end_session": _end_session,
        "alive": _alive,
        "ready": _ready,
        "metrics": _metrics,
        "openapi": _openapi,
    }
    return kinds | {name: partial(handler, app) for name, handler in own.items()}


async def _engine(app: App, kind: str, request: Request) -> Reply:
    """A request that an engine answers."""
    check_media_type(request)
    queue = app.pool.queue
    size = announced_size(request, settings.serve_body_bytes)
    if size is not None and not queue.room_for(estimated_tokens(size)):
        raise full(queue.tokens, queue.limit)
    body = await read_body(request)
    loop = asyncio.get_running_loop()
    item = Item(kind, body, estimated_tokens(len(body)), time.monotonic() + settings.serve_seconds, loop.create_future())
    app.pool.put(item)
    answer = await _answer(queue, item, request)
    if answer.problem is not None:
        raise answer.problem
    return Reply(answer.body, pages=answer.pages, tokens=answer.tokens)


async def read_body(request: Request) -> bytes:
    """The body, if it arrives in time."""
    request.is_read = True
    try:
        async with asyncio.timeout(settings.serve_body_seconds):
            return await request.read(settings.serve_body_bytes)
    except TimeoutError:
        detail = f"the body did not arrive within {settings.serve_body_seconds} s"
        raise Problem("slow-client", detail, where="body") from None


def check_media_type(request: Request) -> None:
    """Refuse a body that is not announced as JSON: a form of another website cannot announce it so."""
    announced = request.header("content-type")
    if announced != JSON and (announced or "").partition(";")[0].strip().lower() != JSON:
        todo = f"Send the header Content-Type: {JSON}"
        raise Problem("not-json", "the body is not announced as JSON", where="Content-Type", todo=todo)


async def _answer(queue: Queue, item: Item, request: Request) -> Answer:
    """Wait for the answer, the deadline, or until the client leaves."""
    watch = _Watch(queue, item, request)
    try:
        return await item.answer
    finally:
        watch.end()


class _Watch:
    """Watches a request that takes longer than most: whether its client leaves, and its deadline."""

    __slots__ = ("_item", "_left", "_queue", "_request", "_timer")

    def __init__(self, queue: Queue, item: Item, request: Request) -> None:
        self._queue, self._item, self._request = queue, item, request
        self._left: asyncio.Future[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(_WATCH_AFTER, self._begin)

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        late = Problem("late", f"no answer within {settings.serve_seconds} s", todo="Send fewer pages a request")
        self._timer = loop.call_at(loop.time() + self._item.deadline - time.monotonic(), self._give_up, late)
        self._left = asyncio.ensure_future(self._request.left())
        self._left.add_done_callback(self._on_left)

    def _on_left(self, done: asyncio.Future[None]) -> None:
        if not done.cancelled():
            self._give_up(ClientLeftError())

    def _give_up(self, why: Exception) -> None:
        self._queue.drop(self._item)
        if not self._item.answer.done():
            self._item.answer.set_exception(why)

    def end(self) -> None:
        """Stop watching."""
        self._timer.cancel()
        if self._left is not None:
            # granian's future keeps the task, out of the garbage collector's sight: the task must not keep the request.
            self._left.remove_done_callback(self._on_left)
            self._left.cancel()
            self._left = None
        self._queue.drop(self._item)


async def _models(app: App, request: Request) -> Reply:
    if (model := app.pool.model) is None:
        raise Problem("not-ready", "no engine is ready", todo="Ask again", retry_after=1)
    limits = {
        "pages": settings.serve_pages,
        "page_characters": settings.serve_page_characters,
        "body_bytes": settings.serve_body_bytes,
        "explain_tokens": settings.serve_explain_tokens,
    }
    return _json({"models": [model | {"engines": app.pool.ready, "limits": limits}]})


async def _reload(app: App, request: Request) -> Reply:
    return _json(await app.pool.reload())


async def _session(app: App, request: Request) -> Reply:
    return _json(app.guard.session(request))


async def _begin_session(app: App, request: Request) -> Reply:
    check_media_type(request)
    body, cookie = app.guard.begin_session(request, await read_body(request))
    return _json(body, [("set-cookie", cookie)] if cookie else [])


async def _end_session(app: App, request: Request) -> Reply:
    return _json({"open": app.guard.is_open, "scopes": [], "csrf": None}, [("set-cookie", app.guard.no_cookie())])


async def _alive(app: App, request: Request) -> Reply:
    return _json({"alive": True})


async def _ready(app: App, request: Request) -> Reply:
    """An engine tags a page now; it goes before what is waiting, so that a full queue is not taken for a dead service."""
    if app.stopping:
        raise Problem("stopping", "the service is stopping")
    if not app.pool.ready:
        raise Problem("not-ready", "no engine is ready", retry_after=1)
    item = Item("ready", b"", _READY_TOKENS, time.monotonic() + _READY_SECONDS, asyncio.get_running_loop().create_future())
    app.pool.put(item, first=True)
    try:
        async with asyncio.timeout(_READY_SECONDS):
            answer = await item.answer
    except TimeoutError:
        raise Problem("not-ready", f"no engine tagged a page within {_READY_SECONDS} s", retry_after=1) from None
    finally:
        app.pool.queue.drop(item)
    if answer.problem is not None:
        raise Problem("not-ready", answer.problem.detail, retry_after=1)
    return _json({"ready": True, "engines": app.pool.ready})


async def _metrics(app: App, request: Request) -> Reply:
    queue, metrics = app.pool.queue, app.metrics
    metrics.queue_tokens.set(queue.tokens)
    metrics.queue_fill.set(min(queue.tokens / queue.limit, 1.0))
    metrics.engines.set(app.pool.ready)
    metrics.in_flight.set(app.in_flight)
    metrics.lost_log_lines.set(app.log.lost)
    return Reply(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _openapi(app: App, request: Request) -> Reply:
    model = app.pool.model or {"labels": [], "dial": True}
    return _json(document(model["labels"], has_dial=model["dial"], has_keys=not app.guard.is_open))


def _json(found: dict[str, Any], headers: list[tuple[str, str]] | None = None) -> Reply:
    return Reply(orjson.dumps(found), headers=headers or [])
