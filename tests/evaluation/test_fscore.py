"""F scores against scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import batag.evaluation
from batag.evaluation.fscore import fbeta, macro_fbeta, precision, recall

Ints = NDArray[np.int64]


def confusion_of(truth: Ints, predictions: Ints, classes: int) -> Ints:
    table = np.zeros((classes, classes), dtype=np.int64)
    for true, predicted in zip(truth, predictions, strict=True):
        table[true, predicted] += 1
    return table


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Ints, Ints, int]:
    """Truth and prediction; some classes may never be true, or never predicted, or neither."""
    classes = draw(st.integers(2, 6))
    true_ones = st.sampled_from(draw(st.lists(st.integers(0, classes - 1), min_size=1, unique=True)))
    predicted_ones = st.sampled_from(draw(st.lists(st.integers(0, classes - 1), min_size=1, unique=True)))
    size = draw(st.integers(1, 40))
    truth = draw(st.lists(true_ones, min_size=size, max_size=size))
    predictions = draw(st.lists(predicted_ones, min_size=size, max_size=size))
    return np.array(truth), np.array(predictions), classes


@given(case=labelled(), beta=st.sampled_from([0.5, 1, 2, 3.7]))
@settings(max_examples=150)
def test_scores_are_scikit_learns(case: tuple[Ints, Ints, int], beta: float) -> None:
    from sklearn.metrics import fbeta_score, precision_score, recall_score

    truth, predictions, classes = case
    table = confusion_of(truth, predictions, classes)
    given_ = {"labels": list(range(classes)), "zero_division": 0}
    np.testing.assert_allclose(
        fbeta(table, beta), fbeta_score(truth, predictions, beta=beta, average=None, **given_), atol=1e-12
    )
    np.testing.assert_allclose(precision(table), precision_score(truth, predictions, average=None, **given_), atol=1e-12)
    np.testing.assert_allclose(recall(table), recall_score(truth, predictions, average=None, **given_), atol=1e-12)
    macro = fbeta_score(truth, predictions, beta=beta, average="macro", **given_)
    assert macro_fbeta(table, beta) == pytest.approx(macro, abs=1e-12)
    without = fbeta_score(truth, predictions, beta=beta, average="macro", labels=list(range(1, classes)), zero_division=0)
    assert macro_fbeta(table, beta, skip_none=True) == pytest.approx(without, abs=1e-12)


def test_rows_are_the_truth_and_columns_the_prediction() -> None:
    table = [[50, 4, 6], [10, 20, 0], [5, 0, 5]]
    np.testing.assert_allclose(precision(table), [50 / 65, 20 / 24, 5 / 11])
    np.testing.assert_allclose(recall(table), [50 / 60, 20 / 30, 5 / 10])
    p, r = 20 / 24, 20 / 30
    assert fbeta(table, 1)[1] == pytest.approx(2 * p * r / (p + r))
    assert fbeta(table, 2)[1] == pytest.approx(5 * p * r / (4 * p + r))


def test_f2_favours_recall() -> None:
    table = np.array([[50, 40], [1, 20]])
    assert fbeta(table, 2)[1] > fbeta(table, 1)[1]
    assert fbeta(table.T, 2)[1] < fbeta(table.T, 1)[1]


def test_the_difference_of_f2_and_f1_is_the_papers_identity() -> None:
    table = np.random.default_rng(0).integers(1, 50, (4, 4))
    p, r = precision(table), recall(table)
    np.testing.assert_allclose(fbeta(table, 1) - fbeta(table, 2), 3 * p * r * (p - r) / ((p + r) * (4 * p + r)))


def test_nothing_divided_by_nothing_is_zero_and_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fbeta(np.zeros((3, 3)), 1).tolist() == [0, 0, 0]
        assert precision(np.zeros((3, 3))).tolist() == recall(np.zeros((3, 3))).tolist() == [0, 0, 0]
        assert macro_fbeta(np.zeros((3, 3)), 2) == macro_fbeta(np.zeros((3, 3)), 2, skip_none=True) == 0


def test_a_class_that_never_occurs_still_counts_in_the_mean() -> None:
    assert macro_fbeta([[5, 0, 0], [0, 5, 0], [0, 0, 0]], 1) == pytest.approx(2 / 3)
    assert macro_fbeta([[5, 0, 0], [0, 5, 0], [0, 0, 0]], 1, skip_none=True) == pytest.approx(1 / 2)


def test_without_none_its_score_is_left_out_but_not_its_tokens() -> None:
    table = [[0, 10], [0, 10]]
    assert macro_fbeta(table, 1, skip_none=True) == pytest.approx(2 / 3)
    assert macro_fbeta(table, 1) == pytest.approx(1 / 3)


def test_none_alone_leaves_nothing_without_none() -> None:
    assert macro_fbeta([[7]], 1) == 1
    assert macro_fbeta([[7]], 1, skip_none=True) == 0


def test_the_confusion_given_is_left_as_it_was() -> None:
    table = np.array([[3, 1], [2, 4]])
    macro_fbeta(table, 2)
    assert table.tolist() == [[3, 1], [2, 4]]


def test_the_macro_is_what_the_folder_offers() -> None:
    assert batag.evaluation.macro_fbeta is macro_fbeta
    assert isinstance(macro_fbeta([[1, 0], [0, 1]], 1), float)
