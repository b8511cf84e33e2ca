"""Who set a tag, through labelling tools and back: a machine's tag becomes a person's only by a person's hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.strategies import read_all, read_with_problems, sources, written
from tests.tiny import typed

from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag

TITLE = "ACME 😀 跑鞋"
BRAND, GOODS = Tag("title", 0, 4, "brand", "ACME", 0.75, "acme", "model"), Tag("title", 7, 9, "goods", "跑鞋", source="terms")
MACHINES = Page("1", {"title": TITLE, "description": "輕量"}, tags=(BRAND, GOODS))
NOTHING_FOUND = Page("2", {"title": TITLE}, labelled=True, reviewed=False)
BOTH = Page("3", {"title": TITLE}, tags=(Tag("title", 0, 4, "brand", "ACME"), GOODS))
UNFINISHED = Page("4", {"title": TITLE}, tags=(Tag("title", 0, 4, "brand", "ACME"),), reviewed=False)
PEOPLES = Page("5", {"title": TITLE}, tags=(Tag("title", 7, 9, "goods", "跑鞋"),))
NONE_BY_PEOPLE = Page("6", {"title": TITLE}, labelled=True)
NOBODYS = Page("7", {"title": TITLE})
ALL = [MACHINES, NOTHING_FOUND, BOTH, UNFINISHED, PEOPLES, NONE_BY_PEOPLE, NOBODYS]


def tasks(tmp_path: Path, *pages: Page) -> list[dict[str, Any]]:
    write_pages(pages, tmp_path / "tasks.json", format="label-studio")
    found: list[dict[str, Any]] = json.loads((tmp_path / "tasks.json").read_bytes())
    return found


def lines(tmp_path: Path, *pages: Page) -> list[dict[str, Any]]:
    write_pages(pages, tmp_path / "doccano.jsonl", format="doccano")
    return [json.loads(line) for line in (tmp_path / "doccano.jsonl").read_bytes().splitlines()]


def test_label_studio_gets_machines_tags_as_predictions_with_scores_and_no_annotation(tmp_path: Path) -> None:
    machines, nothing, both, _, peoples, none, nobodys = tasks(tmp_path, *ALL)
    assert "annotations" not in machines
    assert machines["predictions"][0]["model_version"]
    regions = machines["predictions"][0]["result"]
    assert [region["value"]["labels"] for region in regions] == [["brand"], ["goods"]]
    assert [region.get("score") for region in regions] == [0.75, None]
    assert "annotations" not in nothing, "a page on which a machine found nothing is not one where a person did"
    assert [region["value"]["text"] for region in both["annotations"][0]["result"]] == ["ACME"]
    assert [region["value"]["text"] for region in both["predictions"][0]["result"]] == ["跑鞋"]
    assert "predictions" not in peoples
    assert none["annotations"] == [{"result": []}]
    assert nobodys.keys() == {"data"}


def test_doccano_gets_machines_tags_beside_its_labels(tmp_path: Path) -> None:
    machines, nothing, both, _, peoples, none, nobodys = lines(tmp_path, *ALL)
    assert "label" not in machines
    assert [(tag["label"], tag["source"], tag.get("score")) for tag in machines["predictions"]] == [
        ("brand", "model", 0.75),
        ("goods", "terms", None),
    ]
    assert "label" not in nothing
    assert both["label"] == [[0, 4, "brand"]]
    assert peoples["label"] == [[7, 9, "goods"]]
    assert none["label"] == []
    assert "label" not in nobodys


@pytest.mark.parametrize("name", ["label-studio", "doccano", "jsonl", "csv", "tsv", "parquet"])
def test_every_page_comes_back_as_it_was(tmp_path: Path, name: str) -> None:
    write_pages(ALL, tmp_path / "pages", format=name)
    again, problems = read_with_problems(tmp_path / "pages", format=name)
    assert again == ALL
    assert not problems.counts


def test_an_annotation_of_label_studio_is_a_persons_work_on_the_whole_page(tmp_path: Path) -> None:
    given = tasks(tmp_path, MACHINES, MACHINES, BOTH)
    region = given[0]["predictions"][0]["result"][0]
    # As Label Studio exports what people did: of two proposals one was kept, all were thrown away, the same was said again.
    for task, kept in zip(given, ([region | {"origin": "prediction"}], [], given[2]["annotations"][0]["result"]), strict=True):
        task["annotations"] = [{"id": 1, "completed_by": 1, "was_cancelled": False, "lead_time": 9.5, "result": kept}]
    again = read_all(written(tmp_path / "export.json", json.dumps(given)))
    assert [sources(page) for page in again] == [(["person"], True), ([], True), (["person"], True)]
    assert [page.tags[0].score for page in again if page.tags] == [None, None]


def test_a_prediction_of_another_tool_is_a_models_with_its_score(tmp_path: Path) -> None:
    region = {"to_name": "text", "type": "labels", "value": {"start": 0, "end": 4, "text": "ACME", "labels": ["brand"]}}
    task = {"id": 1, "data": {"text": TITLE}, "annotations": [], "predictions": [{"score": 0.5, "result": [region]}]}
    (page,) = read_all(written(tmp_path / "export.json", json.dumps([task, task | {"predictions": []}])))[:1]
    assert sources(page) == (["model"], False)
    assert page.tags[0].score == 0.5
    skipped = {"result": [region], "was_cancelled": True}
    (page,) = read_all(written(tmp_path / "export.json", json.dumps([task | {"annotations": [skipped]}])))
    assert sources(page) == (["model"], False)


@pytest.mark.parametrize("score", ["1" + "0" * 400, "NaN", "1e400", "true", '"high"'])
def test_a_score_that_is_no_number_to_be_used_costs_no_tag(tmp_path: Path, score: str) -> None:
    region = {"to_name": "text", "type": "labels", "value": {"start": 0, "end": 4, "text": "ACME", "labels": ["brand"]}}
    task = {"id": 1, "data": {"text": TITLE}, "annotations": [], "predictions": [{"score": 0.5, "result": [region]}]}
    text = json.dumps([task, task | {"id": 2}]).replace("0.5", score)
    pages = read_all(written(tmp_path / "export.json", text), format="label-studio")
    assert [(tag.source, tag.score) for page in pages for tag in page.tags] == [("model", None)] * 2


def test_a_task_of_label_studio_without_annotation_and_prediction_is_not_labelled(tmp_path: Path) -> None:
    task = {"id": 1, "data": {"title": TITLE}, "annotations": [], "predictions": []}
    (page,) = read_all(written(tmp_path / "export.json", json.dumps([task])))
    assert not page.labelled


@pytest.mark.parametrize("key", ["label", "labels"])
def test_labels_of_doccano_are_a_persons_unless_nobody_touched_the_page(tmp_path: Path, key: str) -> None:
    corrected, untouched, finished = lines(tmp_path, MACHINES, MACHINES, BOTH)
    corrected[key], untouched[key] = [[0, 4, "brand"]], []
    finished.pop("label")
    finished[key] = [[7, 9, "goods"], [0, 4, "brand"]]
    content = "".join(json.dumps(line) + "\n" for line in (corrected, untouched, finished))
    again = read_all(written(tmp_path / "export.jsonl", content))
    assert [sources(page) for page in again] == [(["person"], True), (["model", "terms"], False), (["person", "person"], True)]


@pytest.mark.parametrize("name", ["conll", "words"])
def test_formats_that_cannot_say_who_set_a_tag_say_how_many_they_lose(tmp_path: Path, name: str) -> None:
    write_pages(ALL, tmp_path / "pages.jsonl")
    done = typed("convert", tmp_path / "pages.jsonl", tmp_path / f"out.{name}")
    assert done.returncode == 0
    assert "2 tags by terms and 1 tag by model on 4 pages that no person has reviewed" in " ".join(done.stderr.split())
    assert "will count as a person's" in " ".join(done.stderr.split())
    write_pages([PEOPLES, NONE_BY_PEOPLE, NOBODYS], tmp_path / "pages.jsonl")
    assert "the source of a tag" not in typed("convert", tmp_path / "pages.jsonl", tmp_path / f"out.{name}").stderr


def test_converting_reviewed_pages_makes_what_is_left_on_them_the_persons(tmp_path: Path) -> None:
    write_pages(ALL, tmp_path / "pages.jsonl")
    done = typed("convert", tmp_path / "pages.jsonl", tmp_path / "out.jsonl", "--reviewed", "--json")
    again = read_all(tmp_path / "out.jsonl")
    assert {page.reviewed for page in again} == {True}
    assert {tag.source for page in again for tag in page.tags} == {"person"}
    assert [[(tag.start, tag.label) for tag in page.tags] for page in again] == [
        [(tag.start, tag.label) for tag in page.tags] for page in ALL
    ]
    assert json.loads(done.stdout)["reviewed"] == {"terms": 2, "model": 1}
    done = typed("convert", tmp_path / "pages.jsonl", tmp_path / "out.jsonl", "--reviewed")
    assert "2 tags by terms and 1 tag by model as the person's own" in " ".join(done.stderr.split())


def test_labels_that_cannot_be_read_are_not_nothing_by_a_person(tmp_path: Path) -> None:
    written(tmp_path / "pages.jsonl", json.dumps({"title": TITLE, "tags": [{"start": 90, "end": 99, "label": "x"}]}) + "\n")
    typed("convert", tmp_path / "pages.jsonl", tmp_path / "out.jsonl", "--reviewed")
    assert [page.labelled for page in read_all(tmp_path / "out.jsonl")] == [False]


@pytest.mark.parametrize("change", [lambda tag: tag, lambda tag: tag | {"source": "person"}], ids=["as it is", "by hand"])
def test_one_tag_mended_by_hand_does_not_make_the_page_reviewed(tmp_path: Path, change: Callable[[Any], Any]) -> None:
    write_pages([MACHINES], tmp_path / "pages.jsonl")
    record = json.loads((tmp_path / "pages.jsonl").read_bytes())
    record["tags"] = [change(record["tags"][0]), record["tags"][1]]
    (page,) = read_all(written(tmp_path / "pages.jsonl", json.dumps(record) + "\n"))
    assert page.reviewed is False
    assert page.tags[1].source == "terms"
