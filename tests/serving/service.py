"""A service as a person starts it, in a process of its own, for tests."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.processes import PATIENCE, started

BUNDLE = Path(__file__).parents[1] / "bundles" / "format-1"
PAGE = {"title": "NORDVIK waterproof hiking boots", "description": "NORDVIK 防水登山鞋，輕量"}


@dataclass
class Service:
    """A running service: its address, process and log."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path
    client: httpx.Client

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return self.client.post(path, json=body, **options)

    def tag(self, page: Any = PAGE, **options: Any) -> httpx.Response:
        return self.post("/v1/tag", {"page": page, **options})

    def engines(self) -> list[int]:
        """The process ids of the engines: the children of the processes that loaded their bundle."""
        return [engine for loader in self.loaders() for engine in _children(loader)]

    def loaders(self) -> list[int]:
        """The process ids of those that loaded a bundle."""
        return _children(self.process.pid)

    def events(self) -> list[dict[str, Any]]:
        """The lines of the log so far."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        lines = self.client.get("/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if re.match(rf"{name}[ {{]", line))

    def stop(self) -> int:
        """Tell it to stop, and return the code that it ends with."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []  # it has just ended


@contextmanager
def serving(folder: Path, *options: object, bundle: Path = BUNDLE, **environment: str) -> Iterator[Service]:
    """A service with these options, ready to answer."""
    log = folder / "log.jsonl"
    command = [sys.executable, "-m", "batag", "serve", str(bundle), "--port", "0", "--log", str(log), *map(str, options)]
    with started(command, env=os.environ | environment) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        found = re.search(r"http://\S+", line)
        assert found is not None, line + process.stderr.read().decode()
        url = found[0].replace("0.0.0.0", "127.0.0.1")
        with httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False) as client:
            yield Service(url, process, log, client)
