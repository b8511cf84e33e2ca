"""A table that is killed in the middle: finished cells stay, the rest is gone on with, numbers are those of one go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from tests.paper.corner import SMALL, corner_corpus
from tests.processes import PATIENCE, alive, started, wait_until


def command(corpus: Any, out: Path, *, epochs: int = 4) -> list[str]:
    files = ("--train", corpus.train, "--dev", corpus.dev, "--test", corpus.test, "--out", out, "--name", "x")
    table = ("--only-rows", "CE;CLA(1,20)", "--only-columns", "BAT;Transformer", "--epochs", epochs, "--jobs", "2")
    call = (sys.executable, "-m", "batag", "paper", "encoders", *files, *table)
    return [str(part) for part in (*call, *(part for setting in SMALL for part in ("--set", setting)))]


def training(out: Path) -> bool:
    """Whether a cell is being trained."""
    return any(out.glob("runs/*/metrics.jsonl"))


@pytest.mark.long
def test_control_c_stops_workers_and_all_and_says_how_to_go_on(tmp_path: Path) -> None:
    corpus, out = corner_corpus(tmp_path / "corpus"), tmp_path / "out"
    with started(command(corpus, out, epochs=500)) as process:
        wait_until(lambda: training(out), while_runs=process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert b"run the same command again to resume" in err
        assert b"Traceback" not in err
        wait_until(lambda: not alive(process.pid))


@pytest.mark.long
def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    corpus, out = corner_corpus(tmp_path / "corpus"), tmp_path / "out"
    with started(command(corpus, out, epochs=500)) as process:
        wait_until(lambda: training(out), while_runs=process)
        process.kill()
        process.wait()
        wait_until(lambda: not alive(process.pid))


def kill(process: subprocess.Popen[bytes]) -> None:
    """With its workers."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not alive(process.pid))


def numbers(out: Path) -> dict[str, Any]:
    report = json.loads((out / "x-encoders-part.json").read_text(encoding="utf-8"))
    for row in report["cells"]:
        del row["seconds"]
    return dict(report)


@pytest.mark.long
def test_a_killed_table_resumes_and_says_what_one_go_says(tmp_path: Path) -> None:
    corpus = corner_corpus(tmp_path / "corpus")
    subprocess.run(command(corpus, tmp_path / "whole"), check=True, capture_output=True)
    out = tmp_path / "killed"
    with started(command(corpus, out)) as process:
        wait_until(lambda: training(out), while_runs=process)
        kill(process)
    # Somebody else is at work on one of the cells, so that the table cannot be finished before it is killed.
    with FileLock(next(out.glob("runs/*.lock"))), started(command(corpus, out)) as process:
        wait_until(lambda: any(out.glob("cells/*.json")), while_runs=process)
        kill(process)
    kept = {path.name: path.read_bytes() for path in out.glob("cells/*.json")}
    subprocess.run(command(corpus, out), check=True, capture_output=True)
    assert 0 < len(kept) < 4
    assert {name: (out / "cells" / name).read_bytes() for name in kept} == kept
    assert numbers(out) == numbers(tmp_path / "whole")
    assert not [path for path in (out / "runs").iterdir() if path.is_dir()]
