"""Spans: their exact probabilities, against all labellings one by one, and which of those that overlap are kept."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.heads.labellings import SCHEMES, WEIGHTS, Doubles, drawn_page, labellings, scales, seeds, spans_of

from batag.evaluation.spans import LEAST, Spans, _candidates, find_spans
from batag.heads.numpy_heads import ChainWeights, softmax
from batag.heads.torch_heads import Chain
from batag.labels.scheme import Scheme

Place = tuple[int, int, int]
FLAT, BIO = Scheme("flat", ("goods", "brand")), Scheme("bio", ("goods", "brand"))
lengths = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def by_numpy(scores: Doubles, weights: dict[str, Doubles], scheme: Scheme) -> Doubles:
    chain = ChainWeights(*(weights[name] for name in WEIGHTS))
    return chain.rows(scores[None], np.ones((1, len(scores)), dtype=bool), scheme.continuation)[0]


def by_torch(scores: Doubles, weights: dict[str, Doubles], scheme: Scheme) -> Doubles:
    chain = Chain(len(scheme.labels)).double()
    chain.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    mask = torch.ones(1, len(scores), dtype=torch.bool)
    found: Doubles = (
        chain(torch.from_numpy(scores)[None], mask).log_probabilities(scheme.continuation).exp()[0].detach().numpy()
    )
    return found


def listed(spans: Spans) -> dict[Place, float]:
    places = zip(spans.first.tolist(), spans.last.tolist(), spans.classes.tolist(), strict=True)
    found = dict(zip(places, spans.probability.tolist(), strict=True))
    assert len(found) == len(spans)
    return found


def expected_of(scheme: Scheme, pages: list[tuple[Doubles, dict[str, Doubles] | None]]) -> dict[Place, float]:
    """The probability of every span of the pages, which stand one after the other."""
    found: dict[Place, float] = {}
    done = 0
    for scores, weights in pages:
        for (first, last, name), probability in spans_of(labellings(scores, weights), scheme).items():
            found[first + done, last + done, scheme.classes.index(name) + 1] = probability
        done += len(scores)
    return found


def check(spans: Spans, expected: dict[Place, float]) -> None:
    """All spans that are probable enough are there, with their probabilities, and no others."""
    found = listed(spans)
    assert {place for place, value in expected.items() if value >= LEAST + 1e-6} <= found.keys()
    for place, value in found.items():
        assert value >= LEAST
        assert value == pytest.approx(expected[place], abs=1e-6)
    order = list(zip(spans.first.tolist(), spans.last.tolist(), strict=True))
    assert order == sorted(order)


@pytest.mark.parametrize("rows", [by_numpy, by_torch])
@given(scheme=st.sampled_from(SCHEMES), lengths=lengths, scale=scales, seed=seeds)
def test_the_probability_of_a_span_is_that_of_all_labellings_with_this_tag(
    rows: type[by_numpy], scheme: Scheme, lengths: list[int], scale: float, seed: int
) -> None:
    pages = [drawn_page(length, len(scheme.labels), scale=scale, seed=seed + number) for number, length in enumerate(lengths)]
    values = np.concatenate([rows(scores, weights, scheme) for scores, weights in pages])
    begins = [0, *accumulate(lengths)][:-1]
    check(_candidates(values, begins, scheme), expected_of(scheme, list(pages)))


@given(scheme=st.sampled_from(SCHEMES), lengths=lengths, scale=scales, seed=seeds)
def test_without_a_chain_tokens_are_independent(scheme: Scheme, lengths: list[int], scale: float, seed: int) -> None:
    pages = [
        drawn_page(length, len(scheme.labels), scale=scale, seed=seed + number)[0] for number, length in enumerate(lengths)
    ]
    values = np.concatenate([softmax(scores) for scores in pages])
    begins = [0, *accumulate(lengths)][:-1]
    check(_candidates(values, begins, scheme), expected_of(scheme, [(scores, None) for scores in pages]))


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.name}-{len(scheme.classes)}")
def test_the_rows_of_an_engine_in_single_precision_do_as_well(scheme: Scheme) -> None:
    scores, weights = drawn_page(4, len(scheme.labels), scale=2.0, seed=3)
    values = by_numpy(scores, weights, scheme)
    exact, single = (listed(_candidates(each, [0], scheme)) for each in (values, values.astype(np.float32)))
    assert single.keys() == exact.keys()
    assert all(single[place] == pytest.approx(value, abs=1e-6) for place, value in exact.items())


def random_rows(tokens: int, scheme: Scheme, *, scale: float, seed: int) -> Doubles:
    scores, weights = drawn_page(tokens, len(scheme.labels), scale=scale, seed=seed)
    return by_numpy(scores, weights, scheme)


def overlap(one: Place, other: Place) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


@given(scheme=st.sampled_from(SCHEMES), lengths=st.lists(st.integers(1, 25), min_size=1, max_size=4), scale=scales, seed=seeds)
def test_of_spans_that_overlap_the_most_probable_one_is_kept(
    scheme: Scheme, lengths: list[int], scale: float, seed: int
) -> None:
    values = np.concatenate([random_rows(each, scheme, scale=scale, seed=seed + n) for n, each in enumerate(lengths)])
    begins = [0, *accumulate(lengths)][:-1]
    every, kept = listed(_candidates(values, begins, scheme)), listed(find_spans(values, begins, scheme))
    # One after the other, the most probable first, the shorter one among equals: what touches nothing that was taken is taken.
    taken: list[Place] = []
    for place in sorted(every, key=lambda each: (-every[each], each[1] - each[0], each[0])):
        if not any(overlap(place, other) for other in taken):
            taken.append(place)
    assert kept == {place: every[place] for place in taken}
    assert not any(overlap(one, other) for one in kept for other in kept if one != other)
    for place in every.keys() - kept.keys():
        assert any(overlap(place, other) and kept[other] >= every[place] for other in kept)


def test_equally_probable_spans_that_overlap_give_the_shorter_one() -> None:
    # The second token continues the tag, or not, with the same probability.
    values = np.array([[0.1, 0.9, 0.0, 0.0, 0.0], [0.55, 0.0, 0.45, 0.5, 0.0]])
    scheme = Scheme("bio", ("goods",))
    assert listed(_candidates(values, [0], scheme)) == pytest.approx({(0, 0, 1): 0.45, (0, 1, 1): 0.45})
    assert list(listed(find_spans(values, [0], scheme))) == [(0, 0, 1)]


def test_no_span_goes_on_from_one_text_into_the_next() -> None:
    values = np.tile([0.01, 0.99, 1.0], (6, 1))
    scheme = Scheme("flat", ("goods",))
    assert list(listed(find_spans(values, [0], scheme))) == [(0, 5, 1)]
    assert list(listed(find_spans(values, [0, 2, 5], scheme))) == [(0, 1, 1), (2, 4, 1), (5, 5, 1)]


def test_two_windows_that_contradict_each_other_give_no_more_than_probabilities() -> None:
    """The rows of a long page come from windows: at a join one row may be sure of no tag, and the next one that the tag
    goes on."""
    for scheme in (FLAT, BIO):
        one, other = (random_rows(12, scheme, scale=4.0, seed=seed) for seed in (1, 2))
        for cut in range(1, 12):
            found = find_spans(np.concatenate((one[:cut], other[cut:])), [0], scheme)
            assert (found.probability <= 1 + 1e-6).all()
            assert (found.probability >= LEAST).all()
            assert (found.last < 12).all()
            # Away from the join everything is as in the window.
            own = listed(find_spans(one, [0], scheme))
            sure = {place for place, value in listed(found).items() if place[1] < cut - 1 and place in own}
            assert all(listed(found)[place] == pytest.approx(own[place]) for place in sure)


def test_a_tag_across_the_join_of_two_windows_is_one_tag() -> None:
    scores = np.array([[5.0, 0.0], [0.0, 5.0], [0.0, 5.0], [0.0, 5.0], [5.0, 0.0]])
    scheme = Scheme("flat", ("goods",))
    weights = {"transitions": np.eye(2), "starts": np.zeros(2), "ends": np.zeros(2)}
    left, right = by_numpy(scores[:4], weights, scheme), by_numpy(scores[1:], weights, scheme)
    found = listed(find_spans(np.concatenate((left[:3], right[2:])), [0], scheme))
    assert list(found) == [(1, 3, 1)]
    whole = listed(find_spans(by_numpy(scores, weights, scheme), [0], scheme))
    assert found[1, 3, 1] == pytest.approx(whole[1, 3, 1], abs=0.01)


@given(
    scheme=st.sampled_from([FLAT, BIO]), lengths=st.lists(st.integers(1, 9), min_size=1, max_size=3), scale=scales, seed=seeds
)
def test_the_labels_of_tokens_are_those_of_the_tags_they_lie_in(
    scheme: Scheme, lengths: list[int], scale: float, seed: int
) -> None:
    values = np.concatenate([random_rows(each, scheme, scale=scale, seed=seed + n) for n, each in enumerate(lengths)])
    found = find_spans(values, [0, *accumulate(lengths)][:-1], scheme)
    for spans in (found, found[found.probability >= 0.4], found[:0]):
        expected = np.zeros(len(values), dtype=np.int64)
        for first, last, number in listed(spans):
            one = scheme.encode([(0, last - first, scheme.classes[number - 1])], length=last - first + 1)
            expected[first : last + 1] = one
        np.testing.assert_array_equal(spans.labels(scheme, len(values)), expected)


@pytest.mark.parametrize("scheme", [FLAT, BIO], ids=lambda scheme: scheme.name)
def test_no_tokens_have_no_spans(scheme: Scheme) -> None:
    for columns in (len(scheme.labels), 2 * len(scheme.labels) - 1):
        found = find_spans(np.zeros((0, columns)), [], scheme)
        assert len(found) == 0
        assert found.labels(scheme, 0).tolist() == []


class _Counting(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
    """An array that counts how many of its values are looked up by number, in all its parts together."""

    looked_up = 0

    def __getitem__(self, key: object) -> NDArray[np.float64]:  # type: ignore[override]
        found: NDArray[np.float64] = super().__getitem__(key)  # type: ignore[index]
        if isinstance(key, tuple) and all(isinstance(each, np.ndarray) for each in key):
            _Counting.looked_up += found.size
        return found


def sure_rows(tokens: int, scheme: Scheme, label: int, *, sure: float, onward: float) -> Doubles:
    """A text in which every token has one label, and continues the one before."""
    labels = len(scheme.labels)
    values = np.full((tokens, 2 * labels - 1), (1 - sure) / (labels - 1))
    values[:, label] = sure
    values[:, labels:] = onward
    return values


@pytest.mark.parametrize("scheme", [FLAT, BIO], ids=lambda scheme: scheme.name)
@pytest.mark.parametrize(("sure", "onward"), [(0.99, 0.999999), (0.99, 0.9), (0.6, 0.6), (0.95, 1.0), (0.95, 0.0)])
def test_candidates_are_found_in_proportion_to_the_text(scheme: Scheme, sure: float, onward: float) -> None:
    steps = {}
    for tokens in (500, 4000):
        values = sure_rows(tokens, scheme, 2, sure=sure, onward=onward)
        _Counting.looked_up = 0
        found = _candidates(values.view(_Counting), [0], scheme)
        steps[tokens] = _Counting.looked_up
        covered = int((found.last - found.first + 1).sum())
        # Spans that share a token exclude each other: no more than 1 / LEAST of them can be probable enough.
        assert covered <= tokens / LEAST + 1
        assert _Counting.looked_up <= 6 * (tokens / LEAST + 1)
    assert steps[500] > 0
    assert steps[4000] <= 8 * steps[500] + 100
