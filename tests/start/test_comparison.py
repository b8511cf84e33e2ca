from __future__ import annotations

import pytest

from batag.start.learning.comparison import Comparison


@pytest.mark.parametrize(
    ("found", "made_up", "people", "helped"),
    [
        pytest.param((0.5, 0.5), (0.9, 0.9), (0, 0.0, 0.0), True, id="no worse"),
        pytest.param((0.5, 0.49), (0.9, 0.95), (0, 0.0, 0.0), False, id="fewer brands of rows"),
        pytest.param((0.5, 0.6), (0.9, 0.88), (0, 0.0, 0.0), False, id="worse on made-up pages"),
        pytest.param((0.5, 0.6), (0.9, 0.9), (3, 0.7, 0.6), False, id="worse on pages of people"),
        pytest.param((0.5, 0.4), (0.9, 0.9), (3, 0.6, 0.7), False, id="too few pages of people to outweigh rows"),
        pytest.param((0.5, 0.4), (0.9, 0.8), (10, 0.6, 0.7), True, id="people say that it is better"),
        pytest.param((0.5, 0.4), (0.9, 0.9), (10, 0.6, 0.6), False, id="people say that it is the same, rows that it is worse"),
    ],
)
def test_a_learnt_bundle_is_used_only_if_it_is_no_worse_on_labels_that_were_held_back(
    found: tuple[float, float], made_up: tuple[float, float], people: tuple[int, float, float], helped: bool
) -> None:
    assert Comparison(30, *found, *made_up, *people).helped is helped


def test_a_comparison_says_in_words_why_a_bundle_is_used() -> None:
    made = {"pages": 9, "found_before": 0.5, "found": 0.6, "made_up_before": 0.9}
    assert Comparison(**made, made_up=0.9).why.startswith("learning made nothing worse")
    assert "made-up pages" in Comparison(**made, made_up=0.8).why
    assert "people" in Comparison(**made, made_up=0.9, people=10, people_before=0.5, people_now=0.6).why
