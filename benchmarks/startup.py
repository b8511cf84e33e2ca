"""From nothing to tags: seconds, processor time and memory of new processes, and the size of an installation that tags.

Run `python benchmarks/startup.py [BUNDLE]`. `batag --help` has a budget of processor time (exit code 1 above it); with a bundle
also `batag.load`, the first tag and `batag tag BUNDLE TEXT`. On a busy machine processor time says more than seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

BUDGET = 0.4
TEXT = "NORDVIK 防水登山鞋 新款 女"
BATAG = str(Path(sys.executable).with_name("batag"))
LOAD = """
import json, sys, time
began, busy = time.perf_counter(), time.process_time()
import batag
tagger = batag.load(sys.argv[1])
loaded, busy_loaded = time.perf_counter(), time.process_time()
tagger.tag({"title": sys.argv[2]})
print(json.dumps({
    "engine": tagger.engine.name,
    "load_seconds": loaded - began,
    "load_cpu_seconds": busy_loaded - busy,
    "first_tag_seconds": time.perf_counter() - loaded,
    "first_tag_cpu_seconds": time.process_time() - busy_loaded,
}))
"""


def measured(command: list[str], runs: int) -> dict[str, Any]:
    """Medians over runs after one to warm up: seconds, processor time and memory of a process, and what it printed as JSON."""
    rows = []
    for _ in range(runs + 1):
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            printed = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert not process.returncode, command
        row = {"seconds": time.perf_counter() - began, "cpu_seconds": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss >> 10}
        if command[1] == "-c":
            row |= json.loads(printed)
        rows.append(row)
    first, *rest = rows
    return {
        key: value if isinstance(value, str) else round(statistics.median(row[key] for row in rest), 3)
        for key, value in first.items()
    }


def installed(name: str, seen: set[str]) -> int:
    """Bytes of a package and all that it needs without extras, as they are installed here."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return 0
    if (key := found.metadata["Name"].lower().replace("_", "-")) in seen:
        return 0
    seen.add(key)
    own = sum(path.stat().st_size for each in found.files or () if (path := Path(str(each.locate()))).is_file())
    needed = [Requirement(each) for each in found.requires or ()]
    return own + sum(
        installed(each.name, seen) for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path, nargs="?")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    found: dict[str, Any] = {"batag --help": measured([BATAG, "--help"], options.runs) | {"cpu_budget": BUDGET}}
    if options.bundle is not None:
        found["batag.load"] = measured([sys.executable, "-c", LOAD, str(options.bundle), TEXT], options.runs)
        found["batag tag BUNDLE TEXT"] = measured([BATAG, "tag", str(options.bundle), TEXT], options.runs)
    seen: set[str] = set()
    found["installed without extras"] = {"mb": installed("batag", seen) >> 20, "packages": len(seen), "torch": "torch" in seen}
    print(json.dumps(found, indent=1))
    sys.exit(found["batag --help"]["cpu_seconds"] > BUDGET)


if __name__ == "__main__":
    main()
