"""One engine process as the front sees it: started, ready, with at most two batches, and gone when its link closes."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from typing import Any, Protocol, cast

from batag.errors import InputError
from batag.serving.engines.link import Unpacker, pack
from batag.serving.engines.loader import Loader
from batag.serving.engines.queue import Answer, Item
from batag.serving.problem import Problem


class Watcher(Protocol):
    """What the pool wants to know of an engine."""

    def on_room(self, engine: EngineProcess) -> None: ...
    def on_gone(self, engine: EngineProcess) -> None: ...
    def on_batch(self, tokens: int, items: int, seconds: float, stats: dict[str, int]) -> None: ...


class EngineProcess(asyncio.Protocol):
    """A process that tags. `batches` are those that it has been given and not answered."""

    def __init__(self, watcher: Watcher, loader: Loader) -> None:
        self.watcher, self.loader = watcher, loader
        self.batches: dict[int, list[Item]] = {}
        self.began: dict[int, float] = {}
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ready.add_done_callback(lambda done: done.cancelled() or done.exception())  # the pool may not be asking
        self.gone = asyncio.Event()
        self.retiring = False
        self._unpacker = Unpacker()
        self._numbers = 0
        self._pid = 0
        self._transport: asyncio.Transport | None = None

    async def start(self) -> None:
        """Start the process; `ready` is done when it takes batches, or has failed. `gone` is set when its link closes."""
        link = self.loader.fork()
        await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=link)

    @property
    def is_ready(self) -> bool:
        """Whether it takes batches."""
        return (
            self.ready.done() and not self.ready.cancelled() and self.ready.exception() is None and self._transport is not None
        )

    def give(self, items: list[Item]) -> None:
        """Give it a batch."""
        assert self._transport is not None
        self._numbers += 1
        self.batches[self._numbers], self.began[self._numbers] = items, time.monotonic()
        head = {
            "batch": self._numbers,
            "kinds": [item.kind for item in items],
            "deadlines": [item.deadline for item in items],
        }
        self._transport.write(pack(head, [item.body for item in items]))

    def retire(self) -> None:
        """Let it finish what it has, and end it."""
        self.retiring = True
        if not self.batches:
            self.close()

    def close(self) -> None:
        """End it: it leaves by itself when the link closes."""
        if self._transport is not None:
            self._transport.close()

    def kill(self) -> None:
        """End it at once, if it does not answer."""
        if self._transport is not None and self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's has no such base
        self._transport.set_write_buffer_limits(high=1 << 24)

    def data_received(self, data: bytes) -> None:
        for head, bodies in self._unpacker.feed(data):
            if "batch" in head:
                self._answered(head, bodies)
            elif not self.ready.done():
                self._pid = head["ready"]
                self.ready.set_result(None)
                self.watcher.on_room(self)

    def _answered(self, head: dict[str, Any], bodies: list[bytes]) -> None:
        items = self.batches.pop(head["batch"])
        del self.began[head["batch"]]
        if self.retiring and not self.batches:
            self.close()
        # The next batch is on its way before anybody reads the answers of this one.
        self.watcher.on_room(self)
        problems, counts = head["problems"], head["counts"]
        for number, (item, body) in enumerate(zip(items, bodies, strict=True)):
            item.body = b""
            if not item.answer.done():
                told = problems.get(str(number)) if problems else None
                problem = None if told is None else Problem(told[0], told[1], where=told[2], todo=told[3])
                item.answer.set_result(Answer(body, problem, *counts[number]))
        self.watcher.on_batch(sum(each[1] for each in counts), len(items), head["seconds"], head["stats"])

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self.gone.set()
        if not self.ready.done():
            self.ready.set_exception(InputError("the engine ended while it was starting"))
        self.watcher.on_gone(self)
