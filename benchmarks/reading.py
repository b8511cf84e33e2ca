"""A million sample pages read from .jsonl.gz, cleaned and segmented: pages a second and peak memory, at growing sizes.

Each size runs in a process of its own, so that its peak is its own."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

from place import new_file

from batag.pages.formats import read_pages, write_pages
from batag.sample import sample_pages
from batag.segmentation.segmentation import Segmentation


def run(path: Path, answers: multiprocessing.SimpleQueue[dict[str, float]]) -> None:
    segmentation, start, pages, characters, tokens = Segmentation(), time.perf_counter(), 0, 0, 0
    for page, fields in segmentation.many(read_pages(path)):
        pages += 1
        characters += page.characters
        tokens += sum(len(field.tokens) for field in fields)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answers.put({"pages": pages, "characters": characters, "tokens": tokens, "seconds": seconds, "peak_megabytes": peak})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", default="zh-Hant")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--out", type=new_file, help="also write the numbers to this JSON file")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    rows = []
    print("| pages | seconds | pages/s | million characters/s | peak memory (MB) |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.sizes:
            path = Path(folder, f"{size}.jsonl.gz")
            write_pages(sample_pages(arguments.language, pages=size, style="paper"), path)
            answers: multiprocessing.SimpleQueue[dict[str, float]] = context.SimpleQueue()
            process = context.Process(target=run, args=(path, answers))
            process.start()
            row = answers.get()
            process.join()
            rows.append(row | {"language": arguments.language})
            rate, speed = row["pages"] / row["seconds"], row["characters"] / row["seconds"] / 1e6
            print(f"| {size:,} | {row['seconds']:.1f} | {rate:,.0f} | {speed:.2f} | {row['peak_megabytes']:.0f} |", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
