"""CPU seconds of `batag --help`: user and system time of a new process, mean of several. The budget is 0.4 s."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

BUDGET = 0.4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    command = [str(Path(sys.executable).with_name("batag")), "--help"]
    subprocess.run(command, check=True, capture_output=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(runs):
        subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    mean = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / runs
    print(json.dumps({"command": "batag --help", "runs": runs, "cpu_seconds": round(mean, 3), "budget": BUDGET}))
    sys.exit(mean > BUDGET)


if __name__ == "__main__":
    main()
