"""What a long command writes to a log that nobody watches."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tiny import QUICK, catalogue

from batag.cli import terminal
from batag.cli.terminal import progress
from batag.cli.train import follow
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.training.loop import StepDone

BATAG = str(Path(sys.executable).with_name("batag"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that is moved by hand."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(terminal, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def seconds_each(items: int, clock: Any) -> Iterator[int]:
    for number in range(items):
        clock.seconds += 1
        yield number


def test_a_log_gets_a_line_every_half_minute_with_rate_and_time_left(clock: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(progress(seconds_each(100, clock), doing="marking", total=100))) == 100
    first, *rest = capsys.readouterr().err.splitlines()
    assert first == "marking: 30 pages, 1 per second, about 70 s left"
    assert len(rest) == 2


def test_the_beginning_is_announced_when_the_first_page_is_there(clock: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pages = progress(seconds_each(3, clock), doing="reading and segmenting pages", announced=True)
    next(pages)
    assert capsys.readouterr().err == "reading and segmenting pages\n"
    assert len(list(pages)) == 2
    assert list(progress([], doing="reading and segmenting pages", announced=True)) == []
    assert capsys.readouterr().err == ""


def test_one_epoch_of_one_step_is_said_in_the_singular(clock: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run: Any = SimpleNamespace(
        epochs=1, steps_per_epoch=1, learner=SimpleNamespace(step=0), train=lambda: (done for done in ())
    )
    follow(run, heading="bat")
    assert capsys.readouterr().err == "bat, 1 epoch of 1 step\n"


def test_a_long_epoch_says_how_far_it_is(clock: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def steps() -> Iterator[StepDone]:
        for number in range(1, 101):
            clock.seconds += 1
            yield StepDone(number, 1, 0.5, 0.1, 10)

    run: Any = SimpleNamespace(epochs=2, steps_per_epoch=100, learner=SimpleNamespace(step=0), train=steps)
    follow(run, heading="bat")
    heading, *lines = capsys.readouterr().err.splitlines()
    assert heading == "bat, 2 epochs of 100 steps"
    assert lines[0] == "epoch   1  step 30 of 200  loss 0.5000  1.0 steps/s  about 3 min left"
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("seconds", "message"), [(10, "about 10 s left"), (600, "about 10 min left"), (36_000, "about 10.0 h left")]
)
def test_time_left_is_said_in_a_unit_that_fits(seconds: float, message: str) -> None:
    assert terminal.time_left(seconds, 0.5) == message


@pytest.mark.long
def test_training_into_a_file_says_what_it_begins_with(tmp_path: Path) -> None:
    short = Page("short", {"title": "NIKE"}, labelled=True)
    write_pages(
        [*(replace(page, language=None) for page in catalogue(12) if page.language == "ja"), short], tmp_path / "train.jsonl"
    )
    settings = [part for setting in (*QUICK, "training.epochs=1") for part in ("--set", setting)]
    command = [BATAG, "train", "train.jsonl", "--out", "run", *settings]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert lines[0] == "reading and segmenting pages"
    assert [line for line in lines if line.startswith("epoch   1")]
    assert "1 page without a clear language, read as ja like most of the file" in done.stderr
