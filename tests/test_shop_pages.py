"""The hand-written shop pages are well-formed, and what scores a bundle on them counts right."""

from __future__ import annotations

import csv
import json
import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import batag
from batag.pages.page import Page, Tag

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "shop_pages"
LANGUAGES = ("zh-Hant", "ja", "en")


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    sys.path.insert(0, str(FOLDER.parent))
    try:
        return runpy.run_path(str(FOLDER.parent / "shop_pages.py"))
    finally:
        sys.path.remove(str(FOLDER.parent))


def records(language: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_tag_is_cut_from_its_text_and_none_overlaps_another(language: str) -> None:
    for record in records(language):
        for tag in record["tags"]:
            assert tag["label"] in ("brand", "goods")
            assert record[tag["field"]][tag["start"] : tag["end"]] == tag["text"] == tag["text"].strip() != ""
        for field in ("title", "description"):
            borders = sorted((tag["start"], tag["end"]) for tag in record["tags"] if tag["field"] == field)
            assert all(first[1] <= second[0] for first, second in pairwise(borders)), record["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_forty_different_pages_that_are_read_without_a_problem(language: str) -> None:
    pages = list(batag.read_pages(FOLDER / f"{language}.jsonl", strict=True))
    assert len(pages) == len({page.id for page in pages}) == len({page["title"] for page in pages}) == 40
    assert all(page.language == language and page.reviewed and set(page.fields) == {"title", "description"} for page in pages)
    assert [len(page.tags) for page in pages] == [len(record["tags"]) for record in records(language)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_export_has_the_same_pages(language: str) -> None:
    with open(FOLDER / f"{language}.csv", encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert len(head) == 6
    keys = ("id", "title", "description", "brand", "category")
    assert [row[:5] for row in rows] == [[record[key] for key in keys] for record in records(language)]
    assert all(float(row[5]) > 0 for row in rows)


def test_a_tag_with_another_start_counts_by_its_end_only_and_other_labels_do_not_count(script: dict[str, Any]) -> None:
    true = (Tag("title", 0, 2, "brand", "日立"), Tag("title", 4, 8, "goods", "三門冰箱"))
    page = Page("1", {"title": "日立變頻三門冰箱"}, tags=true, labelled=True)
    predicted = [
        Tag("title", 0, 2, "brand", "日立"),
        Tag("title", 2, 4, "feature", "變頻"),
        Tag("title", 6, 8, "goods", "冰箱"),
    ]
    scores = script["scores_of"]([page], [predicted])
    assert [scores["exact"][label]["f1"] for label in ("brand", "goods", "micro")] == [1, 0, 0.5]
    assert [scores["same_end"][label]["f1"] for label in ("brand", "goods", "micro")] == [1, 1, 1]
    assert scores["exact"]["micro"]["true"] == scores["exact"]["micro"]["predicted"] == 2
    wrong = script["wrong_of"](page, predicted)
    assert [tag["text"] for tag in wrong["missed"]] == ["三門冰箱"]
    assert [tag["text"] for tag in wrong["not_true"]] == ["冰箱"]
    assert script["wrong_of"](page, true) is None


def test_an_end_under_another_label_or_in_another_field_is_not_the_same_end(script: dict[str, Any]) -> None:
    page = Page("1", {"title": "ACME", "description": "ACME"}, tags=(Tag("title", 0, 4, "brand", "ACME"),), labelled=True)
    for tag in (Tag("title", 0, 4, "goods", "ACME"), Tag("description", 0, 4, "brand", "ACME")):
        assert script["scores_of"]([page], [[tag]])["same_end"]["micro"]["found"] == 0
    nothing = script["scores_of"]([page], [[]])["exact"]
    assert nothing["goods"]["f1"] == 0
    assert nothing["brand"]["true"] == 1


def test_a_bundle_is_scored_and_its_misses_are_listed(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER.parent / "shop_pages.py"), str(ROOT / "tests/bundles/format-1"), "--json", "--wrong"]
    done = subprocess.run([*command, "wrong.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300)
    scores = json.loads(done.stdout)
    assert list(scores) == list(LANGUAGES)
    missed = [len(json.loads(line)["missed"]) for line in (tmp_path / "wrong.jsonl").read_text(encoding="utf-8").splitlines()]
    micros = [own["exact"]["micro"] for own in scores.values()]
    assert sum(missed) == sum(micro["true"] - micro["found"] for micro in micros)
