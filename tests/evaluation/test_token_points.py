"""Operating points by tokens: what they are best for."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from batag.evaluation.fscore import macro_fbeta
from batag.evaluation.operating_point import Dial, OperatingPoint
from batag.evaluation.token_points import _Sweep, choose_token_dial, label_offsets, log_probabilities, token_scores
from batag.evaluation.tokens import class_numbers
from batag.labels.scheme import IGNORED, Scheme

FLAT, BIO = Scheme("flat", ("goods", "brand")), Scheme("bio", ("goods", "brand"))


def tokens(
    number: int, *, seed: int, skew: float = 1.0, scheme: Scheme = FLAT
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Marginals that know something of the truth, which none leads by `skew`; the labels of the truth; the page of each."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=number, p=(0.8, 0.15, 0.05))
    logits = rng.normal(size=(number, len(scheme.labels)))
    for row, label in zip(logits, truth, strict=True):
        row[class_numbers(scheme) == label] += 1.5
    logits[:, 0] += skew
    marginals = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return marginals, truth if scheme.name == "flat" else np.maximum(2 * truth - 1, 0), np.arange(number) // 10


def macro(marginals: NDArray[Any], labels: NDArray[Any], offsets: Any, beta: float, scheme: Scheme = FLAT) -> float:
    truth = class_numbers(scheme)[labels]
    predicted = class_numbers(scheme)[(np.log(marginals) + label_offsets(scheme, offsets)).argmax(1)]
    return macro_fbeta(np.bincount(3 * truth + predicted, minlength=9).reshape(3, 3), beta)


@pytest.mark.parametrize("beta", [0.5, 1, 2])
@pytest.mark.parametrize("number", [0, 1])
def test_the_sweep_finds_what_trying_every_offset_finds(beta: float, number: int) -> None:
    marginals, truth, _ = tokens(120, seed=3)
    offsets = np.array([0.3, -0.2])
    found = offsets.copy()
    sweep = _Sweep(log_probabilities(marginals), truth, FLAT)
    found[number], score = sweep.best_of_class(np.ones(len(truth)), offsets, number, beta=beta, low=-8.0, high=8.0)
    assert macro(marginals, truth, found, beta) == pytest.approx(score, abs=1e-9)
    best = max(macro(marginals, truth, np.where(np.arange(2) == number, o, offsets), beta) for o in np.linspace(-8, 8, 4001))
    assert macro(marginals, truth, found, beta) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("scheme", [FLAT, BIO], ids=["flat", "bio"])
@pytest.mark.parametrize("skew", [-1.5, 0.0, 2.5])
def test_each_point_is_better_for_its_beta_than_no_offsets(scheme: Scheme, skew: float) -> None:
    marginals, truth, pages = tokens(3000, seed=1, skew=skew, scheme=scheme)
    dial = choose_token_dial(marginals, truth, pages, scheme)
    for point in dial.points:
        assert (
            macro(marginals, truth, point.offsets, point.beta, scheme)
            >= macro(marginals, truth, [0, 0], point.beta, scheme) - 0.01
        )
    scores = {p.beta: [macro(marginals, truth, q.offsets, p.beta, scheme) for q in dial.points] for p in dial.points}
    for place, values in enumerate(scores.values()):
        assert values[place] >= max(values) - 0.02


def test_offsets_never_fall_as_richness_rises() -> None:
    for seed, skew in product(range(4), (-2.0, 0.0, 3.0)):
        marginals, truth, pages = tokens(400, seed=seed, skew=skew)
        dial = choose_token_dial(marginals, truth, pages, FLAT)
        offsets = np.array([dial.offsets(richness) for richness in np.linspace(0, 1, 21)])
        assert (np.diff(offsets, axis=0) >= 0).all()


def test_few_tokens_and_missing_classes_give_finite_offsets() -> None:
    for truth in ([0], [0, 0, 0], [1, 1], [0, 2]):
        marginals = np.full((len(truth), 3), 1 / 3)
        dial = choose_token_dial(marginals, np.array(truth), np.zeros(len(truth), dtype=np.int64), FLAT)
        assert all(np.isfinite(point.offsets).all() for point in dial.points)


def test_a_class_that_dev_hardly_has_stays_as_it_was_learnt() -> None:
    marginals, truth, pages = tokens(2000, seed=5, skew=0.0)
    few = np.where((truth == 2) & (np.cumsum(truth == 2) > 3), 0, truth)
    for point in choose_token_dial(marginals, few, pages, FLAT, fewest=20).points:
        assert point.offsets[1] == 0
        assert point.offsets[0] != 0
    none = np.where(truth == 2, 0, truth)
    assert all(point.offsets[1] == 0 for point in choose_token_dial(marginals, none, pages, FLAT).points)


def test_a_class_that_dev_hardly_has_stays_as_it_was_before() -> None:
    marginals, truth, pages = tokens(2000, seed=5, skew=0.0)
    few = np.where((truth == 2) & (np.cumsum(truth == 2) > 3), 0, truth)
    before = Dial(
        tuple(OperatingPoint(r, b, (7.0, own)) for r, b, own in ((0.0, 0.5, -1.5), (0.5, 1.0, 0.25), (1.0, 2.0, 3.0)))
    )
    dial = choose_token_dial(marginals, few, pages, FLAT, fewest=20, before=before)
    assert [point.offsets[1] for point in dial.points] == [-1.5, 0.25, 3.0]
    assert all(abs(point.offsets[0]) < 7 for point in dial.points)
    assert (np.diff([point.offsets for point in dial.points], axis=0) >= 0).all()
    assert dial.still(FLAT.classes) == []
    assert choose_token_dial(marginals, few, pages, FLAT, fewest=20).still(FLAT.classes) == ["brand"]


def test_one_very_long_page_is_enough_to_choose_by(monkeypatch: pytest.MonkeyPatch) -> None:
    marginals, truth, _ = tokens(20_000, seed=6)
    monkeypatch.setattr("batag.evaluation.token_points._MOST_LOGITS", 6000)
    dial = choose_token_dial(marginals, truth, np.zeros(len(truth), dtype=np.int64), FLAT)
    assert dial.still(FLAT.classes) == []


def test_very_many_tokens_are_sampled_by_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    marginals, truth, pages = tokens(20_000, seed=6)
    whole = choose_token_dial(marginals, truth, pages, FLAT)
    monkeypatch.setattr("batag.evaluation.token_points._MOST_LOGITS", 6000)
    some = choose_token_dial(marginals, truth, pages, FLAT)
    assert some != whole
    for one, other in zip(some.points, whole.points, strict=True):
        assert macro(marginals, truth, one.offsets, one.beta) > macro(marginals, truth, other.offsets, one.beta) - 0.02


def test_tokens_without_a_label_count_for_nothing() -> None:
    marginals, truth, pages = tokens(600, seed=2)
    some = np.where(pages % 3 == 0, IGNORED, truth)
    known = some >= 0
    expected = choose_token_dial(marginals[known], truth[known], pages[known], FLAT)
    assert choose_token_dial(marginals, some, pages, FLAT) == expected
    offsets = expected.offsets(0.5)
    assert (
        token_scores(marginals, some, FLAT, offsets).summary()
        == token_scores(marginals[known], truth[known], FLAT, offsets).summary()
    )


@pytest.mark.parametrize("scheme", [FLAT, BIO], ids=["flat", "bio"])
def test_token_scores_are_those_of_the_most_probable_labels_after_the_offsets(scheme: Scheme) -> None:
    marginals, labels, _ = tokens(400, seed=4, scheme=scheme)
    for offsets in ([0.0, 0.0], [1.5, -2.0]):
        summary = token_scores(marginals, labels, scheme, offsets).summary()
        for beta in (1, 2):
            assert summary[f"macro_f{beta}"] == pytest.approx(macro(marginals, labels, offsets, beta, scheme))
