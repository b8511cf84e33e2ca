"""Two replicas of the service under Ray Serve, one of which is killed under load; run by test_app.py."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import ray
from ray import serve

from batag.serving import create_app

NAME = f"tags{os.getpid()}"
URL = "http://127.0.0.1:8765"
PAGE = {"title": "NORDVIK waterproof hiking boots"}


def main(bundle: str) -> None:
    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False)
    serve.start(http_options={"host": "127.0.0.1", "port": 8765})

    @serve.deployment(num_replicas=2, max_ongoing_requests=64, ray_actor_options={"num_cpus": 0.5})
    @serve.ingress(lambda: create_app(bundle, engines=1))
    class Tags:
        pass

    serve.run(Tags.bind(), name=NAME)  # type: ignore[attr-defined]
    with httpx.Client(base_url=URL, timeout=60, trust_env=False) as client:
        assert client.get("/readyz").json()["ready"] is True
        assert client.post("/v1/tag", json={"page": PAGE}).json()["pages"][0]["tags"]
        replicas = _replicas()
        assert len(replicas) == 2, replicas
        statuses: list[int] = []
        ended = threading.Event()

        def ask() -> None:
            with httpx.Client(base_url=URL, timeout=60, trust_env=False) as own:
                while not ended.is_set():
                    statuses.append(own.post("/v1/tag", json={"page": PAGE}).status_code)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for each in threads:
            each.start()
        time.sleep(1)
        os.kill(min(replicas), signal.SIGKILL)
        limit = time.monotonic() + 120
        while (len(now := _replicas()) < 2 or min(replicas) in now) and time.monotonic() < limit:
            time.sleep(0.5)
        assert min(replicas) not in now, now
        assert len(now) == 2, now
        before = len(statuses)
        while len(statuses) < before + 50 and time.monotonic() < limit:
            time.sleep(0.1)
        ended.set()
        for each in threads:
            each.join()
    good, late = statuses.count(200), statuses[before:]
    assert late, "nothing was answered after the replica was replaced"
    assert {*late} == {200}
    print(f"replaced; {good} of {len(statuses)} requests answered, the others {sorted({*statuses} - {200})}")
    serve.shutdown()
    ray.shutdown()


def _replicas() -> set[int]:
    """The process ids of the replicas, by the titles that Ray gives them."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes().startswith(f"ray::ServeReplica:{NAME}:".encode()):
                found.add(int(path.parent.name))
    return found


main(sys.argv[1])
