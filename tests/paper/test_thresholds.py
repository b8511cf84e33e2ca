"""Where a perfect learner changes its mind: closed forms where there are some, and what must hold for all."""

from __future__ import annotations

import pytest
import torch

from batag.objectives import PAPER
from batag.paper.thresholds import best_probabilities, pulls, switching_point

COUNTS = [130_073, 2_726, 4_768]


@pytest.mark.parametrize("label", [1, 2])
def test_cross_entropy_tags_from_one_half_and_is_calibrated(label: int) -> None:
    assert switching_point("CE", COUNTS, label) == pytest.approx(0.5, abs=2e-3)
    truth = torch.tensor([0.02, 0.3, 0.9], dtype=torch.float64)
    torch.testing.assert_close(best_probabilities("CE", COUNTS, label, truth), truth, rtol=0, atol=2e-3)


@pytest.mark.parametrize("label", [1, 2])
def test_weighted_cross_entropy_tags_from_the_share_of_the_class(label: int) -> None:
    """q / N_k > (1 - q) / N_0."""
    expected = COUNTS[label] / (COUNTS[0] + COUNTS[label])
    assert switching_point("WCE", COUNTS, label) == pytest.approx(expected, rel=0.02)


def test_unweighted_contrast_tags_from_one_half() -> None:
    assert switching_point("CECL", COUNTS, 1) == pytest.approx(0.5, abs=2e-3)


@pytest.mark.parametrize("name", PAPER)
def test_with_equal_amounts_every_objective_tags_from_one_half(name: str) -> None:
    assert switching_point(name, [50, 50, 50], 1) == pytest.approx(0.5, abs=5e-3)


@pytest.mark.parametrize("name", [name for name in PAPER if name not in ("CE", "FCE")])
def test_the_rarer_a_class_the_sooner_it_is_tagged(name: str) -> None:
    points = [switching_point(name, [1000, amount, 100], 1) for amount in (500, 100, 10)]
    assert points[0] > points[1] > points[2]


def test_the_pulls_of_cross_entropy_are_the_shares_times_the_distance() -> None:
    p, up, down = pulls("CE", COUNTS, 1)
    total = sum(COUNTS)
    torch.testing.assert_close(up, COUNTS[1] / total * (1 - p), rtol=0, atol=1e-4)
    torch.testing.assert_close(down, COUNTS[0] / total * p, rtol=0, atol=1e-2)


@pytest.mark.parametrize("name", PAPER)
def test_the_best_probability_never_falls_as_the_truth_rises(name: str) -> None:
    truth = torch.linspace(0.001, 0.999, 200, dtype=torch.float64)
    best = best_probabilities(name, COUNTS, 2, truth)
    assert (best.diff() >= -1e-9).all()
