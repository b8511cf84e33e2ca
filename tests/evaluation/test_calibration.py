"""Calibration: scores become probabilities, and never change their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from batag.evaluation.calibration import (
    AS_IT_IS,
    Calibration,
    _isotonic,
    _temperature,
    calibrate,
    expected_calibration_error,
    reliability,
)


def overconfident(number: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Raw scores whose logits are three times too large."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0.5, 1.0, number)
    right = (rng.random(number) < 1 / (1 + np.exp(-logit))).astype(float)
    return 1 / (1 + np.exp(-3 * logit)), right, np.arange(number) // 4


def test_overconfident_scores_become_probabilities() -> None:
    raw, right, groups = overconfident(4000)
    found, errors, held = calibrate(raw, right, groups)
    assert errors["none"] > 0.1
    assert min(errors["temperature"], errors["isotonic"]) < 0.03
    new = overconfident(4000, seed=1)
    assert expected_calibration_error(found(new[0]), new[1]) < 0.03
    # What is drawn was calibrated without its own page.
    assert expected_calibration_error(held, right) == errors[found.method]
    assert not np.array_equal(held, found(raw))
    assert Calibration.from_dict(found.to_dict()) == found


def test_temperature_finds_the_temperature() -> None:
    raw, right, _ = overconfident(20_000)
    found = _temperature(raw, right)
    expected = 1 / (1 + np.exp(-np.log(0.9 / 0.1) / 3))
    assert float(found(0.9)) == pytest.approx(expected, abs=0.02)


def test_the_line_of_a_temperature_is_exact_where_scores_lie() -> None:
    raw, right, _ = overconfident(20_000)
    found = _temperature(raw, right)
    logits = np.log(np.array(found.raw) / (1 - np.array(found.raw)))
    slope, height = np.polyfit(logits, np.log(np.array(found.probability) / (1 - np.array(found.probability))), 1)
    for score in (0.5, 0.9, 0.99, 0.999):
        expected = 1 / (1 + np.exp(-(slope * np.log(score / (1 - score)) + height)))
        assert float(found(score)) == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize("wrong_first", [True, False])
def test_equal_scores_have_one_probability_whatever_their_order(wrong_first: bool) -> None:
    raw = np.concatenate((np.linspace(0.1, 0.5, 40), np.ones(100)))
    right = np.concatenate((np.zeros(40), np.array([0.0] * 10 + [1.0] * 90)[:: 1 if wrong_first else -1]))
    assert float(_isotonic(raw, right)(1.0)) == pytest.approx(0.9, abs=0.01)


def test_good_scores_stay_as_they_are() -> None:
    rng = np.random.default_rng(0)
    raw = rng.random(20_000)
    right = (rng.random(20_000) < raw).astype(float)
    _, errors, _ = calibrate(raw + 1e-7, right, np.arange(20_000))
    assert errors["none"] < 0.02


def test_isotonic_is_scikit_learns_at_the_middles_of_its_steps() -> None:
    raw, right, _ = overconfident(500)
    found = _isotonic(raw, right)
    theirs = IsotonicRegression().fit(raw, right).predict(np.array(found.raw))
    assert np.abs(found(np.array(found.raw)) - theirs).mean() < 0.05


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_a_higher_raw_score_never_has_a_lower_probability(tags: list[tuple[float, bool]]) -> None:
    raw, right = (np.array(values, dtype=float) for values in zip(*tags, strict=True))
    grid = np.linspace(0, 1, 101)
    for fit in (_temperature, _isotonic):
        values = fit(raw, right)(grid)
        assert (np.diff(values) >= -1e-12).all()
        assert ((values >= 0) & (values <= 1)).all()


@pytest.mark.parametrize(("number", "value"), [(10, None), (200, 1.0), (200, 0.0), (0, None)])
def test_too_few_tags_to_learn_from_leave_scores_as_they_are(number: int, value: float | None) -> None:
    raw, right, groups = overconfident(number)
    found, *_ = calibrate(raw, right if value is None else np.full(number, value), groups)
    assert found == AS_IT_IS


def test_a_reliability_plot_has_every_tag_in_one_bin() -> None:
    raw, right, _ = overconfident(333)
    assert sum(count for *_, count in reliability(raw, right)) == 333
