"""Operating points by tags: as good as trying every threshold, never worse than no offsets on held-out pages."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import batag.evaluation.tag_points as tag_points
from batag.evaluation.operating_point import Dial, OperatingPoint
from batag.evaluation.spans import LEAST
from batag.evaluation.tag_points import PossibleTags, choose_tag_dial

RICHEST = float(np.log((1 - LEAST) / LEAST))
BETAS = (0.5, 1.0, 2.0)
BEFORE = Dial(tuple(OperatingPoint(r, b, (own, 7.0)) for r, b, own in ((0.0, 0.5, -1.5), (0.5, 1.0, 0.25), (1.0, 2.0, 2.5))))


def possible(rows: list[tuple[int, float, bool, int]], true: Any) -> PossibleTags:
    """Tags as (class, logit, correct, page), and the number of gold tags by page and class."""
    classes, logits, right, pages = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 4
    return PossibleTags(
        classes.astype(np.int64), logits.astype(float), right.astype(float), pages.astype(np.int64), np.array(true, dtype=float)
    )


def drawn(pages: int, *, seed: int, shifts: tuple[float, ...] = (0.0,), missed: int = 1, sure: float = 2.0) -> PossibleTags:
    """Tags whose logits tell the correct ones from the others, off by the shift of their class."""
    rng = np.random.default_rng(seed)
    rows, true = [], np.zeros((pages, len(shifts)))
    for page, number in product(range(pages), range(len(shifts))):
        for _ in range(4):
            logit = rng.normal(scale=sure)
            right = rng.random() < 1 / (1 + np.exp(-logit))
            rows.append((number, float(np.clip(logit + shifts[number], -RICHEST, 20)), bool(right), page))
            true[page, number] += right
        true[page, number] += missed * (page % 2)
    return possible(rows, true)


def score(tags: PossibleTags, offsets: Any, beta: float, pages: Any = None) -> float:
    """F_beta counted tag by tag."""
    hits = predicted = 0
    for number, logit, right, page in zip(tags.classes_N, tags.logits_N, tags.right_N, tags.pages_N, strict=True):
        if (pages is None or pages[page]) and logit + offsets[number] >= 0:
            predicted += 1
            hits += right
    true = tags.true_PK.sum() if pages is None else tags.true_PK[np.array(pages)].sum()
    return (1 + beta**2) * hits / (beta**2 * true + predicted) if true + predicted else 0.0


def every_offset(tags: PossibleTags, number: int = 0) -> list[float]:
    """One offset for each set of tags of a class that a threshold can give."""
    own = np.unique(tags.logits_N[tags.classes_N == number])
    edges = np.concatenate(([-5.0], -own[::-1], (-own[::-1] + 1e-9), [RICHEST]))
    return sorted(set(np.clip(edges, -5.0, RICHEST).tolist()))


logits = st.one_of(
    st.floats(-2.94, 20).map(lambda logit: round(logit, 6)),
    st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 4.9, 5.0, 5.1, 9.0, 20.0]),
)
some_tags = st.lists(st.tuples(st.just(0), logits, st.booleans(), st.integers(0, 4)), max_size=25)


SURE_AND_WRONG = [*([(0, 20.0, True, 0)] * 3), *([(0, 9.0, False, 1)] * 10), *([(0, 1.0, True, 2)] * 3)]
"""Mistakes that the model is very sure of: a threshold above them would be best, but is farther than offsets go."""


@given(some_tags, st.integers(0, 6))
@example(SURE_AND_WRONG, 0)
def test_one_class_has_the_best_of_all_thresholds(rows: list[tuple[int, float, bool, int]], missed: int) -> None:
    true = np.zeros((5, 1))
    for _, _, right, page in rows:
        true[page] += right
    true[0] += missed
    tags = possible(rows, true)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tag_points, "_BAGS", 1)
        patch.setattr(tag_points, "_kind", lambda *_, **__: "common")
        dial = choose_tag_dial(tags)
    if not true.sum():
        assert all(point.offsets == (0.0,) for point in dial.points)
        return
    # The one in the middle; the others may not cross it.
    best = {beta: max(score(tags, [offset], beta) for offset in every_offset(tags)) for beta in BETAS}
    assert score(tags, dial.points[1].offsets, 1.0) == pytest.approx(best[1.0])
    weights, known = np.ones(5), np.ones(1, dtype=bool)
    for beta in BETAS:
        offsets = tag_points._fit(tags, weights, known, "own", beta=beta)
        assert score(tags, offsets, beta) == pytest.approx(best[beta])
        np.testing.assert_allclose(offsets, tag_points._fit(tags, weights, known, "common", beta=beta))
        assert -5 <= offsets[0] <= RICHEST


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("seed", range(4))
def test_two_classes_have_the_best_of_all_pairs_of_thresholds(beta: float, seed: int) -> None:
    tags = drawn(4, seed=seed, shifts=(2.0, -1.5))
    found = tag_points._fit(tags, np.ones(4), np.ones(2, dtype=bool), "own", beta=beta)
    best = max(score(tags, pair, beta) for pair in product(every_offset(tags, 0), every_offset(tags, 1)))
    assert score(tags, found, beta) == pytest.approx(best)


def test_pages_count_by_their_weights() -> None:
    tags = drawn(6, seed=1)
    weights = np.array([1.0, 0, 2, 0, 1, 0])
    twice = [0, 2, 2, 4]
    rows, true = [], []
    for new, page in enumerate(twice):
        mine = tags.pages_N == page
        columns = (tags.classes_N[mine], tags.logits_N[mine], tags.right_N[mine])
        rows += [(int(c), float(z), bool(r), new) for c, z, r in zip(*columns, strict=True)]
        true.append(tags.true_PK[page])
    same = possible(rows, true)
    for offset in (-1.0, 0.0, 1.5):
        assert tags.counts(np.array([offset]), weights) == same.counts(np.array([offset]), np.ones(4))
    for beta in BETAS:
        found = tag_points._fit(tags, weights, np.ones(1, dtype=bool), "own", beta=beta)
        np.testing.assert_allclose(found, tag_points._fit(same, np.ones(4), np.ones(1, dtype=bool), "own", beta=beta))


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("shifts", [(0.0, 0.0), (1.5, 1.5), (2.5, -2.0), (-1.0, 0.3)])
def test_the_kind_of_offsets_is_never_worse_on_held_out_pages_than_none(beta: float, shifts: tuple[float, ...]) -> None:
    for seed, pages in product(range(3), (5, 8, 30)):
        tags = drawn(pages, seed=seed, shifts=shifts)
        known = np.ones(2, dtype=bool)
        held: list[tuple[str, Any, Any]] = []
        real_fit, real_counts = tag_points._fit, PossibleTags.counts
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                tag_points,
                "_fit",
                lambda t, w, k, kind, *, beta, fit=real_fit, held=held: (
                    held.append((kind, w, None)) or fit(t, w, k, kind, beta=beta)
                ),
            )

            def counts(self: PossibleTags, offsets: Any, weights: Any, held: Any = held, real: Any = real_counts) -> Any:
                kind, taught, _ = held[-1]
                assert not ((taught > 0) & (weights > 0)).any(), "pages that taught are measured on"
                held[-1] = kind, weights, real(self, offsets, weights)
                return held[-1][2]

            patch.setattr(PossibleTags, "counts", counts)
            chosen = tag_points._kind(tags, known, beta=beta)
        sums: dict[str, Any] = {}
        for kind, weights, found in held:
            sums.setdefault(kind, []).append((weights, found))
        scores = {}
        for kind, parts in sums.items():
            np.testing.assert_array_equal(np.sum([weights for weights, _ in parts], axis=0), np.ones(pages))
            hits, predicted, true = np.sum([found for _, found in parts], axis=0)
            scores[kind] = (1 + beta**2) * hits / (beta**2 * true + predicted)
        assert scores["none"] == pytest.approx(score(tags, [0, 0], beta))
        assert scores[chosen] >= scores["none"]
        # A simpler kind is chosen if it is as good but for 0.2 points.
        simplest = [kind for kind in ("none", "common", "own") if scores[kind] >= max(scores.values()) - 0.002]
        assert chosen in simplest


def test_each_class_gets_the_offset_that_it_needs_and_none_where_none_is_needed() -> None:
    tags = drawn(200, seed=0, shifts=(2.0, -2.0), missed=0)
    dial = choose_tag_dial(tags)
    for point in dial.points:
        first, second = point.offsets
        assert second - first > 2.5
        assert score(tags, point.offsets, point.beta) > score(tags, (0, 0), point.beta) + 0.01
    rows = [(0, 3.0 if right else -2.0, right, page) for page in range(20) for right in (True, False)]
    right = possible(rows, np.ones((20, 1)))
    assert {point.offsets for point in choose_tag_dial(right).points} == {(0.0,)}
    few = drawn(4, seed=0, shifts=(2.0, -2.0))
    assert {point.offsets for point in choose_tag_dial(few).points} == {(0.0, 0.0)}, "of four pages nothing is learned"


@pytest.mark.parametrize("shifts", [(0.0, 0.0), (2.5, -2.0), (-1.0, 4.0)])
def test_offsets_never_fall_as_richness_rises(shifts: tuple[float, ...]) -> None:
    for seed, before in product(range(4), (None, BEFORE)):
        dial = choose_tag_dial(drawn(15, seed=seed, shifts=shifts), before=before)
        found = np.array([point.offsets for point in dial.points])
        assert (np.diff(found, axis=0) >= 0).all()
        assert [(point.richness, point.beta) for point in dial.points] == [(0.0, 0.5), (0.5, 1.0), (1.0, 2.0)]
        assert np.isfinite(found).all()
        assert dial == choose_tag_dial(drawn(15, seed=seed, shifts=shifts), before=before), "the same pages, the same dial"


def rare_second(seed: int = 0) -> PossibleTags:
    """Two classes of which dev has three gold tags of the second."""
    tags = drawn(60, seed=seed, shifts=(2.0, -2.0), missed=0)
    true = tags.true_PK.copy()
    true[:, 1] = 0
    true[:3, 1] = 1
    return PossibleTags(tags.classes_N, tags.logits_N, tags.right_N * (tags.classes_N == 0), tags.pages_N, true)


def test_a_class_that_dev_hardly_has_takes_the_common_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    tags = rare_second()
    monkeypatch.setattr(tag_points, "_BAGS", 1)
    monkeypatch.setattr(tag_points, "_kind", lambda *_, **__: "own")
    for beta in BETAS:
        known = np.array([True, False])
        found = tag_points._fit(tags, np.ones(60), known, "own", beta=beta)
        assert found[1] == tag_points._fit(tags, np.ones(60), known, "common", beta=beta)[0]
        both = tag_points._fit(tags, np.ones(60), np.ones(2, dtype=bool), "own", beta=beta)
        assert both[1] != found[1]
    enough, few = choose_tag_dial(tags, fewest=3), choose_tag_dial(tags, fewest=4)
    assert enough.points[1].offsets[1] != few.points[1].offsets[1]


def test_a_class_that_dev_hardly_has_stays_as_it_was_before() -> None:
    before = Dial(tuple(OperatingPoint(p.richness, p.beta, (9.0, p.offsets[0])) for p in BEFORE.points))
    dial = choose_tag_dial(rare_second(), fewest=10, before=before)
    assert [point.offsets[1] for point in dial.points] == [-1.5, 0.25, 2.5]
    assert all(abs(point.offsets[0]) < 9 for point in dial.points)


def test_without_enough_tags_of_any_class_the_dial_is_the_one_before_or_has_no_offsets() -> None:
    tags = rare_second()
    assert choose_tag_dial(tags, fewest=10_000, before=BEFORE) == BEFORE
    assert {point.offsets for point in choose_tag_dial(tags, fewest=10_000).points} == {(0.0, 0.0)}
    nothing = possible([], np.zeros((0, 2)))
    assert choose_tag_dial(nothing, before=BEFORE) == BEFORE
    assert {point.offsets for point in choose_tag_dial(nothing).points} == {(0.0, 0.0)}


def test_pages_without_any_candidate_give_finite_offsets() -> None:
    dial = choose_tag_dial(possible([], np.ones((12, 2))))
    assert all(np.isfinite(point.offsets).all() for point in dial.points)
