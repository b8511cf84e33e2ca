"""The service behind granian, through its own interface: in our measurement (benchmarks/serving.py) the fastest one."""

from __future__ import annotations

from functools import partial
from typing import Any

from batag.serving.app import App
from batag.serving.request import Request, announced_size, cut_short, too_large


class RsgiApp:
    """An RSGI application."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        request = Request(scope.method, scope.path, scope.headers.get, None, protocol.client_disconnect)  # type: ignore[arg-type]
        request.read = partial(_read, protocol, request)
        status, headers, body = await self.app.handle(request)
        if request.method == "HEAD":
            protocol.response_empty(status, headers)
        else:
            protocol.response_bytes(status, headers, body)


async def _read(protocol: Any, request: Request, limit: int) -> bytes:
    size = announced_size(request, limit)
    if size is not None:
        body: bytes = await protocol()
        if len(body) != size:
            raise cut_short(len(body), size)
        return body
    parts, length = [], 0
    async for part in protocol:
        length += len(part)
        if length > limit:
            raise too_large(limit)
        parts.append(part)
    return b"".join(parts)
