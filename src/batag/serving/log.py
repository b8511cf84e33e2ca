"""Structured logs: one JSON object a line, written by a thread of its own, so that neither a full disk nor a reader that sleeps
stops the service. No text of pages and no key ever comes here."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson

_MOST_LINES = 10_000
_PAUSE = 0.1


class Log:
    """Writes lines to standard error or to a file. Lines that cannot be written are counted and dropped."""

    def __init__(self, path: Path | None = None, *, requests: bool = True) -> None:
        self.requests = requests
        self.lost = 0
        self._path = path
        self._lines: deque[bytes] = deque()
        self._wake = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def event(self, event: str, **facts: Any) -> None:
        """Write that something happened."""
        if len(self._lines) >= _MOST_LINES:
            self.lost += 1
            return
        now = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds")
        self._lines.append(orjson.dumps({"time": now, "event": event} | facts))
        self._wake.set()

    def close(self) -> None:
        """Write what is left, for a second at most."""
        self._ending = True
        self._wake.set()
        self._thread.join(1)

    def _run(self) -> None:
        while not self._ending:
            self._wake.wait()
            self._write()
            time.sleep(_PAUSE)  # many lines are written at once
        self._write()

    def _write(self) -> None:
        self._wake.clear()
        lines = []
        while self._lines:
            lines.append(self._lines.popleft())
        if not lines:
            return
        data = b"".join(line + b"\n" for line in lines)
        try:
            if self._path is None:
                _write_all(sys.stderr.buffer, data)
            else:
                with self._path.open("ab", buffering=0) as stream:
                    _write_all(stream, data)
        except (OSError, ValueError):
            self.lost += len(lines)


def _write_all(stream: Any, data: bytes) -> None:
    raw: BinaryIO = getattr(stream, "raw", stream)
    view = memoryview(data)
    while view:
        view = view[raw.write(view) or len(view) :]
