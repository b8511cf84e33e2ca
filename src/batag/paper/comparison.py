"""Test whether two systems differ: a paired bootstrap over test pages, with all seeds together.

Shapes: S seeds, P pages, K cells of a confusion matrix, R bootstrap samples.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """The score of one system minus the other, in points, with its 95 % interval."""

    points: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        verdict = "" if self.clear else ", not distinguishable"
        return f"{self.points:+.1f} [{self.low:+.1f}, {self.high:+.1f}]{verdict}"


def compare(
    one_SPK: Counts, other_SPK: Counts, *, beta: float, skip_none: bool = False, resamplings: int = 2000, seed: int = 0
) -> Difference:
    """The difference of macro F_beta between two systems on the same pages; they may have different numbers of seeds."""
    assert one_SPK.shape[1:] == other_SPK.shape[1:], "both must be scored on the same pages"
    pages = one_SPK.shape[1]
    weights_RP = np.random.default_rng(seed).multinomial(pages, np.full(pages, 1 / pages), size=resamplings)
    as_is = np.ones((1, pages), dtype=np.int64)

    def macro(weights: Counts) -> Floats:
        return _macro(one_SPK, weights, beta, skip_none) - _macro(other_SPK, weights, beta, skip_none)

    low, high = np.quantile(macro(weights_RP), (0.025, 0.975))
    return Difference(100 * float(macro(as_is)[0]), 100 * float(low), 100 * float(high))


def _macro(pages_SPK: Counts, weights_RP: Counts, beta: float, skip_none: bool) -> Floats:
    """The mean over seeds of macro F_beta for each weighting of the pages [R]; 0/0 counts as 0."""
    size = round(pages_SPK.shape[2] ** 0.5)
    confusion = np.einsum("rp,spk->rsk", weights_RP.astype(np.float64), pages_SPK.astype(np.float64), optimize=True)
    table = confusion.reshape(*confusion.shape[:2], size, size)
    hits, true, predicted = np.diagonal(table, axis1=2, axis2=3), table.sum(3), table.sum(2)
    below = beta**2 * true + predicted
    scores = np.divide((1 + beta**2) * hits, below, out=np.zeros_like(below), where=below > 0)
    mean: Floats = scores[..., 1 if skip_none else 0 :].mean(-1).mean(-1)
    return mean
