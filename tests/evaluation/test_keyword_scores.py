"""Ranked phrases against true ones."""

from __future__ import annotations

import pytest

from batag.evaluation.keywords import KeywordScores, ranked
from batag.keywords.extractor import Keyword
from batag.pages.page import Tag


def keyword(text: str, start: int = 0) -> Keyword:
    return Keyword(text, 1.0, (("title", start, start + len(text)),))


def test_scores_by_texts_are_averaged_over_pages_and_by_spans_over_tags() -> None:
    scores = KeywordScores()
    scores.add(
        ["Boot", "sole"], [("title", 0, 4), ("title", 9, 13)], [keyword("boot"), keyword("rubber", 5), keyword("wool", 20)]
    )
    scores.add(["coat"], [("title", 0, 4)], [keyword("coat")])
    scores.add([], [], [keyword("none")])
    report = scores.report()
    assert report["pages"] == 2
    assert report["texts"]["5"]["f1"] == pytest.approx((2 * 1 / (2 + 3) + 1) / 2)
    assert report["texts"]["5"]["f2"] == pytest.approx((5 * 1 / (4 * 2 + 3) + 1) / 2)
    assert report["spans"]["5"]["f1"] == pytest.approx(2 * 2 / (3 + 4))
    assert report["spans"]["5"]["f2"] == pytest.approx(5 * 2 / (4 * 3 + 4))


def test_only_the_first_keywords_count() -> None:
    scores = KeywordScores()
    scores.add(["boot"], [("title", 0, 4)], [*(keyword(f"x{number}", 9) for number in range(5)), keyword("boot")])
    report = scores.report()
    assert report["texts"]["5"]["recall"] == 0
    assert report["texts"]["10"]["recall"] == 1


def test_tags_become_keywords_by_their_best_score() -> None:
    tags = [
        Tag("title", 0, 4, "goods", "boot", 0.5),
        Tag("title", 5, 9, "brand", "ACME", 0.9),
        Tag("title", 10, 14, "goods", "Boot", 0.95),
    ]
    found = ranked(tags)
    assert [(each.text, each.score) for each in found] == [("boot", 0.95), ("ACME", 0.9)]
    assert found[0].places == (("title", 0, 4), ("title", 10, 14))
