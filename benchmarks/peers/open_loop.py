"""An open-loop load generator: requests leave at a fixed rate, whether or not the answers come."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

_LATEST = 60.0


@dataclass
class Outcome:
    """What came back: numbers by status (0 is no answer), and the seconds of those with 200."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    elapsed: float = 0.0
    """Until the last answer with 200, or as long as requests were sent."""
    last: float = 0.0

    def quantile(self, share: float) -> float:
        """A quantile of the seconds."""
        ordered = sorted(self.seconds)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


def run(port: int, bodies: Sequence[bytes], *, rate: float, seconds: float, connections: int = 400) -> Outcome:
    """Send so many requests a second."""
    return asyncio.run(_run(port, bodies, rate, seconds, connections))


async def _run(port: int, bodies: Sequence[bytes], rate: float, seconds: float, connections: int) -> Outcome:
    outcome = Outcome()
    free: asyncio.LifoQueue[tuple[asyncio.StreamReader, asyncio.StreamWriter] | None] = asyncio.LifoQueue()
    for _ in range(connections):
        free.put_nowait(None)
    cycle = itertools.cycle([_request(body) for body in bodies])
    began, tasks = time.monotonic(), set()
    number = 0
    while (now := time.monotonic()) < began + seconds:
        while number < (now - began) * rate:
            task = asyncio.create_task(_one(port, next(cycle), free, outcome, began + number / rate))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            number += 1
        await asyncio.sleep(0.001)
    if tasks:
        await asyncio.wait(tasks, timeout=_LATEST)
    outcome.elapsed = max(outcome.last - began, seconds)
    return outcome


def _request(body: bytes) -> bytes:
    head = f"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _one(port: int, request: bytes, free: asyncio.LifoQueue[object], outcome: Outcome, due: float) -> None:
    """Time counts from when the request was due, not from when it could be sent."""
    link = await free.get()
    status = 0
    try:
        try:
            link, head = await _asked(port, link, request)
        except (OSError, asyncio.IncompleteReadError):
            if link is None:
                raise
            link, head = await _asked(port, None, request)  # a connection that was idle for long may be closed
        reader, _ = link  # type: ignore[misc]
        status = int(head[9:12])
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(int(lengths[0].split(b":")[1]))
    except (OSError, asyncio.IncompleteReadError):
        link = None
    outcome.statuses[status] += 1
    if status == 200:
        outcome.last = time.monotonic()
        outcome.seconds.append(outcome.last - due)
    free.put_nowait(link)


async def _asked(port: int, link: object, request: bytes) -> tuple[object, bytes]:
    """Send a request over a connection, or a new one; returns the connection and the head of the answer."""
    reader, writer = link or await asyncio.open_connection("127.0.0.1", port)  # type: ignore[misc]
    writer.write(request)
    return (reader, writer), await reader.readuntil(b"\r\n\r\n")
