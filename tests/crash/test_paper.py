"""A table that is killed in the middle: finished cells stay, the rest is gone on with, numbers are those of one go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.experiments.corner import SMALL, corner_corpus


def command(corpus: Any, out: Path, *, epochs: int = 4) -> list[str]:
    call = [
        sys.executable,
        "-m",
        "batag",
        "paper",
        "encoders",
        "--train",
        corpus.train,
        "--dev",
        corpus.dev,
        "--test",
        corpus.test,
    ]
    call += [
        "--rows",
        "CE;CLA(1,20)",
        "--columns",
        "BAT;Transformer",
        "--epochs",
        epochs,
        "--jobs",
        "2",
        "--out",
        out,
        "--name",
        "x",
    ]
    return [str(part) for part in (*call, *(part for setting in SMALL for part in ("--set", setting)))]


def test_control_c_stops_workers_and_all_and_says_how_to_go_on(tmp_path: Path) -> None:
    corpus = corner_corpus(tmp_path / "corpus")
    process = subprocess.Popen(
        command(corpus, tmp_path / "out", epochs=500),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for_training(tmp_path / "out", process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"the same command goes on" in err
    assert b"Traceback" not in err
    gone_within(process.pid, seconds=10)


def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    corpus = corner_corpus(tmp_path / "corpus")
    process = subprocess.Popen(
        command(corpus, tmp_path / "out", epochs=500),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_for_training(tmp_path / "out", process)
    process.kill()
    process.wait()
    gone_within(process.pid, seconds=10)


def wait_for_training(out: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not list(out.glob("runs/*/metrics.jsonl")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)


def gone_within(group: int, *, seconds: float) -> None:
    """No process of the group is left."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("a worker outlived its parent")


def numbers(out: Path) -> dict[str, Any]:
    facts = json.loads((out / "x-encoders-part.json").read_text(encoding="utf-8"))
    for row in facts["cells"]:
        del row["seconds"]
    return dict(facts)


def test_a_killed_table_resumes_and_says_what_one_go_says(tmp_path: Path) -> None:
    corpus = corner_corpus(tmp_path / "corpus")
    subprocess.run(command(corpus, tmp_path / "whole"), check=True, capture_output=True)
    out = tmp_path / "killed"
    for pause in (1.0, 2.5):
        # In a session of its own, so that its workers can be killed with it.
        process = subprocess.Popen(
            command(corpus, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        wait_for_training(out, process)
        time.sleep(pause)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    kept = {path.name: path.read_bytes() for path in out.glob("cells/*.json")}
    subprocess.run(command(corpus, out), check=True, capture_output=True)
    assert {name: (out / "cells" / name).read_bytes() for name in kept} == kept
    assert numbers(out) == numbers(tmp_path / "whole")
    assert not [path for path in (out / "runs").iterdir() if path.is_dir()]
