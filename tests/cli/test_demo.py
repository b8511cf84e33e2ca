"""`batag demo` goes the whole way: sample pages, two trainings, scores, tags, pictures, and what to type next."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest
from tests.conftest import Run
from tests.processes import PATIENCE, alive, started, wait_until
from tests.tiny import typed

SMALL = (
    "encoder.width=16",
    "encoder.depth=1",
    "encoder.heads=2",
    "encoder.inner=32",
    "input.ngram_buckets=200",
    "training.epochs=2",
    "training.export=false",
    "input.vectors=",
    "head.window_crf=0",
    "training.adversarial_epsilon=0",
)
SETTINGS = [part for setting in SMALL for part in ("--set", setting)]


def test_the_demo_compares_tags_and_says_what_to_type_next(batag: Run, tmp_path: Path) -> None:
    done = batag("demo", "--out", tmp_path / "demo", "--pages", "40", *SETTINGS)
    assert done.returncode == 0, done.stderr
    for line in ("memory of words", "Transformer", "BAT", "ten pages", "batag tag", "batag evaluate", "batag train"):
        assert line in done.stdout
    assert "epoch   2" in done.stderr
    assert "dev tag F1" in done.stderr
    for name in ("train.jsonl", "tagged.jsonl", "scores.png", "bat/curves.png", "bat/bundle/bundle.json"):
        assert (tmp_path / "demo" / name).stat().st_size > 0
    tagged = [json.loads(line) for line in (tmp_path / "demo" / "tagged.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(tagged) == 10
    assert {page["language"] for page in tagged} == {"zh-Hant", "ja", "en"}


@pytest.mark.long
def test_the_demo_can_be_repeated(batag: Run, tmp_path: Path) -> None:
    for _ in range(2):
        done = batag("demo", "--out", tmp_path / "demo", "--pages", "40", *SETTINGS, "--json")
        assert done.returncode == 0, done.stderr
        assert set(json.loads(done.stdout)["test"]) == {"memory of words", "Transformer", "BAT"}


def test_the_demo_is_not_written_over_a_file_or_with_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = typed("demo", "--out", tmp_path / "file")
    assert done.returncode == 1
    assert "is a file" in done.stderr
    done = typed("demo", "--out", tmp_path / "demo", "--pages", "30", "--set", "encoder.dept=1")
    assert done.returncode == 2
    assert "encoder.depth" in done.stderr


def test_the_demo_takes_nothing_away_that_is_not_an_earlier_demos(tmp_path: Path) -> None:
    (tmp_path / "bat").mkdir()
    for name in ("bat/recipe.toml", "train.jsonl"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    done = typed("demo", "--out", tmp_path)
    assert done.returncode == 1
    assert "not the folder of a demo" in done.stderr
    assert {path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()} == {"mine"}


def test_a_demo_that_is_terminated_ends_its_training_in_the_background(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("batag")), "demo", "--out", str(tmp_path / "demo"), "--pages", "30"]
    with started([*command, *SETTINGS, "--set", "training.epochs=1000"]) as process:
        # The run in the background has its folder, and the one in front is not finished.
        wait_until((tmp_path / "demo" / "transformer" / "recipe.toml").is_file, while_runs=process)
        process.terminate()
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        wait_until(lambda: not alive(process.pid))
