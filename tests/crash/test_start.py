"""`batag start` is killed whenever a file gets its name; the same command goes on as if nothing had happened."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.processes import PATIENCE
from tests.start.shops import base_bundle, small_shop

_RUN = """
import os, signal, sys
from pathlib import Path
dies, part = int(sys.argv[1]), sys.argv[2]
count, plain = 0, {name: getattr(os, name) for name in ("replace", "rename")}
def dying(name):
    def rename(source, target, **more):
        global count
        if part in str(target):
            count += 1
            if count == dies:
                os.kill(os.getpid(), signal.SIGKILL)
        return plain[name](source, target, **more)
    return rename
for name in plain:
    setattr(os, name, dying(name))
import batag.training.window_crf
batag.training.window_crf.ROUNDS = 6
from batag.cli import main
sys.argv = ["batag", *sys.argv[3:]]
main()
"""
STAGES = (
    *("survey.json", "pages.jsonl", "terms.json", "brand.txt.proposed", "equipped", "labels.json", "column.parquet"),
    *(
        "last.safetensors",
        "best.safetensors",
        "state.json",
        "comparison.json",
        "bundles/0001",
        ".names.json",
        "CURRENT",
        "part-",
    ),
    *("tags.xlsx", "tags.csv", "report.html", "to_review.xlsx", "to_review.jsonl", "done.json", "shop.json"),
)


def run(shop: Path, export: Path, *, dies: int = 0, part: str = "") -> int:
    """Start the shop; it dies when for the so manieth time a file with this in its name is to get that name."""
    told = ("start", export, "--out", shop, "--from", base_bundle(), "--minutes", "0.1", "--json")
    more = ("--set", "training.export=false", "--set", "training.replay=0.1", "--set", "training.checkpoint_steps=3")
    command = [sys.executable, "-c", _RUN, str(dies), part, *map(str, told), *more]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).returncode


def outcome(shop: Path) -> dict[str, Any]:
    """What people find in the shop's folder."""
    with (shop / "out" / "tags.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    bundles = [path.name[:5] for path in (shop / "bundles").iterdir() if path.is_dir()]
    current = json.loads((shop / "CURRENT").read_text())
    strays = [str(path) for path in shop.rglob("*.tmp")]
    return {"cells": [row[:4] for row in rows], "bundles": bundles, "before": current["before"], "strays": strays}


def check(shop: Path, export: Path) -> None:
    found = outcome(shop)
    with export.open(encoding="utf-8", newline="") as stream:
        assert found["cells"] == list(csv.reader(stream))
    assert found["bundles"] == ["0001-"]
    assert found["before"] == []
    assert found["strays"] == []
    assert len(list((shop / "runs").iterdir())) == 1


def test_a_start_that_was_killed_before_its_bundle_is_in_use_goes_on(tmp_path: Path) -> None:
    export = small_shop(tmp_path / "shop.csv")
    assert run(tmp_path / "shop", export, dies=1, part="CURRENT") == -9
    assert run(tmp_path / "shop", export) == 0
    check(tmp_path / "shop", export)


@pytest.mark.long
@pytest.mark.parametrize("part", STAGES)
def test_a_start_that_was_killed_at_any_stage_goes_on(part: str, tmp_path: Path) -> None:
    export = small_shop(tmp_path / "shop.csv", times=6)
    assert _killed(tmp_path / "shop", export, part, times=(1,)) == 1
    check(tmp_path / "shop", export)


@pytest.mark.long
def test_a_start_that_is_killed_again_and_again_comes_to_its_end(tmp_path: Path) -> None:
    export = small_shop(tmp_path / "shop.csv", times=6)
    assert _killed(tmp_path / "shop", export, "", times=range(3, 60, 7)) >= 3
    check(tmp_path / "shop", export)


def _killed(shop: Path, export: Path, part: str, *, times: Iterable[int]) -> int:
    killed = 0
    for dies in times:
        code = run(shop, export, dies=dies, part=part)
        if code != -9:
            assert code == 0
            break
        killed += 1
    assert run(shop, export) == 0
    return killed
