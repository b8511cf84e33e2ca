from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.tiny import typed

from batag.cli import app, options
from batag.cli.commands import COMMANDS, GROUPS
from batag.pages.cleaning import RULES
from batag.pages.formats import FORMATS
from batag.segmentation import SEGMENTATIONS

NAMES = [name.rpartition(".")[2] for name in COMMANDS]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, contextlib, io\n"
        "from batag.cli import app\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    app(['--help'])\n"
        "heavy = {'torch', 'pyarrow', 'numpy', 'matplotlib', 'rjieba', 'sudachipy', 'openpyxl', 'opencc'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_lists_every_command(batag) -> None:
    text = batag("--help").stdout
    assert not [name for name in NAMES if f" {name} " not in text]


EXAMPLES = [*COMMANDS.values(), *(example for _, _, examples in GROUPS.values() for example in examples.values())]


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_command_has_an_example_that_it_takes(example: str) -> None:
    command, words = typer.main.get_command(app), shlex.split(example)[1:]
    while isinstance(command, typer.core.TyperGroup):
        command = command.commands[words.pop(0)]
    command.make_context(command.name, words)  # wrong options and missing arguments are errors
    assert command.epilog == f"Example: {example}"


@pytest.mark.parametrize("command", NAMES)
def test_each_command_explains_itself_and_offers_json(batag, command: str) -> None:
    done = batag(command, "--help")
    assert done.returncode == 0
    assert "--json" in done.stdout or command == "serve"  # prints nothing: its log is JSON


@pytest.mark.parametrize(
    ("option", "listed", "names"),
    [
        (options.Rules, "comma-separated: (.*?) \\(default", RULES),
        (options.Segmentation, "Segmenter: (.*)\\.", SEGMENTATIONS),
        (options.Format, "input: (.*?) \\(default", FORMATS),
        (options.To, "write: (.*?) \\(default", [name for name, each in FORMATS.items() if each.writes]),
    ],
    ids=["rules", "segmentations", "formats", "formats to write"],
)
def test_help_lists_every_name_that_an_option_takes(option: Any, listed: str, names: Iterable[str]) -> None:
    (found,) = re.findall(listed, option.__metadata__[0].help)
    words = re.sub(r"\([^)]*\)", "", found).replace(" or ", ", ").split(",")
    assert {word.strip() for word in words} - {""} == {*names}


def test_version_is_the_packages(batag) -> None:
    import batag as package

    assert batag("--version").stdout.strip() == f"batag {package.__version__}"
    assert f'version = "{package.__version__}"' in Path("pyproject.toml").read_text(encoding="utf-8")


def test_an_unknown_command_is_a_usage_error(batag) -> None:
    done = batag("inspekt")
    assert done.returncode == 2
    assert "inspekt" in done.stderr


def test_colours_are_off_when_nobody_watches(batag, tmp_path: Path) -> None:
    batag("sample", "--pages", 20, "--out", tmp_path / "pages.jsonl")
    done = batag("inspect", tmp_path / "pages.jsonl")
    assert "\x1b[" not in done.stdout + done.stderr


@pytest.mark.parametrize("command", [(), *((name,) for name in NAMES)], ids=lambda command: command[0] if command else "batag")
def test_help_names_no_type_for_an_option_without_a_value(command: tuple[str, ...]) -> None:
    done = typed(*command, "--help")
    assert "--help" in done.stdout
    assert "bool" not in done.stdout
