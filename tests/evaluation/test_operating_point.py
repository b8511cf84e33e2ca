"""The dial: what it is best for, and that richer never untags."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from batag.errors import UsageError
from batag.evaluation.fscore import macro_fbeta
from batag.evaluation.operating_point import (
    Dial,
    OperatingPoint,
    _Sweep,
    choose_dial,
    class_numbers,
    label_offsets,
    parse_richness,
)
from batag.labels.scheme import Scheme

FLAT, BIO = Scheme("flat", ("goods", "brand")), Scheme("bio", ("goods", "brand"))


def tokens(
    number: int, *, seed: int, skew: float = 1.0, scheme: Scheme = FLAT
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Logits that know something of the truth, which none leads by `skew`."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=number, p=(0.8, 0.15, 0.05))
    logits = rng.normal(size=(number, len(scheme.labels)))
    for row, label in zip(logits, truth, strict=True):
        row[class_numbers(scheme) == label] += 1.5
    logits[:, 0] += skew
    return logits, truth, np.arange(number) // 10


def macro(logits: NDArray[Any], truth: NDArray[Any], offsets: Any, beta: float, scheme: Scheme = FLAT) -> float:
    predicted = class_numbers(scheme)[(logits + label_offsets(scheme, offsets)).argmax(1)]
    return macro_fbeta(np.bincount(3 * truth + predicted, minlength=9).reshape(3, 3), beta)


@pytest.mark.parametrize("beta", [0.5, 1, 2])
@pytest.mark.parametrize("number", [0, 1])
def test_the_sweep_finds_what_trying_every_offset_finds(beta: float, number: int) -> None:
    logits, truth, _ = tokens(120, seed=3)
    offsets = np.array([0.3, -0.2])
    found = offsets.copy()
    sweep = _Sweep(logits, truth, FLAT)
    found[number], score = sweep.best_of_class(np.ones(len(truth)), offsets, number, beta=beta, low=-8.0, high=8.0)
    assert macro(logits, truth, found, beta) == pytest.approx(score, abs=1e-9)
    best = max(macro(logits, truth, np.where(np.arange(2) == number, o, offsets), beta) for o in np.linspace(-8, 8, 4001))
    assert macro(logits, truth, found, beta) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("scheme", [FLAT, BIO], ids=["flat", "bio"])
@pytest.mark.parametrize("skew", [-1.5, 0.0, 2.5])
def test_each_point_is_better_for_its_beta_than_no_offsets(scheme: Scheme, skew: float) -> None:
    logits, truth, pages = tokens(3000, seed=1, skew=skew, scheme=scheme)
    dial = choose_dial(logits, truth, pages, scheme)
    for point in dial.points:
        assert (
            macro(logits, truth, point.offsets, point.beta, scheme) >= macro(logits, truth, [0, 0], point.beta, scheme) - 0.01
        )
    scores = {p.beta: [macro(logits, truth, q.offsets, p.beta, scheme) for q in dial.points] for p in dial.points}
    for place, values in enumerate(scores.values()):
        assert values[place] >= max(values) - 0.02


def test_offsets_never_fall_as_richness_rises() -> None:
    for seed, skew in product(range(4), (-2.0, 0.0, 3.0)):
        logits, truth, pages = tokens(400, seed=seed, skew=skew)
        dial = choose_dial(logits, truth, pages, FLAT)
        offsets = np.array([dial.offsets(richness) for richness in np.linspace(0, 1, 21)])
        assert (np.diff(offsets, axis=0) >= 0).all()


points = st.lists(st.tuples(st.floats(-8, 8), st.floats(-8, 8)), min_size=3, max_size=3).map(
    lambda rows: np.sort(np.array(rows), axis=0)
)


@given(points, st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_a_richer_setting_never_untags_a_token(offsets: NDArray[Any], one: float, other: float, seed: int) -> None:
    dial = Dial(
        tuple(
            OperatingPoint(r, b, tuple(row)) for r, b, row in zip((0.0, 0.5, 1.0), (0.5, 1, 2), offsets.tolist(), strict=True)
        )
    )
    logits = np.random.default_rng(seed).normal(scale=4, size=(50, 3))
    clean, rich = ((logits + label_offsets(FLAT, dial.offsets(r))).argmax(1) for r in sorted((one, other)))
    assert (rich[clean > 0] > 0).all()


def test_few_tokens_and_missing_classes_give_finite_offsets() -> None:
    for truth in ([0], [0, 0, 0], [1, 1], [0, 2]):
        logits = np.zeros((len(truth), 3))
        dial = choose_dial(logits, np.array(truth), np.zeros(len(truth), dtype=np.int64), FLAT)
        assert all(np.isfinite(point.offsets).all() for point in dial.points)


def test_a_class_that_dev_hardly_has_stays_as_it_was_learnt() -> None:
    logits, truth, pages = tokens(2000, seed=5, skew=0.0)
    few = np.where((truth == 2) & (np.cumsum(truth == 2) > 3), 0, truth)
    for point in choose_dial(logits, few, pages, FLAT, fewest=20).points:
        assert point.offsets[1] == 0
        assert point.offsets[0] != 0
    none = np.where(truth == 2, 0, truth)
    assert all(point.offsets[1] == 0 for point in choose_dial(logits, none, pages, FLAT).points)


def test_a_class_that_dev_hardly_has_stays_as_it_was_before() -> None:
    logits, truth, pages = tokens(2000, seed=5, skew=0.0)
    few = np.where((truth == 2) & (np.cumsum(truth == 2) > 3), 0, truth)
    before = Dial(
        tuple(OperatingPoint(r, b, (7.0, own)) for r, b, own in ((0.0, 0.5, -1.5), (0.5, 1.0, 0.25), (1.0, 2.0, 3.0)))
    )
    dial = choose_dial(logits, few, pages, FLAT, fewest=20, before=before)
    assert [point.offsets[1] for point in dial.points] == [-1.5, 0.25, 3.0]
    assert all(abs(point.offsets[0]) < 7 for point in dial.points)
    assert (np.diff([point.offsets for point in dial.points], axis=0) >= 0).all()
    assert dial.still(FLAT.classes) == []
    assert choose_dial(logits, few, pages, FLAT, fewest=20).still(FLAT.classes) == ["brand"]


def test_one_very_long_page_is_enough_to_choose_by(monkeypatch: pytest.MonkeyPatch) -> None:
    logits, truth, _ = tokens(20_000, seed=6)
    monkeypatch.setattr("batag.evaluation.operating_point._MOST_LOGITS", 6000)
    dial = choose_dial(logits, truth, np.zeros(len(truth), dtype=np.int64), FLAT)
    assert dial.still(FLAT.classes) == []


def test_very_many_tokens_are_sampled_by_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    logits, truth, pages = tokens(20_000, seed=6)
    whole = choose_dial(logits, truth, pages, FLAT)
    monkeypatch.setattr("batag.evaluation.operating_point._MOST_LOGITS", 6000)
    some = choose_dial(logits, truth, pages, FLAT)
    assert some != whole
    for one, other in zip(some.points, whole.points, strict=True):
        assert macro(logits, truth, one.offsets, one.beta) > macro(logits, truth, other.offsets, one.beta) - 0.02


def test_it_is_the_same_after_a_bundle() -> None:
    dial = choose_dial(*tokens(300, seed=2), FLAT)
    assert Dial.from_dicts(dial.to_dicts(FLAT.classes), FLAT.classes) == dial
    more = Dial.from_dicts(dial.to_dicts(FLAT.classes), (*FLAT.classes, "new"))
    assert [point.offsets for point in more.points] == [(*point.offsets, 0.0) for point in dial.points]


@pytest.mark.parametrize(
    ("given_richness", "value"), [("clean", 0), ("balanced", 0.5), ("rich", 1), ("0.3", 0.3), (0.7, 0.7), (None, None)]
)
def test_richness_has_names_and_numbers(given_richness: Any, value: float | None) -> None:
    assert parse_richness(given_richness) == value


@pytest.mark.parametrize("given_richness", ["richer", "1.1", -0.1, "nan", "", [1], {}])
def test_another_richness_is_the_users_mistake(given_richness: Any) -> None:
    with pytest.raises(UsageError, match="is not clean, balanced, rich or a number from 0 to 1"):
        parse_richness(given_richness)
