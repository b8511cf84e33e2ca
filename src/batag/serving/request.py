"""A request and a reply, whatever server they come through."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from batag.serving.problem import Problem

Headers = list[tuple[str, str]]
JSON = "application/json"
_DRAINED_BYTES, _DRAIN_SECONDS = 65_536, 1.0


@dataclass(slots=True)
class Request:
    """A request. `header` gives the value of a header by its name in small letters, `read` the body up to a limit, and `left`
    returns when the client has left."""

    method: str
    path: str
    header: Callable[[str], str | None]
    read: Callable[[int], Awaitable[bytes]]
    left: Callable[[], Awaitable[None]]
    id: str = ""
    key: str = ""
    is_read: bool = False


@dataclass(slots=True)
class Reply:
    """A reply; `headers` are those beside what every reply has, `cached` says that a browser may keep it."""

    body: bytes = b""
    status: int = 200
    media_type: str = JSON
    headers: Headers = field(default_factory=list)
    pages: int = 0
    tokens: int = 0
    cached: bool = False


class ClientLeftError(Exception):
    """The client has closed the connection, and nobody needs the answer."""


def announced_size(request: Request, limit: int) -> int | None:
    """The size that a body is announced with, None if it is not; one over the limit is refused before it is read."""
    announced = request.header("content-length")
    if announced is None:
        return None
    if not announced.isdecimal():
        raise Problem("bad-request", "Content-Length is not a number", where="Content-Length")
    size = int(announced) if len(announced) < 20 else limit + 1
    if size > limit:
        raise too_large(limit)
    return size


async def drain(request: Request) -> None:
    """Read a small body that nobody has read: a server that answers before closes the connection, often unexpectedly."""
    announced = request.header("content-length") or ""
    if not request.is_read and announced.isdecimal() and 0 < int(announced[:9]) <= _DRAINED_BYTES:
        with suppress(Problem, ClientLeftError, TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await request.read(_DRAINED_BYTES)


def too_large(limit: int) -> Problem:
    """The answer to a body over the limit."""
    return Problem("too-large", f"the body has more than {limit:,} bytes", where="body", todo="Send fewer pages a request")


def cut_short(got: int, announced: int) -> Problem:
    """The answer to a body that ended before its announced size."""
    return Problem("bad-request", f"the body ended after {got:,} of {announced:,} bytes", where="body")


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Problem("bad-json", str(error)[:200], where="body", todo="Send one JSON object in UTF-8") from None
    if type(found) is not dict:
        raise Problem("wrong-type", "the body is not an object", where="body", todo="Send one JSON object")
    return found
