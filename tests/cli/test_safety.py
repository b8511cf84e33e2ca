"""What files and pages hold is shown and never obeyed: escapes, line ends, directions, markup, names that are no text."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.crash.nursery import TINY
from tests.tiny import catalogue, tiny_run, typed

from batag.pages.formats import write_pages

BAD = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\r[bold]:smile:\nbatag: all is well"
"""Names that would rename the window, colour what follows, clear the screen, turn text around and make up a message."""
ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
NAME = os.fsdecode(b"p\xff\xe9") + "\x1b[31m[b]\nx"
"""The name of a file in Latin-1, with an escape and a line end."""
SET = tuple(part for setting in (*TINY, "training.epochs=1") for part in ("--set", setting))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tag = {"field": "title", "start": 0, "end": 4, "label": BAD}
    records: list[dict[str, Any]] = [
        {"id": BAD, "title": f"ACME {BAD} shoes", "shop": BAD, "tags": [tag]},
        {"id": BAD, "title": "ACME boots", "shop": BAD, "tags": [tag | {"end": 99}, tag | {"end": 6}, tag]},
        {"id": f"{BAD}2", "title": "ACME boots", BAD: 1, "tags": [tag]},
        {"id": f"{BAD}3", "title": {BAD: BAD}},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / f"{NAME}.jsonl").write_text(f"{lines}not JSON {BAD}\n", encoding="utf-8")
    write_pages(catalogue(8), tmp_path / "good.jsonl")
    (tmp_path / "list.txt").write_text("ACME\n", encoding="utf-8")
    return tmp_path


def check(messages: str) -> None:
    """Nothing in it moves a terminal, and no message is made up."""
    assert not ORDERS.search(messages), ascii(ORDERS.findall(messages))
    assert "\nbatag: all is well" not in messages
    messages.encode()


IN, OUT = f"{NAME}.jsonl", f"{NAME}-out"
CALLS: dict[str, tuple[object, ...]] = {
    "tag to a folder": ("tag", "B", IN, "-o", f"{OUT}/", "--problems", f"{NAME}.problems"),
    "tag to a file": ("tag", "B", IN, "-o", f"{OUT}.csv"),
    "tag page after page": ("tag", "B", IN, "-o", f"{OUT}.conll", "--problems", f"{NAME}.problems"),
    "convert": ("convert", IN, f"{OUT}.csv", "--problems", f"{NAME}.problems"),
    "weak": ("weak", IN, "--terms", f"list.txt={BAD}", "-o", f"{OUT}.jsonl", "--problems", f"{NAME}.problems"),
    "inspect": ("inspect", IN, "--problems", f"{NAME}.problems", "--chart", f"{OUT}.png"),
    "split": ("split", IN, "good.jsonl", "-o", OUT, "--problems", f"{NAME}.problems"),
    "sample": ("sample", "--pages", 3, "-o", f"{OUT}.jsonl"),
    "evaluate": ("evaluate", "B", IN, "--wrong", f"{OUT}.jsonl", "--chart", f"{OUT}.png", "--problems", f"{NAME}.problems"),
    "train": ("train", IN, "good.jsonl", "--dev", IN, "-o", OUT, *SET, "--problems", f"{NAME}.problems"),
    "curve": ("curve", IN, "good.jsonl", "-o", OUT, "--sizes", 10, *SET),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_what_a_command_prints_gives_no_orders(folder: Path, call: tuple[object, ...]) -> None:
    done = typed(*(tiny_run() if each == "B" else each for each in call))
    assert done.returncode == 0, done.stderr
    check(done.stdout + done.stderr)
    for path in folder.glob("*.problems"):
        listed = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert any("p\ufffd\ufffd" in str(each) for each in listed)


@pytest.mark.parametrize("name", ["tag to a folder", "convert", "weak", "inspect", "split", "sample", "evaluate"])
def test_json_of_files_with_any_name_can_be_read(folder: Path, name: str) -> None:
    done = typed(*(tiny_run() if each == "B" else each for each in CALLS[name]), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_a_run_with_names_that_are_no_text_is_resumed_and_used(folder: Path) -> None:
    assert typed(*CALLS["train"]).returncode == 0
    done = typed("train", "--resume", OUT, "--set", "training.epochs=2")
    assert done.returncode == 0, done.stderr
    check(done.stdout + done.stderr)
    shown = typed("show", OUT)
    assert shown.returncode == 0, shown.stderr
    check(shown.stdout)
    assert typed("tag", OUT, "ACME shoes").returncode == 0


def test_a_job_with_names_that_are_no_text_goes_on(folder: Path) -> None:
    call = [tiny_run() if each == "B" else each for each in CALLS["tag to a folder"]]
    assert typed(*call).returncode == 0
    again = typed(*call)
    assert "6 pages tagged" in again.stderr
    assert "6 of them before" in again.stderr


@pytest.mark.parametrize("call", [("show", f"{NAME}-gone"), ("convert", f"{NAME}-gone", "a.csv"), ("split", IN, "-o", IN)])
def test_errors_give_no_orders_either(folder: Path, call: tuple[str, ...]) -> None:
    done = typed(*call)
    assert done.returncode
    check(done.stderr)


@pytest.mark.long
def test_at_a_terminal_only_the_command_itself_gives_orders(folder: Path) -> None:
    batag = str(Path(sys.executable).with_name("batag"))
    ours, theirs = pty.openpty()
    command = [batag, "tag", str(tiny_run()), IN, "-o", f"{OUT}/", "--workers", "1"]
    environment = os.environ | {"TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        messages = b""
        while True:
            try:
                messages += os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
    os.close(ours)
    assert process.returncode == 0, messages
    text = messages.decode()
    assert "6 pages tagged" in text
    assert "\x1b[31m" not in text
    assert "\x1b]0;" not in text
    assert "\x9b" not in text
    assert "\u202e" not in text
    assert "[b]" in text
