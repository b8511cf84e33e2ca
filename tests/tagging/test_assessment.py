from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.strategies import by_machine
from tests.tiny import catalogue, scripted_tagger, tiny_run, tiny_tagger

from batag.cli.evaluate import draw_sweep, evaluate
from batag.errors import InputError, UsageError
from batag.evaluation.assessment import true_labels
from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag
from batag.tagging.assessment import assess
from batag.tagging.tagger import Tagger

LABELS = {"shoes": "goods", "boots": "goods", "acme": "brand", "nice": "goods", "red": "feature"}


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    """It takes nice for goods, does not know hats, and is right about the rest."""
    return scripted_tagger(lambda word: LABELS.get(word.lower()))


def labelled(id: str, *fields: tuple[str, str], shop: str | None = None, **tags: str) -> Page:
    """A page whose every occurrence of a word is tagged as said."""
    page = Page(id, dict(fields), language="en", shop=shop)
    found = [
        page.cut(name, match.start(), match.end(), tags[match[0].lower()])
        for name, text in fields
        for match in re.finditer(r"\w+", text)
        if match[0].lower() in tags
    ]
    return Page(id, dict(fields), language="en", shop=shop, tags=tuple(found), labelled=True)


@pytest.fixture
def by_hand() -> list[Page]:
    return [
        labelled("right", ("title", "ACME red shoes"), shop="a", acme="brand", red="feature", shoes="goods"),
        labelled("needless", ("title", "nice boots"), ("description", "so nice"), shop="a", boots="goods"),
        labelled("missed", ("title", "ACME hats"), shop="b", acme="brand", hats="goods"),
        labelled("mixed up", ("title", "red boots"), shop="b", red="brand", boots="goods"),
        labelled("borders", ("title", "ACME shoes shoes"), shop="b", acme="brand"),
        Page("nobody saw", {"title": "ACME shoes"}, language="en"),
    ]


def test_the_scores_are_those_counted_by_hand(tagger: Tagger, by_hand: list[Page]) -> None:
    report = assess(tagger, by_hand).report()
    assert {key: report[key] for key in ("pages", "pages_all_right", "pages_not_labelled", "unknown_classes")} == {
        "pages": 5,
        "pages_all_right": 1,
        "pages_not_labelled": 1,
        "unknown_classes": [],
    }
    # none: so; goods: shoes, boots, hats, boots; brand: ACME x3, red; feature: red
    assert report["tokens"]["confusion"] == [[1, 4, 0, 0], [1, 3, 0, 0], [0, 0, 3, 1], [0, 0, 0, 1]]
    assert report["tokens"]["tokens"] == 14
    goods = report["tokens"]["classes"]["goods"]
    assert (goods["true"], goods["predicted"], goods["precision"], goods["recall"]) == (4, 7, 3 / 7, 3 / 4)
    assert goods["f1"] == pytest.approx(2 * (3 / 7) * (3 / 4) / (3 / 7 + 3 / 4))
    assert goods["f2"] == pytest.approx(5 * (3 / 7) * (3 / 4) / (4 * 3 / 7 + 3 / 4))
    # In the flat scheme nice and boots are one tag, and so are the two shoes.
    tags = report["tags"]
    assert {name: (row["true"], row["predicted"], row["found"]) for name, row in tags["classes"].items()} == {
        "goods": (4, 5, 2),
        "brand": (4, 3, 3),
        "feature": (1, 2, 1),
    }
    assert (tags["micro"]["true"], tags["micro"]["predicted"], tags["micro"]["found"]) == (9, 10, 6)
    assert tags["micro"]["f1"] == pytest.approx(12 / 19)
    assert tags["macro"]["recall"] == pytest.approx((2 / 4 + 3 / 4 + 1) / 3)


def test_groups_are_scored_by_language_field_and_shop(tagger: Tagger, by_hand: list[Page]) -> None:
    chinese = Page("zh", {"title": "跑鞋"}, language="zh-Hant", tags=(Tag("title", 0, 2, "goods", "跑鞋"),))
    by = assess(tagger, [*by_hand, chinese]).report()["by"]
    assert {group: list(members) for group, members in by.items()} == {
        "language": ["en", "zh-Hant"],
        "field": ["description", "title"],
        "shop": ["", "a", "b"],
    }
    assert by["field"]["description"]["tokens"]["tokens"] == 2
    assert by["shop"]["a"]["tags"]["micro"]["true"] == 4
    assert by["language"]["zh-Hant"]["tags"]["micro"] | {"f2": 0} == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "f2": 0,
        "true": 1,
        "predicted": 0,
        "found": 0,
    }


def test_a_group_with_one_member_says_nothing_new_and_is_left_out(tagger: Tagger, by_hand: list[Page]) -> None:
    assert set(assess(tagger, by_hand[:1]).report()["by"]) == set()
    assert set(assess(tagger, by_hand[:3]).report()["by"]) == {"field", "shop"}


def test_groups_add_up_to_the_whole(by_hand: list[Page]) -> None:
    pages = catalogue(8, split="test")
    report = assess(tiny_tagger(), pages).report()
    for members in report["by"].values():
        parts = [each["tokens"]["confusion"] for each in members.values()]
        np.testing.assert_array_equal(np.sum(parts, axis=0), report["tokens"]["confusion"])
        for key in ("true", "predicted", "found"):
            assert sum(each["tags"]["micro"][key] for each in members.values()) == report["tags"]["micro"][key]
    assert set(report["by"]) == {"language", "field", "shop"}
    assert set(report["by"]["language"]) == {"zh-Hant", "ja", "en"}
    assert len(report["by"]["shop"]) == 5


@pytest.mark.parametrize("scheme", ["flat", "bio"])
def test_scores_of_a_trained_tagger_equal_a_plain_count(scheme: str) -> None:
    tagger = tiny_tagger(scheme)
    pages = catalogue(8, split="test")
    report = assess(tagger, pages).report()
    names = ["none", *tagger.labels]
    cells: Counter[tuple[str, str]] = Counter()
    true, predicted, found = Counter[str](), Counter[str](), Counter[str]()

    def label_of(tags: Iterable[Tag], field: str, start: int, end: int) -> str:
        over = [tag for tag in tags if tag.field == field and 2 * (min(end, tag.end) - max(start, tag.start)) >= end - start]
        return over[-1].label if over else "none"

    for prediction in tagger.predict(pages):
        page = prediction.page
        every = tagger.decoding.without_stop_words.tags_of(prediction)
        for field in prediction.fields:
            for start, end in field.origins:
                cells[label_of(page.tags, field.name, start, end), label_of(every, field.name, start, end)] += 1
        gold = {(tag.field, tag.start, tag.end, tag.label) for tag in page.tags}
        guess = {(tag.field, tag.start, tag.end, tag.label) for tag in tagger.tag(page)}
        for counter, tags in ((true, gold), (predicted, guess), (found, gold & guess)):
            counter.update(tag[3] for tag in tags)
    assert report["tokens"]["confusion"] == [[cells[one, other] for other in names] for one in names]
    assert {name: (row["true"], row["predicted"], row["found"]) for name, row in report["tags"]["classes"].items()} == {
        name: (true[name], predicted[name], found[name]) for name in tagger.labels
    }
    assert found.total() > 10


def test_a_class_that_the_bundle_does_not_know_is_named_and_its_tokens_do_not_count(tagger: Tagger) -> None:
    page = labelled("1", ("title", "ACME round shoes"), acme="brand", round="shape", shoes="goods")
    found = assess(tagger, [page])
    assert (found.unknown_classes, found.right) == ({"shape"}, 0)
    report = found.report()
    assert report["unknown_classes"] == ["shape"]
    assert report["tokens"]["tokens"] == 2
    assert report["tags"]["classes"]["shape"] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "f2": 0.0,
        "true": 1,
        "predicted": 0,
        "found": 0,
    }
    (field,) = tagger.segmentation(page)
    assert true_labels(page, field, tagger.scheme).tolist() == [2, -1, 1]


def test_pages_that_nobody_labelled_are_counted_and_never_scored(tagger: Tagger) -> None:
    found = assess(tagger, [Page("1", {"title": "ACME"}), Page("2", {"title": "ACME"}, labelled=True)])
    assert (found.pages, found.not_labelled, found.right) == (1, 1, 0)
    assert found.report()["tags"]["micro"]["true"] == 0
    assert found.report()["tags"]["micro"]["predicted"] == 1


def test_labels_by_machines_are_counted_and_nothing_to_be_measured_by(
    tagger: Tagger, by_hand: list[Page], tmp_path: Path
) -> None:
    weak = [by_machine(replace(page, id=f"weak {page.id}")) for page in by_hand]
    alone, both = assess(tagger, by_hand).report(), assess(tagger, by_hand + weak).report()
    assert both.pop("pages_not_reviewed") == 5
    assert alone.pop("pages_not_reviewed") == 0
    assert both | {"pages_not_labelled": 1} == alone
    pages, marked = catalogue(2, split="dev"), list(map(by_machine, catalogue(2, split="test")))
    sweeps = [draw_sweep(tiny_tagger(), own, tmp_path / "dial.svg") for own in (pages, pages + marked)]
    assert sweeps[0] == sweeps[1]


def test_no_page_at_all_is_a_report_of_zeros(tagger: Tagger) -> None:
    report = assess(tagger, []).report()
    assert (report["pages"], report["tokens"]["macro_f1"], report["tags"]["micro"]["f1"]) == (0, 0.0, 0.0)
    json.dumps(report, allow_nan=False)


def test_wrong_pages_are_listed_with_gold_predicted_missed_and_needless_tags(tagger: Tagger, by_hand: list[Page]) -> None:
    wrong: list[dict[str, Any]] = []
    assess(tagger, by_hand, wrong=wrong.append)
    assert [record["id"] for record in wrong] == ["needless", "missed", "mixed up", "borders"]

    def texts(record: dict[str, Any], key: str) -> list[tuple[str, str]]:
        return [(tag["label"], tag["text"]) for tag in record[key]]

    assert texts(wrong[0], "missed") == [("goods", "boots")]
    assert texts(wrong[0], "needless") == [("goods", "nice boots"), ("goods", "nice")]
    assert texts(wrong[1], "missed") == [("goods", "hats")]
    assert texts(wrong[1], "needless") == []
    assert texts(wrong[2], "predicted") == [("feature", "red"), ("goods", "boots")]
    assert (wrong[0]["title"], wrong[0]["description"]) == ("nice boots", "so nice")


# The command


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate")
    pages = catalogue(8, split="test")
    write_pages([*pages, Page("x", {"title": "nobody saw me"})], folder / "test.jsonl")
    write_pages([Page("x", {"title": "nobody saw me"})], folder / "unlabelled.jsonl")
    return folder


@pytest.fixture(scope="module")
def report(files: Path) -> dict[str, Any]:
    pages = catalogue(8, split="test")
    return assess(tiny_tagger(), pages).report()


def test_the_json_of_the_command_holds_the_numbers_of_the_report(
    files: Path, report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(tiny_run(), [files / "test.jsonl"], as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["files"] == [str(files / "test.jsonl")]
    assert (printed["pages"], printed["pages_not_labelled"], printed["problems"]) == (24, 1, {})
    for key in ("tokens", "tags", "by"):
        assert printed[key] == json.loads(json.dumps(report[key]))


def test_the_tables_of_the_command_hold_the_same_numbers(
    files: Path, report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(tiny_run(), [files / "test.jsonl"])
    out = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in out.splitlines() if line.startswith("│")]

    def shown(row: dict[str, Any], *amounts: str) -> list[str]:
        return [f"{100 * row[key]:.1f}" for key in ("precision", "recall", "f1", "f2")] + [f"{row[key]:,}" for key in amounts]

    for name, row in report["tokens"]["classes"].items():
        assert [name, *shown(row, "true", "predicted")] in rows
    tokens, tags = report["tokens"], report["tags"]
    for name, row in tags["classes"].items():
        assert [name, *shown(row, "true", "predicted", "found")] in rows
    assert ["micro", *shown(tags["micro"], "true", "predicted", "found")] in rows
    macro = next(row for row in rows if row[0] == "macro")
    assert macro[3:5] == [f"{100 * tokens['macro_f1']:.1f}", f"{100 * tokens['macro_f2']:.1f}"]
    for group, members in report["by"].items():
        for name, each in members.items():
            (row,) = (row for row in rows if row[:2] == [group, name])
            assert row[2:4] == [f"{each['tokens']['tokens']:,}", f"{100 * each['tokens']['macro_f1']:.1f}"]
    assert f"pages without errors: {report['pages_all_right']} of 24; left out: 1 not labelled" in out


def test_the_wrong_pages_of_the_command_are_consistent(files: Path, report: dict[str, Any], tmp_path: Path) -> None:
    evaluate(tiny_run(), [files / "test.jsonl"], wrong=tmp_path / "wrong.jsonl", as_json=True)
    records = [json.loads(line) for line in (tmp_path / "wrong.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(records) == 24 - report["pages_all_right"] > 0
    known = {page.id: page for page in catalogue(8, split="test")}

    def places(tags: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
        return {(tag["field"], tag["start"], tag["end"], tag["label"]) for tag in tags}

    found = 0
    for record in records:
        page = known[record["id"]]
        gold, predicted = places(record["gold"]), places(record["predicted"])
        assert gold == {(tag.field, tag.start, tag.end, tag.label) for tag in page.tags}
        assert predicted == {(tag.field, tag.start, tag.end, tag.label) for tag in tiny_tagger().tag(page)}
        assert places(record["missed"]) == gold - predicted
        assert places(record["needless"]) == predicted - gold
        assert record["missed"] or record["needless"]
        for tag in (*record["gold"], *record["predicted"]):
            assert tag["text"] == record[tag["field"]][tag["start"] : tag["end"]]
        assert all("score" in tag for tag in record["predicted"])
        found += len(gold & predicted)
    right = [page for page in known.values() if page.id not in {record["id"] for record in records}]
    assert found + sum(len(page.tags) for page in right) == report["tags"]["micro"]["found"]


def test_several_files_are_scored_together(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(tiny_run(), [files / "test.jsonl", files / "unlabelled.jsonl"], as_json=True)
    captured = capsys.readouterr()
    assert json.loads(captured.out)["pages_not_labelled"] == 2


def test_a_chart_is_drawn_as_png_and_svg(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(tiny_run(), [files / "test.jsonl"], chart=tmp_path / "scores.PNG")
    evaluate(tiny_run(), [files / "test.jsonl"], chart=tmp_path / "scores.svg", as_json=True)
    assert (tmp_path / "scores.PNG").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "scores.svg").read_text(encoding="utf-8")
    assert "<svg" in svg
    assert all(name in svg for name in ("goods", "brand", "precision"))
    assert f"chart in {tmp_path / 'scores.PNG'}" in capsys.readouterr().out.replace("\n", "")


def test_a_chart_of_another_kind_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither \.png nor \.svg"):
        evaluate(tmp_path / "no bundle", [tmp_path / "no pages"], chart=tmp_path / "scores.pdf")
    assert list(tmp_path.iterdir()) == []


def test_pages_without_labels_cannot_be_scored_and_leave_no_file(files: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unlabelled\.jsonl.*no labelled page to score on"):
        evaluate(tiny_run(), [files / "unlabelled.jsonl"], wrong=tmp_path / "wrong.jsonl", chart=tmp_path / "chart.png")
    assert list(tmp_path.iterdir()) == []


def test_a_class_that_the_bundle_does_not_know_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = Page("1", {"title": "round shoes"}, tags=(Tag("title", 0, 5, "shape", "round"),))
    write_pages([page], tmp_path / "p.jsonl")
    evaluate(tiny_run(), [tmp_path / "p.jsonl"])
    assert "does not know shape" in capsys.readouterr().out


def test_a_name_in_square_brackets_stays_as_it_is_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    from batag.cli.tables import show_groups, show_scores
    from batag.cli.terminal import console

    tagger = scripted_tagger(lambda word: "[bold]" if word == "shoes" else None, classes=["[bold]", "b"])
    pages = [labelled(name, ("title", "red shoes"), shop=name, shoes="[bold]") for name in ("[red]", "[/red]")]
    report = assess(tagger, pages).report()
    show_scores(report, console())
    show_groups(report["by"], console())
    out = capsys.readouterr().out
    assert all(name in out for name in ("[bold]", "[red]", "[/red]"))
