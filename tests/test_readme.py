"""The README's commands run as they stand, one after the other, in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from batag.cli import app

README = Path(__file__).parent.parent / "README.md"


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "make ", "git ", "cd "))]


def test_the_two_make_lines_come_first() -> None:
    first = re.search(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert first is not None
    assert [line.split("#")[0].strip() for line in first[1].splitlines()] == ["make demo", "make test"]


@pytest.mark.parametrize("command", [line for line in commands() if line.startswith("batag ")])
def test_every_command_of_the_readme_is_one_that_batag_takes(command: str) -> None:
    name, *arguments = shlex.split(command, comments=True)[1:]
    click = typer.main.get_command(app)
    assert isinstance(click, typer.core.TyperGroup)
    click.commands[name].make_context(name, arguments)


@pytest.mark.long
def test_every_command_and_then_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    assert len(commands()) >= 6
    for command in commands():
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
