"""Addresses of cells stay when recipes change their keys, and what was published is found with today's code."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.tiny import typed

from batag.paper.address import address, paper_conditions
from batag.paper.definition import PAPER_SETTINGS, Definition
from batag.paper.result import Result
from batag.paper.store import Store
from batag.paper.tables import find_table
from batag.training.recipe import read_recipe

PUBLISHED = Path(__file__).parents[2] / "benchmarks" / "results" / "paper"
TABLES = sorted(path.stem for path in PUBLISHED.glob("*.json"))
CORPUS = {"train": "1", "dev": "2", "test": "3", "reading": {}}


def recipe(*settings: str) -> dict[str, Any]:
    return read_recipe(None, settings=(*PAPER_SETTINGS, "training.epochs=3", *settings)).model_dump()


def options(command: str) -> dict[str, str]:
    """The options of a command and their values; a flag's is empty."""
    words = shlex.split(command)
    return {
        word: "" if value.startswith("--") else value
        for word, value in zip(words, [*words[1:], "--"], strict=True)
        if word.startswith("--")
    }


def table(report: dict[str, Any]) -> tuple[Definition, dict[str, Any]]:
    """The definition that a published table was made by, and the length and seeds of its cells."""
    given = options(report["command"])
    definition = find_table(report["table"]).only(given.get("--only-rows"), given.get("--only-columns"))
    if "--scale-warmup" in given:
        definition = definition.with_scaled_warmup(int(given["--epochs"]))
    return definition, {"seeds": int(given.get("--seeds", 1)), "epochs": int(given["--epochs"])}


def test_there_are_published_tables() -> None:
    assert len(TABLES) >= 8


@pytest.mark.parametrize("name", TABLES)
def test_every_published_table_is_what_todays_code_finds_in_the_published_cells(name: str) -> None:
    report = json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))
    store = Store(PUBLISHED)
    definition, of_cells = table(report)
    result = Result.gather(definition, definition.cells(store.corpus(report["corpus"]["name"]), **of_cells), store)
    why = (
        "a new setting moves published cells: add it to paper/recipe.toml, with the value at which trainings stay as they were"
    )
    assert (result.done, result.wanted) == (report["cells_done"], report["cells_wanted"]), why
    found = {place: [each["key"] for each in cells] for place, cells in result.finished.items()}
    assert found == {(row["row"], row["column"]): row["keys"] for row in report["cells"]}
    for row in report["cells"]:
        for moment in ("end", "best"):
            for metric in result.metrics:
                values = result.values(row["row"], row["column"], metric=metric, moment=moment)
                assert values == pytest.approx(row[moment][metric], abs=1e-3)


def test_every_published_cell_says_which_commit_trained_it() -> None:
    for path in (PUBLISHED / "cells").iterdir():
        cell = json.loads(path.read_bytes())
        assert path.stem == cell["key"]
        assert cell["commit"]


def test_a_published_table_is_printed_again_without_its_corpus(tmp_path: Path) -> None:
    (tmp_path / "cells").symlink_to(PUBLISHED / "cells")
    call = ["paper", "boost", "--show", "--name", "taobao-zh", "--epochs", 8, "--only-rows", "CLA(1,20);CLA(1,24)"]
    done = typed(*call, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    scores = "## Macro F1 on test, after the last epoch"
    for row in ("CLA(1,20)", "CLA(1,24)"):
        lines = [
            next(line for line in path.read_text(encoding="utf-8").split(scores)[1].splitlines() if line.startswith(f"| {row}"))
            for path in (tmp_path / "taobao-zh-boost-part.md", PUBLISHED / "taobao-zh-boost.md")
        ]
        assert lines[0].replace("*", "") == lines[1].replace("*", "")


def test_a_setting_with_the_papers_value_leaves_no_trace() -> None:
    without = recipe()
    del without["dial"], without["training"]["clip"], without["input"]["backbone"]
    assert address(without, CORPUS) == address(recipe(), CORPUS)


def test_the_papers_conditions_name_every_setting_of_a_recipe_but_what_the_tables_compare() -> None:
    compared = {"encoder.name", "objective.name", "training.seed", "training.epochs"}
    settings = {f"{table}.{key}" for table, values in recipe().items() for key in values} - {"encoder.options"}
    assert set(paper_conditions()) == settings - compared


def test_a_setting_that_is_not_off_moves_the_address() -> None:
    settings = (
        "head.chain=true",
        "training.adversarial_epsilon=0.1",
        "encoder.depth=6",
        "encoder.options.norm=pre",
        "training.seed=1",
    )
    found = {address(recipe(setting), CORPUS) for setting in settings} | {address(recipe(), CORPUS)}
    assert len(found) == len(settings) + 1


def test_a_dictionary_is_known_by_its_words_and_not_by_its_place(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one", "two", "three")]
    for path, words in zip(files, ("a b\n", "a b\n", "c\n"), strict=True):
        path.write_text(words, encoding="utf-8")
    found = [address(recipe(f"pages.dictionary={path}"), CORPUS) for path in files]
    assert found[0] == found[1] != found[2]
