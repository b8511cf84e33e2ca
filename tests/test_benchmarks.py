"""Benchmarks measure for minutes or hours: what they write to is made, and tried, before they begin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import mostly_long

FOLDER = Path(__file__).parents[1] / "benchmarks"
CALLS: dict[str, tuple[tuple[str, ...], str]] = {
    "accuracy": (("data",), "--out"),
    "corpora": (("data",), "--out"),
    "encoders": ((), "--out"),
    "keyphrases": (("data",), "--out"),
    "labelling": (("data",), "--out"),
    "first_view": ((), "--out"),
    "pictures": ((), "--out"),
    "reading": ((), "--out"),
    "segmentation": ((), "--out"),
    "shop_pages": (("bundle",), "--wrong"),
    "speed": (("bundle", "swift", "train"), "--out"),
    "starter": ((), "--out"),
    "steps": (("data", "taobao-words", "today"), "--runs"),
}


@pytest.mark.parametrize("name", mostly_long(CALLS, "speed"))
def test_a_place_that_cannot_be_written_to_is_said_before_anything_is_measured(name: str, tmp_path: Path) -> None:
    given, option = CALLS[name]
    (tmp_path / "file").write_text("", encoding="utf-8")
    command = [sys.executable, str(FOLDER / f"{name}.py"), *given, option, "file/new/numbers.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip("needs what only benchmarks need")
    assert done.returncode == 2, done.stderr
    assert "cannot be written into (Not a directory)" in done.stderr


def test_a_new_folder_is_there_before_anything_is_measured(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "speed.py"), "no-bundle", "no-swift", "no-train", "--out", "some/new/folder"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "some" / "new" / "folder").is_dir()
