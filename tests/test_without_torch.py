"""An installation without the extra `train` tags, evaluates and converts; what learns says what to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import Run
from tests.processes import PATIENCE
from tests.tiny import catalogue, tiny_exported, tiny_run

from batag.pages.formats import write_pages

BLOCKED = """
import importlib.abc, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "onnx", "onnxscript", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""
COMMAND = BLOCKED + "from batag.cli import main\nmain()\n"
LOADED = """
import batag
tagger = batag.load(sys.argv[1])
pages = {"title": "NORDVIK running shoes"}, {"title": "NORDVIK 防水登山鞋", "description": "輕量"}
tags = [tagger.tag(page) for page in pages]
print(tagger.engine.name, [[tag.text for tag in each] for each in tags])
try:
    batag.train([batag.Page("1", {"title": "a"})], out="run")
except batag.errors.UsageError as error:
    print(error)
"""


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, where importing torch fails."""
    command = [sys.executable, "-P", "-c", code, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    write_pages(catalogue(3, split="test"), path)
    return path


def test_a_bundle_with_an_onnx_engine_is_loaded_and_tags() -> None:
    done = run(BLOCKED + LOADED, tiny_exported())
    assert (done.returncode, done.stderr) == (0, "")
    tagged, refused = done.stdout.splitlines()
    assert tagged.startswith("onnx [[")
    assert refused == "this needs torch, which is not installed. pip install 'batag[train]'"


def test_a_catalogue_is_tagged_by_workers(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATAG_PART_PAGES", "3")
    done = run(COMMAND, "tag", tiny_exported(), pages, "-o", tmp_path / "tagged.jsonl", "--workers", 2)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "tagged.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 9
    assert all(row["error"] is None for row in rows)


@pytest.mark.parametrize(
    "arguments",
    [
        ("tag", "BUNDLE", "NORDVIK running shoes"),
        ("evaluate", "BUNDLE", "PAGES"),
        ("show", "BUNDLE"),
        ("inspect", "PAGES"),
        ("convert", "PAGES", "OUT.csv"),
        ("segment", "防水登山鞋"),
        ("sample", "--pages", "3"),
        ("weak", "PAGES", "--terms", "LIST=brand"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_that_do_not_learn_need_no_torch(arguments: tuple[str, ...], pages: Path, tmp_path: Path) -> None:
    (tmp_path / "LIST").write_text("NORDVIK\n", encoding="utf-8")
    named = {"BUNDLE": str(tiny_exported()), "PAGES": str(pages), "LIST=brand": f"{tmp_path / 'LIST'}=brand"}
    given = [named.get(each, str(tmp_path / each) if each.startswith("OUT") else each) for each in arguments]
    done = run(COMMAND, *given)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("train", "PAGES"), ("export", "BUNDLE"), ("tag", "BUNDLE", "shoes"), ("inspect", "PAGES", "--chart", "chart.png")],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_the_extra_names_it(arguments: tuple[str, ...], pages: Path, tmp_path: Path) -> None:
    named = {"BUNDLE": str(tiny_run()), "PAGES": str(pages), "chart.png": str(tmp_path / "chart.png")}
    done = run(COMMAND, *(named.get(each, each) for each in arguments))
    assert done.returncode == 2
    assert "pip install 'batag[train]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_the_bundle_of_the_demo_tags_as_it_did_there(batag: Run, tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    done = batag("demo", "--out", demo, "--pages", 80, "--minutes", 0.3)
    assert done.returncode == 0, done.stderr
    done = batag("tag", demo / "shop", demo / "shop.csv", "-o", tmp_path / "there.jsonl", "--engine", "torch", "--json")
    assert json.loads(done.stdout)["engine"] == "torch", done.stderr
    done = run(COMMAND, "tag", demo / "shop", demo / "shop.csv", "-o", tmp_path / "again.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["engine"] == "onnx"
    there, here = (
        [json.loads(line)["tags"] for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (tmp_path / "there.jsonl", tmp_path / "again.jsonl")
    )
    assert any(here)
    places = [
        [[(tag["field"], tag["start"], tag["end"], tag["label"]) for tag in tags] for tags in rows] for rows in (there, here)
    ]
    assert places[0] == places[1]
