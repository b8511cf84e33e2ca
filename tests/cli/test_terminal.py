"""What a person at a terminal sees: a real pseudo-terminal, not a pretended one."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

BATAG = str(Path(sys.executable).with_name("batag"))


def at_a_terminal(*arguments: object) -> str:
    """All that a command writes to the terminal it runs at."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [BATAG, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        message = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            message += piece
    os.close(ours)
    assert process.returncode == 0, message.decode()
    return message.decode()


@pytest.mark.long
def test_progress_shows_a_count_and_a_rate(tmp_path: Path) -> None:
    message = at_a_terminal("sample", "--pages", 20_000, "--out", tmp_path / "pages.jsonl")
    assert "per second" in message
    assert "20,000 zh-Hant pages" in message
    message = at_a_terminal("convert", tmp_path / "pages.jsonl", tmp_path / "again.jsonl.gz")
    assert "converting" in message
    assert "per second" in message


def test_tokens_are_coloured_at_a_terminal() -> None:
    message = at_a_terminal("segment", "防水登山鞋 ABC-123")
    assert "\x1b[" in message
    assert "登山鞋" in message


def test_problems_are_coloured_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"title": "ACME"}\nnothing\n', encoding="utf-8")
    message = at_a_terminal("inspect", tmp_path / "a.jsonl")
    assert "1 problem: 1 page skipped (1 bad-json)" in message
    assert "a.jsonl:2" in message
