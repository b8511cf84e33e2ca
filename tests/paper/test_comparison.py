"""The paired bootstrap against one written as a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from batag.evaluation.fscore import macro_fbeta
from batag.paper.comparison import compare


def pages(seed: int, *, seeds: int = 2, number: int = 30, right: float = 0.7) -> NDArray[Any]:
    """Confusions of three classes for each page and seed."""
    rng = np.random.default_rng(seed)
    found = np.zeros((seeds, number, 9), dtype=np.int64)
    for each in found.reshape(-1, 9):
        truth = rng.integers(0, 3, size=12)
        predictions = np.where(rng.random(12) < right, truth, rng.integers(0, 3, size=12))
        each += np.bincount(3 * truth + predictions, minlength=9)
    return found


@pytest.mark.parametrize(("beta", "skip"), [(1, False), (2, True)])
def test_it_is_what_a_loop_over_resamplings_says(beta: int, skip: bool) -> None:
    one, other = pages(0), pages(1, right=0.6, seeds=3)
    found = compare(one, other, beta=beta, skip_none=skip, resamplings=50, seed=4)
    drawn = np.random.default_rng(4).multinomial(30, np.full(30, 1 / 30), size=50)

    def mean(system: NDArray[Any], weights: NDArray[Any]) -> float:
        return float(
            np.mean([macro_fbeta((weights[:, None] * each).sum(0).reshape(3, 3), beta, skip_none=skip) for each in system])
        )

    every = [100 * (mean(one, weights) - mean(other, weights)) for weights in drawn]
    assert found.points == pytest.approx(100 * (mean(one, np.ones(30, int)) - mean(other, np.ones(30, int))))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, (0.025, 0.975))))


@given(st.integers(0, 50))
def test_a_system_is_not_distinguishable_from_itself(seed: int) -> None:
    found = compare(pages(seed, number=5), pages(seed, number=5), beta=1, resamplings=20)
    assert (found.points, found.low, found.high) == (0, 0, 0)
    assert not found.clear
    assert "not distinguishable" in str(found)


def test_a_much_better_system_is_clear_and_the_sign_says_who() -> None:
    good, bad = pages(0, right=0.95, number=60), pages(1, right=0.3, number=60)
    assert compare(good, bad, beta=2).low > 0
    found = compare(bad, good, beta=2)
    assert found.high < 0
    assert found.clear
    assert "not distinguishable" not in str(found)


def test_classes_that_never_occur_divide_nothing_by_zero() -> None:
    empty = np.zeros((1, 4, 9), dtype=np.int64)
    assert compare(empty, empty, beta=1, resamplings=5).points == 0
