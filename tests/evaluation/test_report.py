"""Scores of tokens and tags, over all pages and by group."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batag.evaluation.report import Report, ScoredField
from batag.evaluation.tags import TagScores
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme
from batag.pages.page import Tag

CLASSES = ("goods", "brand", "feature")
FLAT, BIO = Scheme("flat", CLASSES), Scheme("bio", CLASSES)

places = st.tuples(st.integers(0, 3), st.integers(4, 6))
tag_lists = st.lists(st.tuples(places, st.sampled_from(CLASSES)), max_size=6)


def class_named(scheme: Scheme, label: int) -> int:
    """The class of a label by its name: B-brand and I-brand are brand."""
    return ("none", *CLASSES).index(scheme.labels[label].removeprefix("B-").removeprefix("I-"))


@pytest.mark.parametrize("scheme", [FLAT, BIO], ids=lambda scheme: scheme.name)
@given(data=st.data())
def test_tokens_are_counted_by_class_in_any_scheme(scheme: Scheme, data: st.DataObject) -> None:
    scores = TokenScores(scheme)
    expected = np.zeros((4, 4), dtype=int)
    for _ in range(data.draw(st.integers(0, 3))):
        size = data.draw(st.integers(0, 8))
        label = st.integers(0, len(scheme.labels) - 1)
        truth = data.draw(st.lists(st.integers(-1, len(scheme.labels) - 1), min_size=size, max_size=size))
        predictions = data.draw(st.lists(label, min_size=size, max_size=size))
        scores.add(truth, np.array(predictions))
        for true, predicted in zip(truth, predictions, strict=True):
            if true >= 0:
                expected[class_named(scheme, true), class_named(scheme, predicted)] += 1
    assert scores.confusion.tolist() == expected.tolist()
    assert scores.classes == ("none", *CLASSES)


def test_begin_and_inside_of_a_class_are_one_class() -> None:
    scores = TokenScores(BIO)
    scores.add([1, 2, 3, 4, 5, 6, 0], [2, 1, 4, 3, 6, 5, 0])
    assert scores.confusion.tolist() == np.diag([1, 2, 2, 2]).tolist()
    assert scores.summary() == {
        "macro_f1": 1,
        "macro_f2": 1,
        "macro_f1_without_none": 1,
        "macro_f2_without_none": 1,
    }


def test_flat_and_bio_give_the_same_scores_of_the_same_spans() -> None:
    true = [(0, 1, "goods"), (3, 3, "brand"), (4, 6, "feature")]
    predictions = [(0, 0, "goods"), (3, 4, "brand"), (5, 6, "feature"), (8, 9, "brand")]
    reports = []
    for scheme in (FLAT, BIO):
        scores = TokenScores(scheme)
        scores.add(scheme.encode(true, length=10), scheme.encode(predictions, length=10))
        reports.append(scores.report())
    assert reports[0] == reports[1]


def test_a_token_report_says_all_by_hand() -> None:
    scores = TokenScores(Scheme("flat", ("goods",)))
    scores.add([0, 0, 0, 1, 1, -1], [0, 0, 1, 1, 0, 1])
    report = scores.report()
    assert report["tokens"] == 5
    assert report["confusion"] == [[2, 1], [1, 1]]
    assert report["classes"] == {
        "none": {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "f2": 2 / 3, "true": 3, "predicted": 3},
        "goods": {"precision": 0.5, "recall": 0.5, "f1": 0.5, "f2": 0.5, "true": 2, "predicted": 2},
    }
    assert report["macro_f1"] == pytest.approx(7 / 12)
    assert report["macro_f2_without_none"] == pytest.approx(0.5)
    assert json.loads(json.dumps(report)) == report


def test_f1_and_f2_are_not_mixed_up() -> None:
    scores = TokenScores(Scheme("flat", ("goods",)))
    scores.add([1, 1, 1, 1, 0], [1, 0, 0, 0, 0])
    row = scores.report()["classes"]["goods"]
    assert (row["true"], row["predicted"]) == (4, 1)
    assert row["precision"] == 1
    assert row["recall"] == 0.25
    assert row["f1"] == pytest.approx(0.4)
    assert row["f2"] == pytest.approx(5 * 0.25 / 4.25)
    assert scores.summary()["macro_f1_without_none"] == row["f1"]
    assert scores.summary()["macro_f2_without_none"] == row["f2"]


def test_a_scheme_without_classes_has_none_alone() -> None:
    scores = TokenScores(Scheme("bio", ()))
    scores.add([0, 0], [0, 0])
    assert scores.report()["classes"].keys() == {"none"}
    assert scores.summary()["macro_f1"] == 1
    assert scores.summary()["macro_f1_without_none"] == 0


def test_truth_and_prediction_of_different_lengths_are_refused() -> None:
    with pytest.raises((IndexError, ValueError, AssertionError)):
        TokenScores(FLAT).add([0, 1, 2], [0, 1])


def test_a_tag_counts_only_with_the_right_borders_and_the_right_class() -> None:
    scores = TagScores()
    scores.add(
        [((0, 4), "goods"), ((5, 9), "goods"), ((10, 12), "brand"), ((13, 14), "brand")],
        [((0, 4), "goods"), ((5, 8), "goods"), ((10, 12), "goods"), ((13, 14), "brand"), ((20, 22), "feature")],
    )
    report = scores.report()
    assert list(report["classes"]) == ["brand", "goods", "feature"]
    goods, brand, feature = (report["classes"][name] for name in CLASSES)
    assert (goods["found"], goods["true"], goods["predicted"]) == (1, 2, 3)
    assert (goods["precision"], goods["recall"]) == (pytest.approx(1 / 3), 0.5)
    assert goods["f1"] == pytest.approx(0.4)
    assert goods["f2"] == pytest.approx(5 / 11)
    assert (brand["found"], brand["true"], brand["predicted"]) == (1, 2, 1)
    assert brand["f1"] == pytest.approx(2 / 3)
    assert feature == {"precision": 0, "recall": 0, "f1": 0, "f2": 0, "true": 0, "predicted": 1, "found": 0}
    assert report["micro"]["precision"] == pytest.approx(2 / 5)
    assert report["micro"]["recall"] == pytest.approx(2 / 4)
    assert report["micro"]["f1"] == pytest.approx(4 / 9)
    # Nobody tagged a feature: it is in no mean, and what was said of it lowers the micro precision.
    assert report["macro"]["precision"] == pytest.approx((1 / 3 + 1) / 2)
    assert report["macro"]["recall"] == pytest.approx((0.5 + 0.5) / 2)
    assert report["macro"]["f1"] == pytest.approx((0.4 + 2 / 3) / 2)


@given(pages=st.lists(st.tuples(tag_lists, tag_lists), max_size=4))
def test_tag_scores_equal_counting_one_by_one(pages: list[tuple[list[tuple[object, str]], list[tuple[object, str]]]]) -> None:
    scores = TagScores()
    counts = {name: [0, 0, 0] for name in CLASSES}
    for truth, predictions in pages:
        scores.add(truth, iter(predictions))
        for tag in {*truth, *predictions}:
            counts[tag[1]][0] += tag in truth and tag in predictions
            counts[tag[1]][1] += tag in truth
            counts[tag[1]][2] += tag in predictions
    report = scores.report()
    seen = {name: each for name, each in counts.items() if any(each)}
    assert report["classes"].keys() == seen.keys()
    for name, (found, true, predicted) in {**seen, "all": [sum(each) for each in zip(*counts.values(), strict=True)]}.items():
        row = report["micro"] if name == "all" else report["classes"][name]
        assert (row["found"], row["true"], row["predicted"]) == (found, true, predicted)
        p, r = found / predicted if predicted else 0, found / true if true else 0
        assert (row["precision"], row["recall"]) == (pytest.approx(p), pytest.approx(r))
        assert row["f1"] == pytest.approx(2 * p * r / (p + r) if p + r else 0)
        assert row["f2"] == pytest.approx(5 * p * r / (4 * p + r) if p + r else 0)
    for key in ("precision", "recall", "f1", "f2"):
        rows = [row[key] for row in report["classes"].values() if row["true"]]
        assert report["macro"][key] == pytest.approx(sum(rows) / len(rows) if rows else 0)


def test_equal_places_on_two_pages_are_two_tags() -> None:
    scores = TagScores()
    scores.add([((0, 2), "goods")], [])
    scores.add([((0, 2), "goods")], [((0, 2), "goods")])
    assert scores.report()["micro"]["true"] == 2
    assert scores.report()["micro"]["found"] == 1


def test_no_tags_at_all_score_zero() -> None:
    report = TagScores().report()
    assert report["classes"] == {}
    assert report["micro"]["f1"] == report["macro"]["f1"] == 0


def scored(
    truth: Sequence[int], predictions: Sequence[int], *, language: str = "ja", field: str = "title", shop: str = "a"
) -> ScoredField:
    """Each token is two characters long."""
    tags = [
        [Tag(field, 2 * first, 2 * last + 2, name) for first, last, name in FLAT.decode(labels)]
        for labels in (truth, predictions)
    ]
    return ScoredField(language, field, shop, truth, predictions, *tags)


FIELDS = [
    scored([1, 1, 0, 2], [1, 1, 0, 2]),
    scored([3, 0], [0, 3], field="description"),
    scored([2, 2], [2, 0], shop="b"),
    scored([1, 0, 0], [1, 0, 1], language="zh-Hant", shop="b", field="description"),
]


def report_of(*fields: ScoredField) -> dict[str, Any]:
    report = Report(FLAT)
    for each in fields:
        report.add(each)
    return report.report()


def test_a_report_scores_tokens_and_tags_over_all() -> None:
    report = Report(FLAT)
    tokens, tags = TokenScores(FLAT), TagScores()
    for number, each in enumerate(FIELDS):
        report.add(each)
        tokens.add(each.truth, each.predicted)
        # A place is a page's, and a field's, own.
        tags.add(
            [((number, tag.start, tag.end), tag.label) for tag in each.true_tags],
            [((number, tag.start, tag.end), tag.label) for tag in each.predicted_tags],
        )
    whole = report.report()
    assert whole["tokens"] == tokens.report()
    assert whole["tags"] == tags.report()
    assert whole["tokens"]["tokens"] == 11
    assert (whole["tags"]["micro"]["found"], whole["tags"]["micro"]["true"], whole["tags"]["micro"]["predicted"]) == (3, 5, 6)


@pytest.mark.parametrize("group", ["language", "field", "shop"])
def test_each_group_is_scored_as_if_it_were_alone(group: str) -> None:
    by = report_of(*FIELDS)["by"]
    members = sorted({getattr(each, group) for each in FIELDS})
    assert list(by[group]) == members
    for member in members:
        alone = report_of(*(each for each in FIELDS if getattr(each, group) == member))
        assert by[group][member] == {"tokens": alone["tokens"], "tags": alone["tags"]}


def test_a_group_of_one_member_is_not_listed() -> None:
    assert report_of(FIELDS[0], FIELDS[0])["by"] == {}
    assert report_of(FIELDS[0], FIELDS[2])["by"].keys() == {"shop"}


def test_the_whole_is_the_sum_of_each_groups_members() -> None:
    whole = report_of(*FIELDS)
    for members in whole["by"].values():
        total = sum(np.array(member["tokens"]["confusion"]) for member in members.values())
        assert np.array_equal(total, whole["tokens"]["confusion"])


def test_a_report_is_ready_for_json() -> None:
    report = report_of(*FIELDS)
    assert json.loads(json.dumps(report)) == report


def test_a_report_of_nothing_is_all_zeros() -> None:
    report = report_of()
    assert report["by"] == {}
    assert json.loads(json.dumps(report))["tokens"]["macro_f1"] == 0
