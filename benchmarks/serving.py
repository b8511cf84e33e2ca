"""Measure `batag serve` beside the same bundle behind plain FastAPI: rates, latencies, overload, reloads, memory.

    python benchmarks/serving.py starter --out serving.json          (needs wrk: apt install wrk; pip install 'batag[bench]')

Everything runs on two cores, the load generator included. What is compared runs in turn, round by round. No answer is
remembered from one request to the next, but what is known of a word is.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

from peers import open_loop
from peers.services import CORES, FOLDER, ONE_THREAD, free_port, ours, plain, pss, service, wrk
from peers.verdict import AT_ONCE, verdict
from place import new_file

from batag.sample.catalogue import LANGUAGES, sample_pages
from batag.tagging.tagger import Tagger

KINDS = ("titles", "pages", "32 pages")
SEED = 1
PAGES = 1_000
"""Pages of each language."""
WARM = 8
"""Seconds of each kind before anything is measured: services that run have seen most words before."""


def bodies(kind: str, number: int) -> list[bytes]:
    """Requests of one kind: a title, a whole page, or 32 whole pages; no page comes twice."""
    own = [sample_pages(language, pages=number, seed=SEED) for language in LANGUAGES]
    texts = [dict(page.fields) for row in zip(*own, strict=False) for page in row]
    if kind == "titles":
        texts = [{"title": each["title"]} for each in texts]
    numbered = [{name: f"{text} {row}" for name, text in each.items()} for row, each in enumerate(texts)]
    if kind == "32 pages":
        return [
            json.dumps({"pages": numbered[start : start + 32]}, ensure_ascii=False).encode()
            for start in range(0, len(numbered) - 31, 32)
        ]
    return [json.dumps({"page": each}, ensure_ascii=False).encode() for each in numbered]


def _offline(bundle: str, core: int, file: str, seconds: float, out: Any) -> None:
    os.sched_setaffinity(0, {core})
    tagger = Tagger.load(bundle, device="cpu", threads=1)
    pages = [page for body in Path(file).read_bytes().splitlines() for page in json.loads(body)["pages"]]
    warm = time.monotonic() + seconds  # a service has seen the words before, too
    while time.monotonic() < warm:
        list(tagger.tag_many(pages[:2_048]))
    began, number = time.monotonic(), 0
    while time.monotonic() < began + seconds:
        start = number % (len(pages) - 512)
        for tags in tagger.tag_many(pages[start : start + 512]):
            json.dumps([tag.to_dict() for tag in tags])
        number += 512
    out.put(number / (time.monotonic() - began))


def offline(bundle: str, file: Path, seconds: float) -> float:
    """Pages a second of two processes that tag without a service and write the tags as JSON."""
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    both = [
        context.Process(target=_offline, args=(bundle, core, str(file), seconds, out)) for core in map(int, CORES.split(","))
    ]
    for each in both:
        each.start()
    rate = sum(out.get() for _ in both)
    for each in both:
        each.join()
    return float(rate)


def lone(bundle: str, port: int, asked: list[bytes], number: int = 600) -> dict[str, float]:
    """The median milliseconds of one request at a time, and of `Tagger.tag` on the same pages, in turn."""
    tagger = Tagger.load(bundle, device="cpu", threads=1)
    link = http.client.HTTPConnection("127.0.0.1", port)
    through, direct = [], []
    for body in asked[:number]:
        began = time.perf_counter()
        link.request("POST", "/v1/tag", body, {"Content-Type": "application/json"})
        link.getresponse().read()
        through.append(time.perf_counter() - began)
        page = json.loads(body)["page"]
        began = time.perf_counter()
        tagger.tag(page)
        direct.append(time.perf_counter() - began)
    found = {"service": statistics.median(through) * 1_000, "tagger": statistics.median(direct) * 1_000}
    return found | {"over": found["service"] - found["tagger"]}


def steady(port: int, pid: int, asked: list[bytes], *, rate: float, seconds: float) -> dict[str, Any]:
    """A load that arrives at a fixed rate: what was answered, how fast, and the memory before and after."""
    before = pss(pid)
    found = open_loop.run(port, asked, rate=rate, seconds=seconds)
    return {
        "offered": rate,
        "goodput": found.statuses[200] / found.elapsed,
        "p50_ms": found.quantile(0.5) * 1_000,
        "p99_ms": found.quantile(0.99) * 1_000,
        "statuses": {str(status): number for status, number in found.statuses.items()},
        "pss_before": before,
        "pss_after": pss(pid),
    }


def overload(port: int, pid: int, asked: list[bytes], capacity: float, seconds: float) -> dict[str, Any]:
    """Ten times the capacity, by requests of 32 pages, after a load of 100 % and before one of 70 %."""
    shares = {"100 %": 1.0, "1,000 %": 10.0, "70 % after it": 0.7}
    return {name: steady(port, pid, asked, rate=capacity * share, seconds=seconds) for name, share in shares.items()}


def reloads(port: int, pid: int, file: Path, number: int) -> dict[str, Any]:
    """Reload again and again under the load of eight clients."""
    before = pss(pid)
    command = [sys.executable, str(FOLDER / "eight_clients.py"), str(port), str(file)]
    load = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    link, statuses = http.client.HTTPConnection("127.0.0.1", port, timeout=120), []
    for _ in range(number):
        link.request("POST", "/v1/models/reload", headers={"Content-Type": "application/json"})
        answer = link.getresponse()
        answer.read()
        statuses.append(answer.status)
    load.send_signal(signal.SIGINT)
    outcome = json.loads(load.communicate()[0])
    time.sleep(3)
    own = {"reloads": number, "done": statuses.count(200), "statuses": outcome}
    return own | {"pss_before": before, "pss_after": pss(pid)}


def ready(bundle: str, times: int) -> list[float]:
    """Seconds from the command to the first answer of `/readyz`, several times."""
    found = []
    for _ in range(times):
        port = free_port()
        with service(ours(bundle, port), port) as (_, seconds):
            found.append(round(seconds, 2))
    return found


def measure(bundle: str, given: argparse.Namespace) -> dict[str, Any]:
    """Everything, in one run."""
    found: dict[str, Any] = {"bundle": bundle, "seed": SEED, "seconds": given.seconds, "rounds": given.rounds, "rates": []}
    kinds = {kind: bodies(kind, PAGES) for kind in KINDS}
    found["ready_seconds"] = ready(bundle, 5)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_services:
        files = {kind: Path(folder) / f"{kind.replace(' ', '-')}.jsonl" for kind in kinds}
        for kind, asked in kinds.items():
            files[kind].write_bytes(b"\n".join(asked) + b"\n")
        ports = [free_port() for _ in range(4)]
        pid, _ = open_services.enter_context(service(ours(bundle, ports[0]), ports[0]))
        found["pss_at_start"] = pss(pid)
        off = service(ours(bundle, ports[1]), ports[1], BATAG_SERVE_BATCH_TOKENS="1")
        open_services.enter_context(off)
        open_services.enter_context(service(plain(ports[2]), ports[2], BUNDLE=bundle))
        open_services.enter_context(service(plain(ports[3], spacy=True), ports[3]))
        named = dict(zip(("batag", "batag, batching off", "FastAPI + uvicorn", "spaCy + FastAPI"), ports, strict=True))

        def rate(name: str, kind: str, clients: int, turn: int) -> None:
            row = {"service": name, "kind": kind, "clients": clients, "round": turn}
            if name == "offline":
                row["rate"] = offline(bundle, files[kind], given.seconds) / 32
            else:
                row |= wrk(named[name], files[kind], clients=clients, seconds=given.seconds)
            found["rates"].append(row)
            print(json.dumps(row), file=sys.stderr)

        for name, kind in product(named, ("titles", "pages")):
            wrk(named[name], files[kind], clients=16, seconds=WARM)
        for turn in range(given.rounds):
            for kind in KINDS:
                for name in [*named, *(["offline"] if kind == "32 pages" else [])]:
                    rate(name, kind, AT_ONCE[kind], turn)
        for clients in given.clients:
            for kind in ("titles", "pages"):
                for name in ("batag", "FastAPI + uvicorn"):
                    rate(name, kind, clients, 0)
        port = ports[0]
        found["lone_ms"] = {kind: lone(bundle, port, kinds[kind]) for kind in ("titles", "pages")}
        capacity = {kind: _median(found, kind) for kind in KINDS}
        found["at_70"] = steady(port, pid, kinds["titles"], rate=0.7 * capacity["titles"], seconds=given.seconds * 3)
        found["overload"] = overload(port, pid, kinds["32 pages"], capacity["32 pages"], given.seconds * 3)
        found["reloads"] = reloads(port, pid, files["titles"], given.reloads)
        open_loop.run(port, kinds["pages"], rate=0.5 * capacity["pages"], seconds=given.steady / 5)  # caches fill
        found["steady"] = steady(port, pid, kinds["pages"], rate=0.5 * capacity["pages"], seconds=given.steady)
        found["pss_at_end"] = pss(pid)
    return found


def _median(found: dict[str, Any], kind: str) -> float:
    rows = [row for row in found["rates"] if (row["service"], row["kind"], row["clients"]) == ("batag", kind, AT_ONCE[kind])]
    return statistics.median(row["rate"] for row in rows)


def main() -> None:
    """Parse, measure, write."""
    if not {*ONE_THREAD} <= {*os.environ}:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bundle")
    parser.add_argument("--out", type=new_file, required=True)
    parser.add_argument("--seconds", type=float, default=5.0, help="of a round; open loops take three times as long")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 256], help="further numbers of clients")
    parser.add_argument("--reloads", type=int, default=100)
    parser.add_argument("--steady", type=float, default=600.0, help="seconds of a steady load at the end")
    given = parser.parse_args()
    found = measure(given.bundle, given)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(verdict(found))


if __name__ == "__main__":
    main()
