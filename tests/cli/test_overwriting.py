"""No command writes over what it reads, by whatever name, and none writes two things into one file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tiny import catalogue, tiny_run, typed

from batag.pages.formats import write_pages

COMMANDS: dict[str, tuple[object, ...]] = {
    "tag to one file": ("tag", "B", "in.jsonl", "-o", "OUT", "--restart"),
    "tag page after page": ("tag", "B", "in.jsonl", "-o", "OUT", "--to", "conll", "--restart"),
    "tag a folder": ("tag", "B", "folder", "-o", "OUT", "--restart"),
    "tag, problems": ("tag", "B", "in.jsonl", "-o", "new.jsonl", "--problems", "OUT"),
    "tag to a folder, problems": ("tag", "B", "in.jsonl", "-o", "new/", "--problems", "OUT"),
    "tag to the terminal, problems": ("tag", "B", "in.jsonl", "--problems", "OUT"),
    "convert": ("convert", "in.jsonl", "OUT"),
    "convert, problems": ("convert", "in.jsonl", "new.csv", "--problems", "OUT"),
    "weak": ("weak", "in.jsonl", "--terms", "list.txt=brand", "-o", "OUT"),
    "weak, problems": ("weak", "in.jsonl", "--terms", "list.txt=brand", "--problems", "OUT"),
    "segment, problems": ("segment", "in.jsonl", "--problems", "OUT"),
    "inspect, problems": ("inspect", "in.jsonl", "--problems", "OUT"),
    "inspect a dev file, problems": ("inspect", "other.jsonl", "--dev", "in.jsonl", "--problems", "OUT"),
    "split, problems": ("split", "in.jsonl", "-o", "new", "--problems", "OUT"),
    "evaluate, wrong pages": ("evaluate", "B", "in.jsonl", "--wrong", "OUT"),
    "evaluate, problems": ("evaluate", "B", "in.jsonl", "--problems", "OUT"),
    "export, problems": ("export", "B", "--pages", "in.jsonl", "--problems", "OUT"),
    "train, problems": ("train", "in.jsonl", "-o", "new", "--problems", "OUT"),
    "train on other pages, problems": ("train", "other.jsonl", "--dev", "in.jsonl", "-o", "new", "--problems", "OUT"),
    "distil, problems": ("distil", "B", "in.jsonl", "-o", "new", "--problems", "OUT"),
    "curve, problems": ("curve", "in.jsonl", "-o", "new", "--problems", "OUT"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where one works: labelled pages, and a list."""
    monkeypatch.chdir(tmp_path)
    write_pages(catalogue(3), tmp_path / "in.jsonl")
    write_pages(catalogue(3, seed=1), tmp_path / "other.jsonl")
    (tmp_path / "list.txt").write_text("ACME\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    os.link(tmp_path / "in.jsonl", tmp_path / "folder" / "pages.jsonl")
    return tmp_path


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spelt_alike(folder: Path) -> str:
    return "in.jsonl"


def spelt_otherwise(folder: Path) -> str:
    return f"{folder}/folder/..//./in.jsonl"


def soft_link(folder: Path) -> str:
    (folder / "soft.jsonl").symlink_to("in.jsonl")
    return "soft.jsonl"


def hard_link(folder: Path) -> str:
    os.link(folder / "in.jsonl", folder / "hard.jsonl")
    return "hard.jsonl"


def check_refused(folder: Path, call: tuple[object, ...]) -> None:
    before = everything(folder)
    done = typed(*(tiny_run() if each == "B" else each for each in call))
    assert done.returncode == 2, done.stderr
    assert "both input and output" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert everything(folder) == before


@pytest.mark.parametrize("call", COMMANDS.values(), ids=COMMANDS.keys())
def test_no_command_writes_over_its_input(folder: Path, call: tuple[object, ...]) -> None:
    check_refused(folder, tuple("in.jsonl" if each == "OUT" else each for each in call))


@pytest.mark.parametrize("spell", [spelt_otherwise, soft_link, hard_link])
@pytest.mark.parametrize("name", ["tag to one file", "tag page after page", "convert", "weak", "evaluate, wrong pages"])
def test_an_input_is_known_by_whatever_name(folder: Path, name: str, spell: Callable[[Path], str]) -> None:
    target = spell(folder)
    check_refused(folder, tuple(target if each == "OUT" else each for each in COMMANDS[name]))


def test_an_input_through_a_link_is_known_by_its_own_name(folder: Path) -> None:
    check_refused(folder, ("tag", "B", soft_link(folder), "-o", "in.jsonl", "--restart"))
    check_refused(folder, ("convert", "soft.jsonl", "in.jsonl"))


def test_an_input_that_the_shell_opened_is_known(folder: Path) -> None:
    before = everything(folder)
    for call in (("convert", "-", "in.jsonl"), ("tag", tiny_run(), "-", "-o", "in.jsonl", "--restart")):
        with open("in.jsonl", "rb") as stream:
            done = subprocess.run(
                [sys.executable, "-m", "batag", *map(str, call)], stdin=stream, capture_output=True, check=False
            )
        assert done.returncode == 2, done.stderr
        assert b"both input and output" in done.stderr
    assert everything(folder) == before


@pytest.mark.parametrize("name", ["train.jsonl", "test.jsonl"])
def test_pages_are_not_split_into_themselves(folder: Path, name: str) -> None:
    shutil.copy("in.jsonl", name)
    check_refused(folder, ("split", name, "-o", "."))
    check_refused(folder, ("split", "in.jsonl", name, "-o", "folder/.."))


def test_lists_dictionaries_and_bundles_are_inputs_too(folder: Path) -> None:
    shutil.copytree(tiny_run() / "bundle", "bundle")
    check_refused(folder, ("weak", "in.jsonl", "--terms", "list.txt=brand", "-o", "list.txt", "--to", "jsonl"))
    check_refused(folder, ("convert", "in.jsonl", "list.txt", "--to", "conll", "--dictionary", "list.txt"))
    check_refused(folder, ("tag", "B", "in.jsonl", "-o", "list.txt", "--to", "jsonl", "--stop-words", "list.txt", "--restart"))
    check_refused(folder, ("tag", "bundle", "in.jsonl", "-o", "bundle/bundle.json", "--to", "jsonl", "--restart"))
    check_refused(folder, ("evaluate", "bundle", "in.jsonl", "--wrong", "bundle/model.safetensors"))
    shutil.copy("in.jsonl", "pages.png")
    check_refused(folder, ("inspect", "pages.png", "--format", "jsonl", "--chart", "pages.png"))
    check_refused(folder, ("evaluate", "B", "pages.png", "--format", "jsonl", "--chart", "pages.png"))


@pytest.mark.parametrize(
    "call",
    [
        ("convert", "in.jsonl", "new.jsonl", "--problems", "new.jsonl"),
        ("tag", "B", "in.jsonl", "-o", "new.jsonl", "--problems", "./new.jsonl"),
        ("evaluate", "B", "in.jsonl", "--wrong", "new.jsonl", "--problems", "folder/../new.jsonl"),
        ("split", "in.jsonl", "-o", "new", "--problems", "new/dev.jsonl"),
    ],
)
def test_two_things_are_not_written_into_one_file(folder: Path, call: tuple[object, ...]) -> None:
    before = everything(folder)
    done = typed(*(tiny_run() if each == "B" else each for each in call))
    assert done.returncode == 2, done.stderr
    assert "written twice" in done.stderr
    assert everything(folder) == before


def test_devices_are_written_into_as_ever(folder: Path) -> None:
    assert typed("convert", "in.jsonl", "/dev/null", "--to", "jsonl", "--problems", "/dev/null").returncode == 0
    assert typed("tag", tiny_run(), "in.jsonl", "-o", "/dev/null", "--to", "jsonl").returncode == 0


@pytest.mark.long
def test_a_folder_is_tagged_with_and_without_a_file_to_write(folder: Path) -> None:
    write_pages(catalogue(1), folder / "folder" / "more.csv")
    done = typed("tag", tiny_run(), "folder")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 12
    assert typed("tag", tiny_run(), "folder", "-o", "new.conll").returncode == 0
    assert "12 pages tagged" in typed("tag", tiny_run(), "folder", "-o", "new.jsonl").stderr
