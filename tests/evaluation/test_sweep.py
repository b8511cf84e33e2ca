"""The scores of the whole dial: at each richness the counts of an assessment, from spans that were found once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.tiny import catalogue, scripted_tagger, tiny_tagger

from batag.evaluation.assessment import Assessment, place
from batag.evaluation.calibration import AS_IT_IS, Calibration
from batag.evaluation.decoding import Decoding, Prediction
from batag.evaluation.operating_point import NAMES, Dial, OperatingPoint, steps
from batag.evaluation.report import Report
from batag.evaluation.sweep import Sweep
from batag.pages.page import Page, Tag
from batag.tagging.tagger import Tagger


def sweep_of(tagger: Tagger, predictions: list[Prediction]) -> Sweep:
    return Sweep(predictions, tagger.scheme, stop_words=tagger.decoding.stop_words)


def assessed(predictions: list[Prediction], decoding: Decoding, richness: float | None) -> dict[str, Any]:
    found = Assessment(Report(decoding.scheme))
    for prediction in predictions:
        found.add(prediction, decoding, richness=richness)
    return found.report()


def check(row: dict[str, float], report: dict[str, Any]) -> None:
    micro = report["tags"]["micro"]
    assert row["precision"] == pytest.approx(micro["precision"])
    assert row["recall"] == pytest.approx(micro["recall"])
    assert (row["tag_f1"], row["tag_f2"]) == pytest.approx((micro["f1"], micro["f2"]))
    for name in ("macro_f1", "macro_f2", "macro_f1_without_none", "macro_f2_without_none"):
        assert row[name] == pytest.approx(report["tokens"][name])


def wide_dial(classes: int) -> Dial:
    """From hardly any tag to all."""
    points = ((0.0, 0.5, -3.0), (0.5, 1.0, 0.1), (1.0, 2.0, 2.5))
    return Dial(tuple(OperatingPoint(r, b, tuple(own + 0.1 * k for k in range(classes))) for r, b, own in points))


@pytest.mark.parametrize("scheme", ["flat", "bio"])
def test_a_row_has_the_counts_of_an_assessment_at_the_same_richness(scheme: str) -> None:
    tagger = tiny_tagger(scheme)
    predictions = list(tagger.predict(catalogue(8, split="test")))
    sweep = sweep_of(tagger, predictions)
    recalls = []
    assert tagger.dial is not None
    for dial in (tagger.dial, wide_dial(len(tagger.labels))):
        decoding = replace(tagger.decoding, dial=dial)
        for richness in steps():
            row = sweep.row(dial, richness)
            assert row["richness"] == richness
            check(row, assessed(predictions, decoding, richness))
            recalls.append(row["recall"])
    assert recalls == [*sorted(recalls[:21]), *sorted(recalls[21:])], "richer finds no less"
    assert recalls[21] < recalls[-1]
    check(sweep.row(None, 0.5), assessed(predictions, replace(tagger.decoding, dial=None), None))


def test_macro_scores_are_the_mean_over_the_classes_that_occur() -> None:
    tagger = tiny_tagger()
    predictions = list(tagger.predict(catalogue(8, split="test")))
    row = sweep_of(tagger, predictions).row(None, 0.5)
    classes = assessed(predictions, replace(tagger.decoding, dial=None), None)["tags"]["classes"].values()
    for beta in (1, 2):
        assert row[f"tag_macro_f{beta}"] == pytest.approx(np.mean([each[f"f{beta}"] for each in classes if each["true"]]))
    hits, true, predicted = (sum(each[key] for each in classes) for key in ("found", "true", "predicted"))
    assert row["tag_f0.5"] == pytest.approx(1.25 * hits / (0.25 * true + predicted))


def test_gold_tags_of_unknown_classes_and_tags_that_fit_no_tokens_are_missed() -> None:
    tagger = scripted_tagger(lambda word: {"acme": "brand", "shoes": "goods"}.get(word.lower()))
    texts = [("title", 0, 4, "brand"), ("title", 5, 10, "shape"), ("title", 11, 13, "goods"), ("description", 0, 4, "brand")]
    title = {"title": "ACME round shoes", "description": "ACME, the shoes"}
    tags = tuple(Tag(field, start, end, label, title[field][start:end]) for field, start, end, label in texts)
    predictions = list(tagger.predict([Page("1", title, language="en", tags=tags), Page("2", {"title": ""}, labelled=True)]))
    sweep = sweep_of(tagger, predictions)
    assert sweep.unknown == 1
    row = sweep.row(None, 0.5)
    check(row, assessed(predictions, tagger.decoding, None))
    assert (row["precision"], row["recall"]) == (2 / 4, 2 / 4)


def test_stop_words_are_no_tags_here_either() -> None:
    tagger = scripted_tagger(lambda word: "goods" if word in ("the", "shoes") else None)
    page = Page("1", {"title": "red shoes; the"}, language="en", tags=(Tag("title", 4, 9, "goods", "shoes"),))
    predictions = list(tagger.predict([page]))
    assert sweep_of(tagger, predictions).row(None, 0.5)["precision"] == 1
    assert Sweep(predictions, tagger.scheme).row(None, 0.5)["precision"] == 0.5


def test_the_possible_tags_are_those_of_the_richest_dial_there_could_be() -> None:
    tagger = tiny_tagger("bio")
    predictions = list(tagger.predict(catalogue(4, split="test")))
    sweep = sweep_of(tagger, predictions)
    assert tagger.dial is not None
    raw = replace(tagger.decoding, calibration=AS_IT_IS)
    for dial in (tagger.dial, wide_dial(len(tagger.labels))):
        found = [tag for each in predictions for tag in replace(raw, dial=dial).tags_of(each, 1.0)]
        shown = sweep.shown(dial)
        assert sweep.raw[shown].tolist() == [tag.score for tag in found]
        assert [tagger.scheme.classes[number] for number in sweep.tags.classes_N[shown]] == [tag.label for tag in found]
    gold = [{place(tag) for tag in each.page.tags} for each in predictions]
    assert sweep.tags.true_PK.sum() == sum(map(len, gold))
    assert sweep.tags.right_N.sum() <= sweep.tags.true_PK.sum()
    np.testing.assert_allclose(1 / (1 + np.exp(-sweep.tags.logits_N)), np.clip(sweep.raw, 1e-9, 1 - 1e-9), atol=1e-8)


def test_the_report_has_a_row_for_each_richness_and_the_reliability_of_the_scores_that_are_shown() -> None:
    tagger = tiny_tagger()
    predictions = list(tagger.predict(catalogue(8, split="test")))
    sweep = sweep_of(tagger, predictions)
    assert tagger.dial is not None
    report = sweep.report(tagger.dial, tagger.calibration)
    assert report["rows"] == [sweep.row(tagger.dial, richness) for richness in steps()]
    assert report["points"] == NAMES
    rich = [tag for each in predictions for tag in tagger.tags_of(each, "rich")]
    assert report["tags"] == len(rich)
    right = np.array(
        [place(tag) in {place(own) for own in e.page.tags} for e in predictions for tag in tagger.tags_of(e, "rich")]
    )
    scores = np.array([tag.score for tag in rich])
    assert report["reliability"]["calibrated"]
    assert abs(scores.mean() - right.mean()) <= report["ece"]["calibrated"] + 1e-3
    same = sweep.report(tagger.dial, Calibration("none", (0.0, 1.0), (0.0, 1.0)))
    assert same["ece"]["calibrated"] == pytest.approx(same["ece"]["raw"])
    held = sweep.report(tagger.dial, tagger.calibration, held=np.zeros(len(rich)))
    assert held["ece"]["calibrated"] == pytest.approx(right.mean())


def test_no_page_at_all_is_a_report_of_zeros() -> None:
    tagger = tiny_tagger()
    assert tagger.dial is not None
    for predictions in ([], list(tagger.predict([Page("1", {"title": ""}, labelled=True)]))):
        report = sweep_of(tagger, predictions).report(tagger.dial, AS_IT_IS)
        assert report["tags"] == 0
        assert {row["tag_f1"] for row in report["rows"]} == {0.0}
