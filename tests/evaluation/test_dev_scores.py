"""The scores of an epoch: tokens by their labels, tags at the best threshold, which is tried one by one here."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.heads.labellings import SCHEMES, seeds

from batag.evaluation.dev_scores import score_examples
from batag.evaluation.spans import LEAST, find_spans
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import IGNORED, Scheme

FLAT = Scheme("flat", ("goods", "brand"))


def sure(labels: list[int], scheme: Scheme, *, probability: float = 0.98) -> NDArray[np.float32]:
    """Rows of independent tokens that are this sure of these labels."""
    size = len(scheme.labels)
    values = np.full((len(labels), size), (1 - probability) / (size - 1), dtype=np.float32)
    values[range(len(labels)), labels] = probability
    return values


@st.composite
def examples(draw: st.DrawFn) -> tuple[Scheme, list[NDArray[np.float64]], list[list[int]]]:
    """Rows by chance, many of them with equal probabilities, and labels, some of them unknown."""
    scheme = draw(st.sampled_from(SCHEMES))
    size = len(scheme.labels)
    gold = draw(st.lists(st.lists(st.integers(IGNORED, size - 1), max_size=6), max_size=4))
    rng = np.random.default_rng(draw(seeds))
    found = []
    for labels in gold:
        guess = [own if own >= 0 and rng.random() < 0.7 else int(rng.integers(size)) for own in labels]
        found.append(sure(guess, scheme, probability=float(rng.choice([0.9, 0.75, 0.6]))).astype(np.float64))
    return scheme, found, gold


def best_of_all_thresholds(scheme: Scheme, found: list[NDArray[np.float64]], gold: list[list[int]], beta: float) -> float:
    candidates: list[tuple[float, bool]] = []
    true = 0
    for values, labels in zip(found, gold, strict=True):
        people = {(first, last, name) for first, last, name in scheme.decode([max(label, 0) for label in labels])}
        true += len(people)
        # A token without a label parts what stands around it.
        parted = {0, *(at + step for at, label in enumerate(labels) if label < 0 for step in (0, 1))}
        spans = find_spans(values, sorted(at for at in parted if at < len(values)), scheme)
        for first, last, number, probability in zip(spans.first, spans.last, spans.classes, spans.probability, strict=True):
            if all(label >= 0 for label in labels[first : last + 1]):
                candidates.append((probability, (first, last, scheme.classes[number - 1]) in people))
    best = 0.0
    for least in {LEAST, *(probability for probability, _ in candidates)}:
        kept = [right for probability, right in candidates if probability >= least]
        if kept:
            best = max(best, (1 + beta**2) * sum(kept) / (beta**2 * true + len(kept)))
    return best


@given(examples())
def test_tags_are_scored_at_the_best_common_threshold(case: tuple[Scheme, list[NDArray[np.float64]], list[list[int]]]) -> None:
    scheme, found, gold = case
    scores = score_examples(found, gold, scheme)
    assert scores.tag_f1 == pytest.approx(best_of_all_thresholds(scheme, found, gold, 1))
    assert scores.tag_f2 == pytest.approx(best_of_all_thresholds(scheme, found, gold, 2))


@given(examples())
def test_tokens_are_scored_by_their_most_probable_labels(
    case: tuple[Scheme, list[NDArray[np.float64]], list[list[int]]],
) -> None:
    scheme, found, gold = case
    expected = TokenScores(scheme)
    for values, labels in zip(found, gold, strict=True):
        expected.add(np.array(labels, dtype=np.int64), values[:, : len(scheme.labels)].argmax(1))
    scores = score_examples(found, gold, scheme)
    assert scores.tokens.summary() == expected.summary()
    assert scores.summary() == expected.summary() | {"tag_f1": scores.tag_f1, "tag_f2": scores.tag_f2}
    assert scores.report() == expected.report() | {"tag_f1": scores.tag_f1, "tag_f2": scores.tag_f2}


def test_the_right_labels_with_more_columns_are_all_right_and_borders_count() -> None:
    labels = [[0, 1, 1, 0, 2], [2, 0]]
    rows = [np.concatenate((sure(each, FLAT), np.zeros((len(each), 2), dtype=np.float32)), axis=1) for each in labels]
    for own, values in zip(labels, rows, strict=True):
        for place in range(1, len(own)):
            values[place, 3:] = [own[place] == number for number in (1, 2)]
    right = score_examples(rows, labels, FLAT)
    assert (right.tag_f1, right.tag_f2, right.summary()["macro_f1"]) == (1.0, 1.0, 1.0)
    shorter = score_examples(rows, [[0, 1, 0, 0, 2], [2, 0]], FLAT)
    assert shorter.tag_f1 == pytest.approx(2 / 3)


def test_what_lies_on_tokens_without_a_label_is_neither_right_nor_wrong() -> None:
    rows = [sure([0, 1, 0, 2, 0], FLAT, probability=0.75)]
    assert score_examples(rows, [[0, 1, 0, IGNORED, 0]], FLAT).tag_f1 == 1.0
    # The two are equally sure: no threshold parts them.
    assert score_examples(rows, [[0, 1, 0, 0, 0]], FLAT).tag_f1 == pytest.approx(2 / 3)


def test_no_examples_have_no_scores() -> None:
    for found, gold in (([], []), ([np.zeros((0, 3))], [[]])):
        scores = score_examples(found, gold, FLAT)
        assert (scores.tag_f1, scores.tag_f2) == (0.0, 0.0)
