"""What a catalogue job says on its way, where nobody watches."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tiny import tiny_run, typed

import batag.cli.cataloguing as cataloguing


def test_a_log_gets_a_line_now_and_then_and_the_rest_of_the_errors_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cataloguing, "_LOG_SECONDS", 0)
    lines = ['{"title": "acme shoes"}'] * 20 + ["not json"] * 13
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    call = ("tag", tiny_run(), tmp_path / "in.jsonl", "-o", f"{tmp_path}/out/", "--workers", "1")
    done = typed(*call)
    assert done.returncode == 0, done.stderr
    assert "tokens per second" in done.stderr
    assert done.stderr.count("not JSON") == 10
    assert "13 problems: 13 page skipped (13 bad-json); --problems FILE lists all" in done.stderr
    done = typed(*call, "--restart", "--problems", tmp_path / "problems.jsonl")
    assert f"all in {tmp_path / 'problems.jsonl'}" in done.stderr.replace("\n", "")
    assert len((tmp_path / "problems.jsonl").read_text(encoding="utf-8").splitlines()) == 13
