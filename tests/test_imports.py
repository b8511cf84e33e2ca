"""Imports go one way along the folders of the house, in the order data flows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import batag

ROOT = Path(batag.__file__).parent
FLOW = [
    *("pages", "segmentation", "terms", "labels", "sample", "keywords", "features", "encoders", "heads", "objectives"),
    *("evaluation", "bundles", "engines", "training", "tagging", "catalogue", "index", "review", "start", "client"),
    *("serving", "paper"),
]
EVERYWHERE = {"errors", "settings"}


def room(path: Path) -> str:
    """The folder (or top file) of ours that a module stands in."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def modules() -> list[Path]:
    """All but those that may import everything."""
    found = [path for path in sorted(ROOT.rglob("*.py")) if room(path) not in ("cli", "__init__", "__main__")]
    assert len(found) > 100
    return found


def imported_rooms(path: Path) -> set[str]:
    """The folders (or top files) of ours that a module imports, anywhere in it."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" if node.module == "batag" else str(node.module) for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("batag.")}
    return rooms


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_folder_imports_only_folders_before_it(path: Path) -> None:
    imported = imported_rooms(path) - {room(path)}
    before = [] if room(path) in EVERYWHERE else FLOW[: FLOW.index(room(path))]
    allowed = {*before, *EVERYWHERE}
    assert imported <= allowed, f"{room(path)} imports {sorted(imported - allowed)}"


def test_every_folder_is_part_of_the_flow() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {*FLOW, "cli"}


def test_nothing_but_the_command_line_imports_the_papers_comparison() -> None:
    users = {room(path) for path in ROOT.rglob("*.py") if "paper" in imported_rooms(path)}
    assert users == {"paper", "cli"}


def test_contributing_describes_every_folder_in_this_order() -> None:
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    there = [name for name in FLOW if (ROOT / name).is_dir()]
    assert described == [*there, "cli"]
