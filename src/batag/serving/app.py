"""The service without a server: which path does what, and what every answer has."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batag.serving.access.guard import Guard
from batag.serving.access.keys import KeyStore
from batag.serving.engines.pool import Pool
from batag.serving.log import Log
from batag.serving.metrics import Metrics
from batag.serving.problem import MEDIA_TYPE, Problem
from batag.serving.request import ClientLeftError, Headers, Reply, Request, drain
from batag.serving.routes import ROUTES, Route, allowed
from batag.serving.static import Files

if TYPE_CHECKING:
    from batag.serving.asgi import AsgiApp

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_ALWAYS: Headers = [
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
]
_GONE = 499
"""The status in logs and metrics of a request whose client has left; nobody sees it."""
Answered = tuple[int, Headers, bytes]


@dataclass(eq=False)
class App:
    """One service: its engines, who may ask, and what it counts."""

    pool: Pool
    guard: Guard
    log: Log
    metrics: Metrics
    files: Files = field(default_factory=Files)
    in_flight: int = 0
    stopping: bool = False
    failed: bool = False
    _handlers: dict[str, Callable[[Request], Awaitable[Reply]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from batag.serving.handlers import handlers

        self._handlers = handlers(self)

    async def start(self) -> None:
        """Start the engines; return when they are ready."""
        began = time.monotonic()
        try:
            await self.pool.start()
        except Exception:
            self.failed = True
            raise
        self.log.event("ready", engines=self.pool.ready, seconds=round(time.monotonic() - began, 3))

    async def stop(self) -> None:
        """End the engines, and write the last line of the log, unless the service never began."""
        self.stopping = True
        await self.pool.stop()
        if not self.failed:
            self.log.event("stopped")
        self.log.close()

    async def handle(self, request: Request) -> Answered:
        """Answer a request, whatever happens."""
        began = time.perf_counter()
        given = request.header("x-request-id")
        request.id = given if given is not None and _ID.fullmatch(given) else os.urandom(8).hex()
        route = ROUTES.get(("GET" if request.method == "HEAD" else request.method, request.path))
        self.in_flight += 1
        kind = ""
        try:
            reply = await self._reply(request, route)
        except Problem as problem:
            kind = problem.kind
            await drain(request)
            reply = Reply(problem.body(request.id), problem.status, MEDIA_TYPE)
            if problem.retry_after is not None:
                reply.headers.append(("retry-after", str(problem.retry_after)))
            if problem.status == 401:
                reply.headers.append(("www-authenticate", "Bearer"))
            if problem.status == 405:
                reply.headers.append(("allow", ", ".join(allowed(request.path))))
        except ClientLeftError:
            self.metrics.dropped.inc()
            reply = Reply(status=_GONE)
        except Exception as error:
            kind = "engine"
            failed = Problem("engine", "the service failed", todo="Report this as a bug, with the request id")
            self.log.event("failed", id=request.id, error=type(error).__name__, at=_place(error))
            reply = Reply(failed.body(request.id), failed.status, MEDIA_TYPE)
        finally:
            self.in_flight -= 1
        self._count(request, route, reply, kind, time.perf_counter() - began)
        headers = [("content-type", reply.media_type), ("x-request-id", request.id), *_ALWAYS, *reply.headers]
        if not reply.cached:
            headers.append(("cache-control", "no-store"))
        return reply.status, headers, reply.body

    async def _reply(self, request: Request, route: Route | None) -> Reply:
        if route is None:
            if request.method in ("GET", "HEAD") and (found := self.files.find(request)) is not None:
                self.guard.check_place(request)
                return found
            if methods := allowed(request.path):
                todo = f"Use {' or '.join(methods)}"
                raise Problem("wrong-method", f"{request.method[:20]} does not work here", where=request.path[:200], todo=todo)
            raise Problem("not-found", "this path does not exist", where=request.path[:200], todo="See /docs")
        if not route.probe:
            self.guard.check(request, route)
            if self.stopping:
                raise Problem("stopping", "the service is stopping", todo="Ask again", retry_after=1)
        return await self._handlers[route.handler](request)

    def _count(self, request: Request, route: Route | None, reply: Reply, kind: str, seconds: float) -> None:
        path = route.path if route is not None else "other"
        self.metrics.answered(path, reply.status, seconds)
        if kind:
            self.metrics.errors.labels(kind).inc()
        if reply.pages:
            self.metrics.pages.inc(reply.pages)
        if self.log.requests and not (route is not None and route.probe):
            facts: dict[str, Any] = {"id": request.id, "method": request.method[:20], "path": path, "status": reply.status}
            facts["ms"] = round(seconds * 1_000, 2)
            if reply.pages:
                facts |= {"pages": reply.pages, "tokens": reply.tokens}
            if request.key:
                facts["key"] = request.key
            if kind:
                facts["problem"] = kind
            self.log.event("request", **facts)


def create_app(
    bundle: Path | str,
    *,
    engines: int = 1,
    engine: str = "auto",
    keys: Path | str | None = None,
    hosts: Iterable[str] | None = None,
    log: Path | str | None = None,
    terms: dict[str, Any] | None = None,
) -> AsgiApp:
    """The service as an ASGI application for other servers. `hosts` are the names that it may be called by (default: those of
    this machine; with keys: any)."""
    from batag.serving.asgi import AsgiApp

    return AsgiApp(build(bundle, engines=engines, engine=engine, keys=keys, hosts=hosts, log=log, terms=terms))


def build(
    bundle: Path | str,
    *,
    engines: int,
    engine: str = "auto",
    keys: Path | str | None = None,
    hosts: Iterable[str] | None = None,
    log: Path | str | None = None,
    terms: dict[str, Any] | None = None,
    batching: bool = True,
    log_requests: bool = True,
) -> App:
    """Put a service together; nothing is started yet."""
    metrics, own_log = Metrics(), Log(None if log is None else Path(log), requests=log_requests)
    pool = Pool(str(bundle), engines, metrics, own_log, engine=engine, terms=terms or {}, batching=batching)
    store = None if keys is None else KeyStore(Path(keys), own_log)
    return App(pool, Guard(store, None if hosts is None else frozenset(each.lower() for each in hosts)), own_log, metrics)


def _place(error: Exception) -> str:
    """The last place of ours in a traceback; never its text."""
    found, trace = "", error.__traceback__
    while trace is not None:
        found, trace = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}", trace.tb_next
    return found
