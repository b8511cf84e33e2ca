"""Processes that tag parts: what they told of is taken back when they die."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batag.catalogue.part import Part
from batag.catalogue.tagged import PartReport
from batag.catalogue.workers import Work, Workers, _run


@dataclass(frozen=True)
class DiesOnce:
    """Work that is killed in the middle of its first part, the first time."""

    died: Path

    def load(self) -> Callable[[Part, Callable[[int], None]], PartReport]:
        def work(part: Part, progress: Callable[[int], None]) -> PartReport:
            progress(4)
            if part.number == 0 and not self.died.exists():
                self.died.touch()
                os.kill(os.getpid(), 9)
            progress(part.rows - 4)
            return PartReport(**cast(Any, {"number": part.number, "rows": part.rows} | dict.fromkeys(MORE)))

        return work


MORE = [name for name, each in PartReport.__dataclass_fields__.items() if name not in ("number", "rows")]


def test_pages_of_a_worker_that_died_are_not_counted_twice(tmp_path: Path) -> None:
    parts = [
        Part(number=number, format="jsonl", source="in.jsonl", stem="in", first=1 + 10 * number, rows=10) for number in range(3)
    ]
    progress: list[int] = []
    workers = Workers(cast(Work, DiesOnce(tmp_path / "died")), 2)
    try:
        done = list(workers.finished(iter(parts), progress.append))
    finally:
        workers.stop()
    assert sorted(report.number for report in done) == [0, 1, 2]
    assert (tmp_path / "died").exists()
    assert -4 in progress
    assert sum(progress) == 30


@dataclass(frozen=True)
class Speaks:
    """Work that tells of pages before and after whoever listens is gone."""

    spoken: Path
    gone: Path
    manifest = SimpleNamespace(place=SimpleNamespace(name="out"))

    def load(self) -> Callable[[Part, Callable[[int], None]], PartReport]:
        def work(part: Part, progress: Callable[[int], None]) -> PartReport:
            progress(4)
            self.spoken.touch()
            while not self.gone.exists():
                time.sleep(0.01)
            progress(4)
            raise AssertionError("somebody listened")

        return work


def test_a_worker_whose_job_was_killed_ends_without_a_word(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    spoken, gone = tmp_path / "spoken", tmp_path / "gone"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs, Speaks(spoken, gone), os.getpid()), daemon=True)
    process.start()
    theirs.close()
    try:
        ours.send(Part(number=0, format="jsonl", source="in.jsonl", stem="in", first=1, rows=10))
        while not spoken.exists() and process.is_alive():
            time.sleep(0.01)
        ours.close()
        gone.touch()
        process.join(120)
        assert process.exitcode == 0
    finally:
        process.kill()
        process.join()
    assert capfd.readouterr().err == ""
