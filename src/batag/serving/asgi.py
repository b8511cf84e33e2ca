"""The service as an ASGI application, for any other server (uvicorn, hypercorn, Ray Serve)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any

from batag.errors import BatagError
from batag.serving.app import App
from batag.serving.request import ClientLeftError, Request, announced_size, cut_short, too_large

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class AsgiApp:
    """An ASGI application. It starts its engines with the server (lifespan) or, without that, with the first request."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._started: asyncio.Task[None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._start()
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    async def _start(self) -> None:
        if self._started is None:
            self._started = asyncio.get_running_loop().create_task(self.app.start())
        try:
            await asyncio.shield(self._started)
        except Exception:
            self._started = None  # the next request tries again
            raise

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self._start()
                except BatagError as error:
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
            else:
                await self.app.stop()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        path = scope["path"].removeprefix(scope.get("root_path", "") or "") or "/"
        request = Request(scope["method"], path, headers.get, None, partial(_left, receive))  # type: ignore[arg-type]
        request.read = partial(_read, receive, request)
        status, own, body = await self.app.handle(request)
        listed = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in own]
        await send({"type": "http.response.start", "status": status, "headers": listed})
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else body})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _read(receive: Receive, request: Request, limit: int) -> bytes:
    size = announced_size(request, limit)
    parts, length = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeftError
        part = message.get("body", b"")
        length += len(part)
        if length > limit:
            raise too_large(limit)
        parts.append(part)
        if not message.get("more_body"):
            break
    if size is not None and length != size:
        raise cut_short(length, size)
    return b"".join(parts)
