"""Tag, let people correct, train: as a whole, through Label Studio and by hand; a machine's tags stay the machine's."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.strategies import read_all
from tests.tiny import QUICK, catalogue, tiny_run, typed

from batag.pages.formats import write_pages
from batag.pages.page import Page

SETTINGS = [part for setting in (*QUICK, "training.epochs=1") for part in ("--set", setting)]
CORRECTED = 15


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages without labels, tagged."""
    folder = tmp_path_factory.mktemp("tagged")
    bare = [Page(f"{number}", page.fields, language=page.language) for number, page in enumerate(catalogue(10, seed=5))]
    write_pages(bare, folder / "pages.jsonl")
    done = typed("tag", tiny_run(), folder / "pages.jsonl", "--out", folder / "tagged.jsonl", "--workers", 1)
    assert done.returncode == 0, done.stderr
    return folder / "tagged.jsonl"


def trained(pages: Path, out: Path) -> tuple[dict[str, Any], str]:
    """What a training says of its pages, in its bundle and aloud; measured by other pages of people."""
    write_pages(catalogue(3, split="dev"), out.with_name("dev.jsonl"))
    done = typed("train", pages, "--dev", out.with_name("dev.jsonl"), "--out", out, *SETTINGS)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((out / "bundle" / "bundle.json").read_bytes())
    return found, " ".join(done.stderr.split())


def test_corrections_in_label_studio_teach_as_people_and_the_rest_as_a_model(tagged: Path, tmp_path: Path) -> None:
    assert typed("convert", tagged, tmp_path / "tasks.json", "--to", "label-studio").returncode == 0
    tasks = json.loads((tmp_path / "tasks.json").read_bytes())
    assert all("annotations" not in task for task in tasks)
    assert any("score" in region for task in tasks for region in task["predictions"][0]["result"])
    # As people correct and Label Studio exports: the first proposal of each page is thrown away, the others are submitted.
    kept = Counter[str]()
    for number, task in enumerate(tasks):
        proposed = task["predictions"][0]["result"]
        task |= {"id": number + 1, "annotations": []}
        if number < CORRECTED:
            kept["person"] += len(proposed[1:])
            done = {"id": 900 + number, "completed_by": 1, "was_cancelled": False, "lead_time": 4.2, "ground_truth": False}
            task["annotations"] = [done | {"created_at": "2026-01-01T00:00:00Z", "result": proposed[1:]}]
        else:
            kept["model"] += len(proposed)
    (tmp_path / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    assert typed("convert", tmp_path / "export.json", tmp_path / "corrected.jsonl").returncode == 0
    pages = read_all(tmp_path / "corrected.jsonl")
    assert [page.reviewed for page in pages] == [True] * CORRECTED + [False] * (len(pages) - CORRECTED)
    bundle, message = trained(tmp_path / "corrected.jsonl", tmp_path / "run")
    assert bundle["trained_on"]["sources"] == {
        "person": {"pages": CORRECTED, "tags": kept["person"], "weight": 1.0},
        "model": {"pages": len(pages) - CORRECTED, "tags": kept["model"], "weight": 0.3},
    }
    assert (bundle["trained_on"]["reviewed"], bundle["metrics"]["dev"]["measured_by"]) == (CORRECTED, "person")
    assert f"person: {CORRECTED} pages, {kept['person']} tags" in message
    assert f"model: {len(pages) - CORRECTED} pages, {kept['model']} tags, weight 0.3" in message
    assert "NO PERSON" not in message


def test_corrections_by_hand_teach_as_people_once_it_is_said_that_they_were_seen(tagged: Path, tmp_path: Path) -> None:
    corrected = [replace(page, tags=page.tags[1:]) for page in read_all(tagged)[:CORRECTED]]
    write_pages(corrected, tmp_path / "by-hand.jsonl")
    bundle, message = trained(tmp_path / "by-hand.jsonl", tmp_path / "unsaid")
    assert bundle["trained_on"]["sources"].keys() == {"model"}
    assert "no person has reviewed any of the training pages" in message
    assert typed("convert", tmp_path / "by-hand.jsonl", tmp_path / "seen.jsonl", "--reviewed").returncode == 0
    bundle, message = trained(tmp_path / "seen.jsonl", tmp_path / "run")
    tags = sum(len(page.tags) for page in corrected)
    assert bundle["trained_on"]["sources"] == {"person": {"pages": CORRECTED, "tags": tags, "weight": 1.0}}
    assert f"person: {CORRECTED} pages, {tags} tags" in message


@pytest.mark.parametrize("out", ["again.jsonl", "again.csv", "again.parquet", "again.json"])
def test_pages_that_are_tagged_again_are_the_models_even_if_people_had_labelled_them(tmp_path: Path, out: str) -> None:
    write_pages(catalogue(2), tmp_path / "people.jsonl")
    to = ["--to", "label-studio"] if out.endswith(".json") else ["--workers", "1"]
    done = typed("tag", tiny_run(), tmp_path / "people.jsonl", "--out", tmp_path / out, *to)
    assert done.returncode == 0, done.stderr
    found = read_all(tmp_path / out)
    assert {page.reviewed for page in found} == {False}
    assert {tag.source for page in found for tag in page.tags} == {"model"}
