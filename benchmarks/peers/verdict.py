"""What a run of benchmarks/serving.py found, as Markdown: the rates, and each target beside what was measured."""

from __future__ import annotations

import statistics
from typing import Any

PLAIN, OFF = "FastAPI + uvicorn", "batag, batching off"
AT_ONCE = {"titles": 64, "pages": 64, "32 pages": 6}
"""Clients; more of 32 pages would be refused, because the queue is full."""


def _rounds(found: dict[str, Any], service: str, kind: str, what: str = "rate") -> list[float]:
    rows = [row for row in found["rates"] if (row["service"], row["kind"], row["clients"]) == (service, kind, AT_ONCE[kind])]
    return [row[what] for row in rows]


def _ratio(found: dict[str, Any], other: str, kind: str) -> float:
    pairs = zip(_rounds(found, "batag", kind), _rounds(found, other, kind), strict=True)
    return statistics.median(ours / theirs for ours, theirs in pairs)


def _rates(found: dict[str, Any]) -> list[str]:
    lines = ["| service | requests | clients | requests/s | p50 ms | p99 ms |", "|---|---|---|---|---|---|"]
    cells = dict.fromkeys((row["kind"], row["clients"], row["service"]) for row in found["rates"])
    for kind, clients, service in cells:
        rows = [row for row in found["rates"] if (row["kind"], row["clients"], row["service"]) == (kind, clients, service)]
        middle = {what: statistics.median(row.get(what, 0) for row in rows) for what in ("rate", "p50_ms", "p99_ms")}
        times = f"{middle['p50_ms']:,.1f} | {middle['p99_ms']:,.1f}" if service != "offline" else " | "
        lines.append(f"| {service} | {kind} | {clients if service != 'offline' else ''} | {middle['rate']:,.1f} | {times} |")
    return lines


def verdict(found: dict[str, Any]) -> str:
    """The rates and the targets."""
    full, over = found["overload"]["100 %"], found["overload"]["1,000 %"]
    after, again, last = found["overload"]["70 % after it"], found["reloads"], found["steady"]
    capacity = statistics.median(_rounds(found, "batag", "32 pages"))
    lone = found["lone_ms"]
    grown = sum(over["pss_after"]) - sum(over["pss_before"])
    kept = sum(again["pss_after"]) - sum(again["pss_before"])
    most = [max(column) for column in zip(last["pss_before"], last["pss_after"], strict=True)]
    ready = statistics.median(found["ready_seconds"])
    dropped = {status: number for status, number in again["statuses"].items() if status != "200"}
    rows: list[tuple[str, str, bool]] = [
        *(
            (f"64 clients, {kind}: 3 x plain FastAPI", f"{_ratio(found, PLAIN, kind):.2f} x", _ratio(found, PLAIN, kind) >= 3)
            for kind in ("titles", "pages")
        ),
        ("titles: 2.2 x batching off", f"{_ratio(found, OFF, 'titles'):.2f} x", _ratio(found, OFF, "titles") >= 2.2),
        ("pages: 1.3 x batching off", f"{_ratio(found, OFF, 'pages'):.2f} x", _ratio(found, OFF, "pages") >= 1.3),
        (
            "32 pages a request: 80 % of offline",
            f"{_ratio(found, 'offline', '32 pages'):.0%}",
            _ratio(found, "offline", "32 pages") >= 0.8,
        ),
        *(
            (
                f"a lone request ({kind}): at most 1.5 ms over `Tagger.tag`",
                f"{lone[kind]['over']:.2f} ms",
                lone[kind]["over"] <= 1.5,
            )
            for kind in lone
        ),
        ("p99 at 70 % load under 50 ms", f"{found['at_70']['p99_ms']:.1f} ms", found["at_70"]["p99_ms"] < 50),
        (
            "10 x overload: goodput at least 85 % of capacity",
            f"{over['goodput'] / capacity:.0%}",
            over["goodput"] / capacity >= 0.85,
        ),
        (
            "10 x overload: p99 at most twice that at 100 %",
            f"{over['p99_ms']:,.0f} ms against {full['p99_ms']:,.0f} ms",
            over["p99_ms"] <= 2 * full["p99_ms"],
        ),
        ("10 x overload: no memory growth", f"{grown:+.1f} MB", grown < 20),
        (
            "after it: full recovery at 70 %",
            f"{after['goodput'] / after['offered']:.0%} answered, p99 {after['p99_ms']:,.0f} ms",
            {*after["statuses"]} == {"200"},
        ),
        ("ready within 2 s", f"{ready:.2f} s", ready <= 2),
        ("PSS of the front at most 80 MB", f"{most[0]:.0f} MB", most[0] <= 80),
        ("PSS of an engine at most 250 MB", f"{max(most[1:]):.0f} MB", max(most[1:]) <= 250),
        (
            f"{again['reloads']} reloads under load, none dropped",
            f"{again['done']} done, {again['statuses'].get('200', 0):,} requests answered 200, others: {dropped or 'none'}",
            again["done"] == again["reloads"] and not dropped,
        ),
        ("reloads give the memory back", f"{kept:+.1f} MB", kept < 20),
        (
            "steady load: every request answered, no growth",
            f"{sum(last['statuses'].values()):,} requests, {sum(last['pss_after']) - sum(last['pss_before']):+.1f} MB",
            {*last["statuses"]} == {"200"} and sum(last["pss_after"]) - sum(last["pss_before"]) < 20,
        ),
    ]
    table = [f"| {target} | {measured} | {'held' if held else '**missed**'} |" for target, measured, held in rows]
    return "\n".join([*_rates(found), "", "| target | measured | verdict |", "|---|---|---|", *table])
