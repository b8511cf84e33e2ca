"""One engine process as the front sees it: started, ready, with at most two batches, and gone when its link closes."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from typing import Any, Protocol, cast

from batag.errors import InputError
from batag.serving.engines.link import Unpacker, pack
from batag.serving.engines.queue import Answer, Item
from batag.serving.problem import Problem

_MODULE = "batag.serving.engines.worker"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Watcher(Protocol):
    """What the pool wants to know of an engine."""

    def on_room(self, engine: EngineProcess) -> None: ...
    def on_gone(self, engine: EngineProcess) -> None: ...
    def on_batch(self, tokens: int, items: int, seconds: float, stats: dict[str, int]) -> None: ...


class EngineProcess(asyncio.Protocol):
    """A process that tags. `batches` are those that it has been given and not answered."""

    def __init__(self, watcher: Watcher, options: dict[str, Any]) -> None:
        self.watcher, self.options = watcher, options
        self.batches: dict[int, list[Item]] = {}
        self.began: dict[int, float] = {}
        self.model: dict[str, Any] = {}
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ready.add_done_callback(lambda done: done.cancelled() or done.exception())  # the pool may not be asking
        self.retiring = False
        self._unpacker = Unpacker()
        self._numbers = 0
        self._transport: asyncio.Transport | None = None
        self.process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start the process; `ready` is done when it has tagged its first page, or has failed."""
        ours, theirs = socket.socketpair()
        try:
            command = [sys.executable, "-P", "-m", _MODULE, str(theirs.fileno()), str(os.getpid())]
            self.process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=os.environ | _python_path() | _ONE_THREAD
            )
        finally:
            theirs.close()
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: self, sock=ours)
        assert self._transport is not None
        self._transport.write(pack(self.options))

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
        if self.process is not None:
            self.process.kill()

    async def gone(self) -> int | None:
        """Wait until the process has ended; one that does not is killed."""
        if self.process is None:
            return None
        for _ in range(100):
            if (code := self.process.poll()) is not None:
                return code
            await asyncio.sleep(0.02)
        self.process.kill()
        return await asyncio.get_running_loop().run_in_executor(None, self.process.wait)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's has no such base
        self._transport.set_write_buffer_limits(high=1 << 24)

    def data_received(self, data: bytes) -> None:
        for head, bodies in self._unpacker.feed(data):
            if "batch" in head:
                self._answered(head, bodies)
            elif "ready" in head:
                self.model = head["ready"]
                if not self.ready.done():
                    self.ready.set_result(None)
                self.watcher.on_room(self)
            elif not self.ready.done():
                what, where, todo = head["failed"]
                self.ready.set_exception(InputError(what, where=where, todo=todo))

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
        if not self.ready.done():
            code = None if self.process is None else self.process.poll()
            self.ready.set_exception(InputError(f"the engine ended while it was starting (exit code {code})"))
        self.watcher.on_gone(self)


def _python_path() -> dict[str, str]:
    """The child finds the same modules, wherever this process found them."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
