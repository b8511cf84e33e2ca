"""Time and memory of one training step of every encoder against the length of pages, as a table, JSON and a picture.

Run `python benchmarks/encoders.py --out FOLDER`: four pages a step, width 128, four layers, one thread. Each encoder and
length is measured in a process of its own; rounds go over all encoders in turn, so that what else the machine does hits all
alike.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from place import new_folder

from batag.encoders import ENCODERS, build_encoder
from batag.evaluation.charts import picture

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
PAGES, WIDTH = 4, 128


def measure(name: str, length: int, steps: int, to: Connection) -> None:
    """Send the median time of a step in ms and the memory that steps took in MB."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    encoder = build_encoder(name).train()
    vectors, mask = torch.randn(PAGES, length, WIDTH), torch.ones(PAGES, length, dtype=torch.bool)
    parameters = list(encoder.parameters())
    for parameter in parameters:  # gradients are there before memory is looked at
        parameter.grad = torch.zeros_like(parameter)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(steps + 1):
        began = time.perf_counter()
        encoder.zero_grad(set_to_none=False)
        (encoder(vectors, mask).square().mean() + encoder.auxiliary_loss).backward()
        times.append(1000 * (time.perf_counter() - began))
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    to.send((statistics.median(times[1:]), memory))


def in_own_process(name: str, length: int, steps: int) -> tuple[float, float]:
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(name, length, steps, there))
    process.start()
    found: tuple[float, float] = here.recv()
    process.join()
    return found


def draw(found: dict[str, dict[int, dict[str, float]]], path: Path) -> None:
    with picture(path, width=11, height=4.5) as figure:
        for axes, key, title in zip(
            figure.subplots(1, 2), ("ms", "mb"), ("time of a step (ms)", "memory of a step (MB)"), strict=True
        ):
            for name, lengths in found.items():
                axes.plot(list(lengths), [max(row[key], 0.1) for row in lengths.values()], marker="o", markersize=3, label=name)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(list(LENGTHS), [str(length) for length in LENGTHS])
            axes.set_xlabel("tokens a page")
            axes.set_title(f"{title}, {PAGES} pages, one thread", fontsize=10)
            axes.grid(alpha=0.3)
            axes.legend(fontsize=8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--out", type=new_folder, default=".")
    options = parser.parse_args()
    rounds: dict[str, dict[int, list[tuple[float, float]]]] = {name: {n: [] for n in LENGTHS} for name in ENCODERS}
    for _ in range(options.rounds):
        for length in LENGTHS:
            for name in ENCODERS:
                rounds[name][length].append(in_own_process(name, length, options.steps))
    found = {
        name: {
            length: {"ms": round(statistics.median(ms), 2), "mb": round(statistics.median(mb), 1)}
            for length, measured in lengths.items()
            for ms, mb in [zip(*measured, strict=True)]
        }
        for name, lengths in rounds.items()
    }
    for key, title in (("ms", "ms a step"), ("mb", "MB a step")):
        print(f"| {title} | {' | '.join(map(str, LENGTHS))} |\n|{'---|' * (len(LENGTHS) + 1)}")
        for name, lengths in found.items():
            print(f"| {name} | {' | '.join(str(row[key]) for row in lengths.values())} |")
        print()
    report: dict[str, Any] = {"torch": torch.__version__, "pages": PAGES, "width": WIDTH, "depth": 4, "encoders": found}
    (options.out / "encoders-by-length.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    draw(found, options.out / "encoders-by-length.png")


if __name__ == "__main__":
    main()
