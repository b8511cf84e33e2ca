"""The services that are measured, each as a process of its own on the two cores, and what is asked of them and seen of them."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CORES = "0,1"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The same for all: NumPy with several threads on busy cores is many times slower."""
FOLDER = Path(__file__).parent
LUA = """
local requests, number = {}, 0
wrk.method, wrk.headers["Content-Type"] = "POST", "application/json"
function init()
  for line in io.lines(os.getenv("BODIES")) do requests[#requests + 1] = wrk.format(nil, "/v1/tag", nil, line) end
  number = math.random(#requests)
end
function request() number = number % #requests + 1; return requests[number] end
"""


@contextmanager
def service(command: Sequence[str], port: int, **environment: str) -> Iterator[tuple[int, float]]:
    """A service on the two cores: its process id, and the seconds until it was ready."""
    began = time.monotonic()
    own = os.environ | {"BATAG_SERVE_CACHE_TOKENS": "1"} | environment
    process = subprocess.Popen(["taskset", "-c", CORES, *command], env=own, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        while True:
            try:
                link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                link.request("GET", "/readyz")
                if link.getresponse().status == 200:
                    break
            except OSError:
                pass
            if process.poll() is not None or time.monotonic() > began + 120:
                raise SystemExit(f"{' '.join(command)} did not start")
            time.sleep(0.01)
        yield process.pid, time.monotonic() - began
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def ours(bundle: str, port: int, engines: int = 2) -> list[str]:
    """The command of our service."""
    how = ["--port", str(port), "--engines", str(engines), "--no-log-requests", "--log", os.devnull]
    return [sys.executable, "-m", "batag", "serve", bundle, *how]


def plain(port: int, *, spacy: bool = False) -> list[str]:
    """The command of the plain service with the same bundle, or with spaCy."""
    own = ["--app-dir", str(FOLDER), "--workers", "2", "--port", str(port), "--no-access-log", "--log-level", "error"]
    return [sys.executable, "-m", "uvicorn", "plain_service:app" if not spacy else "spacy_service:app", *own]


def wrk(port: int, file: Path, *, clients: int, seconds: float) -> dict[str, float]:
    """Requests a second that were answered 200, and latencies of all, in a closed loop."""
    script = file.with_suffix(".lua")
    script.write_text(LUA, encoding="utf-8")
    command = ["taskset", "-c", CORES, "wrk", "-t1", f"-c{clients}", f"-d{int(seconds)}s", "--latency", "--timeout", "60s"]
    command += ["-s", str(script), f"http://127.0.0.1:{port}"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"BODIES": str(file)}).stdout
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    number = int(re.findall(r"(\d+) requests in", text)[0])
    good = 1 - (int(bad[1]) if bad else 0) / max(number, 1)
    return {
        "rate": good * float(re.findall(r"Requests/sec:\s+([\d.]+)", text)[0]),
        "p50_ms": _ms(re.findall(r"^ +50% +(\S+)", text, re.MULTILINE)[0]),
        "p99_ms": _ms(re.findall(r"^ +99% +(\S+)", text, re.MULTILINE)[0]),
        "bad": (int(bad[1]) if bad else 0) + (sum(map(int, errors.groups())) if errors else 0),
    }


def _ms(text: str) -> float:
    number, unit = re.findall(r"([\d.]+)(us|ms|s|m)", text)[0]
    return float(number) * {"us": 0.001, "ms": 1, "s": 1_000, "m": 60_000}[unit]


def free_port() -> int:
    """A port that nobody listens to."""
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))
        return int(link.getsockname()[1])


def pss(pid: int) -> list[float]:
    """The proportional set size in MB of a process and of all below it, it first, then those that loaded a bundle."""
    found, pids = [], [pid]
    for each in pids:
        pids += map(int, Path(f"/proc/{each}/task/{each}/children").read_text(encoding="utf-8").split())
        text = Path(f"/proc/{each}/smaps_rollup").read_text(encoding="utf-8")
        found.append(round(int(re.findall(r"^Pss:\s+(\d+)", text, re.MULTILINE)[0]) / 1024, 1))
    return found
