"""Tags a catalogue of sample pages with `batag tag` from .jsonl.gz to .jsonl.gz and watches memory and rate as it goes.

Run `python benchmarks/tagging.py BUNDLE --pages 200000`; rates are pages a second of each tenth of the input, by the place in
the input file, so that the last one shows whether the first one lasts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import chain, islice, pairwise
from pathlib import Path

from batag.pages.formats import write_pages
from batag.pages.sample import LANGUAGES, sample_pages


def place_in(pid: int, name: str) -> int | None:
    """How far a process has read a file."""
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            if link.readlink().name == name:
                return int((Path(f"/proc/{pid}/fdinfo") / link.name).read_text().split()[1])
        except OSError:
            continue
    return None


def memory(pid: int, key: str) -> int:
    """MB of a process: VmRSS now, VmHWM at its highest."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) // 1024
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle")
    parser.add_argument("--pages", type=int, default=200_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "catalogue.jsonl.gz", Path(folder) / "tagged.jsonl.gz"
        share = -(-options.pages // len(LANGUAGES))
        made = (sample_pages(each, pages=share, split="test", seed=9) for each in LANGUAGES)
        # Languages alternate, so that every part of the file is alike.
        write_pages(islice(chain.from_iterable(zip(*made, strict=True)), options.pages), source)
        size = source.stat().st_size
        command = [sys.executable, "-m", "batag", "tag", options.bundle, str(source), "--out", str(target)]
        began = time.monotonic()
        marks: list[tuple[float, int, int]] = []
        highest = 0
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                try:
                    highest = max(highest, memory(process.pid, "VmHWM"))
                    place = place_in(process.pid, source.name)
                    if place is not None and place * 10 // size > len(marks) - 1:
                        marks.append((time.monotonic(), place, memory(process.pid, "VmRSS")))
                except OSError:
                    break
                time.sleep(0.2)
            said = process.stderr.read() if process.stderr else ""
        rates = [
            round(options.pages * (after[1] - before[1]) / size / (after[0] - before[0])) for before, after in pairwise(marks)
        ]
        facts = {
            "pages": options.pages,
            "seconds": round(time.monotonic() - began, 1),
            "peak_memory_mb": highest,
            "memory_mb_at_each_tenth": [mark[2] for mark in marks],
            "pages_a_second_of_each_tenth": rates,
            "said": said.strip().splitlines()[-1:],
        }
    print(json.dumps(facts, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
