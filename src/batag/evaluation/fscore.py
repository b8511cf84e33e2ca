"""F scores from a confusion matrix (rows: gold, columns: predicted, class 0: none); 0/0 counts as 0."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def macro_fbeta(confusion: ArrayLike, beta: float, skip_none: bool = False) -> float:
    """The mean F_beta over all classes (the paper's main tables) or, with `skip_none`, without none (its appendix)."""
    scores = fbeta(confusion, beta)[1 if skip_none else 0 :]
    return float(scores.mean()) if scores.size else 0.0


def fbeta(confusion: ArrayLike, beta: float) -> Floats:
    """F_beta of each class: (1 + beta^2) p r / (beta^2 p + r)."""
    hits, true, predicted = _counts(confusion)
    return _ratio((1 + beta**2) * hits, beta**2 * true + predicted)


def precision(confusion: ArrayLike) -> Floats:
    """For each class, the fraction of predicted tokens that are correct."""
    hits, _, predicted = _counts(confusion)
    return _ratio(hits, predicted)


def recall(confusion: ArrayLike) -> Floats:
    """For each class, the fraction of gold tokens that were predicted."""
    hits, true, _ = _counts(confusion)
    return _ratio(hits, true)


def _counts(confusion: ArrayLike) -> tuple[Floats, Floats, Floats]:
    table = np.asarray(confusion, dtype=np.float64)
    return np.diagonal(table), table.sum(1), table.sum(0)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros(len(below)), where=below > 0)
