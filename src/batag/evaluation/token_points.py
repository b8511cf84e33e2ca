"""Operating points by tokens, for comparisons with systems that label tokens: offsets that maximise macro F_beta of tokens.

Shapes: N tokens, L labels, C classes (none first).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.operating_point import NAMES, Dial, OperatingPoint
from batag.evaluation.tokens import TokenScores, class_numbers
from batag.labels.scheme import Scheme

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FARTHEST = 8.0
_BAGS, _ROUNDS, _MOST_LOGITS = 8, 10, 1_000_000


def token_scores(
    marginals_NL: NDArray[Any], labels_N: Integers, scheme: Scheme, offsets: Sequence[float] | Floats
) -> TokenScores:
    """The scores of the most probable labels after offsets were added to the classes' logits."""
    scores = TokenScores(scheme)
    scores.add(labels_N, (log_probabilities(marginals_NL) + label_offsets(scheme, offsets)).argmax(1))
    return scores


def log_probabilities(values: NDArray[Any]) -> Floats:
    """Logarithms of probabilities, to add offsets to; finite also for a probability of 0."""
    return np.log(np.maximum(values.astype(np.float64), 1e-12))


def label_offsets(scheme: Scheme, offsets: Sequence[float] | Floats) -> Floats:
    """The offset of each label: 0 for none, that of the class for all labels of a class."""
    return np.concatenate(([0.0], np.asarray(offsets, dtype=np.float64)))[class_numbers(scheme)]


def choose_token_dial(
    marginals_NL: NDArray[Any],
    labels_N: Integers,
    pages_N: Integers,
    scheme: Scheme,
    *,
    betas: Sequence[float] = (0.5, 1.0, 2.0),
    seed: int = 0,
    fewest: int = 20,
    bags: int = _BAGS,
    most_logits: int | None = None,
    before: Dial | None = None,
) -> Dial:
    """Choose the operating points clean, balanced and rich, which maximise macro F_beta of tokens, from their marginals and
    gold labels (-1: not known); `pages_N` is the page of each token.

    Offsets are means over bootstrap samples (`bags`) of the pages, so that a few dev tokens do not decide. A class with fewer
    than `fewest` tokens in dev keeps its offset `before`, or 0.
    """
    known_N = labels_N >= 0
    logits_NL, pages_N = log_probabilities(marginals_NL[known_N]), pages_N[known_N]
    truth_N = class_numbers(scheme)[labels_N[known_N]]
    kept_N = _some_pages(pages_N, most=max((most_logits or _MOST_LOGITS) // (len(scheme.classes) + 1), 10_000), seed=seed)
    sweep = _Sweep(logits_NL[kept_N], truth_N[kept_N], scheme)
    weights = _bags(pages_N[kept_N], seed=seed)[:bags]
    enough = np.bincount(truth_N, minlength=len(scheme.classes) + 1)[1:] >= fewest
    kept = [np.zeros(len(scheme.classes)) if before is None else before.offsets(richness) for richness in NAMES.values()]

    def mean(beta: float, low: Floats | float, high: Floats | float, start: Floats, kept: Floats) -> Floats:
        low, high, start = (np.where(enough, value, kept) for value in (low, high, start))
        found = np.array([sweep.best(bag, beta=beta, low=low, high=high, start=start) for bag in weights])
        # A resampling without a class says nothing of it.
        seen = np.array([sweep.true_amounts(bag)[1:] > 0 for bag in weights])
        sums, counts = np.where(seen, found, 0.0).sum(0), seen.sum(0)
        return np.clip(np.where(counts > 0, sums / np.maximum(counts, 1), start), low, high)

    clean_beta, balanced_beta, rich_beta = betas
    balanced = mean(balanced_beta, -_FARTHEST, _FARTHEST, np.zeros(len(scheme.classes)), kept[1])
    clean = mean(clean_beta, -_FARTHEST, balanced, balanced, kept[0])
    rich = mean(rich_beta, balanced, _FARTHEST, balanced, kept[2])
    made = zip(NAMES.values(), betas, (clean, balanced, rich), strict=True)
    return Dial(tuple(OperatingPoint(richness, beta, tuple(map(float, offsets))) for richness, beta, offsets in made))


def _some_pages(pages_N: Integers, *, most: int, seed: int) -> NDArray[np.bool_]:
    """A mask of the tokens to use: all, or those of some pages if dev is very large."""
    if len(pages_N) <= most:
        return np.ones(len(pages_N), dtype=bool)
    names = np.unique(pages_N)
    drawn = np.random.default_rng(seed).random(len(names))
    # The one that is drawn first at least.
    return np.isin(pages_N, names[drawn <= max(most / len(pages_N), drawn.min())])


def _bags(pages_N: Integers, *, seed: int) -> list[Floats]:
    """The weight of each token in each bootstrap sample of the pages; the first is dev itself."""
    names, of_page_N = np.unique(pages_N, return_inverse=True)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_BAGS - 1)
    return [np.ones(len(pages_N)), *(weights.astype(np.float64)[of_page_N] for weights in drawn)]


class _Sweep:
    """Finds the offsets that maximise macro F_beta of weighted tokens, one class after the other."""

    def __init__(self, logits_NL: Floats, truth_N: Integers, scheme: Scheme) -> None:
        class_of = class_numbers(scheme)
        # Of each class only its highest label counts, whatever the offset.
        self.logits_NC = np.stack([logits_NL[:, class_of == k].max(1) for k in range(len(scheme.classes) + 1)], axis=1)
        self.truth_N, self.size = truth_N, len(scheme.classes) + 1

    def true_amounts(self, weights_N: Floats) -> Floats:
        return np.asarray(np.bincount(self.truth_N, weights=weights_N, minlength=self.size), dtype=np.float64)

    def best(self, weights_N: Floats, *, beta: float, low: Floats, high: Floats, start: Floats) -> Floats:
        """Optimise the offset of one class after the other until none improves."""
        best, offsets = -1.0, np.clip(start, low, high)
        for _ in range(_ROUNDS):
            score = best
            for number in np.flatnonzero(high > low):
                offsets[number], score = self.best_of_class(
                    weights_N, offsets, int(number), beta=beta, low=low[number], high=high[number]
                )
            if score <= best + 1e-6:
                break
            best = score
        return offsets

    def best_of_class(
        self, weights_N: Floats, offsets: Floats, number: int, *, beta: float, low: float, high: float
    ) -> tuple[float, float]:
        """Move the offset of one class from low to high, where token after token changes to this class.

        Returns the best offset (among equals the one nearest to the old offset) and its macro F_beta.
        """
        own, truth_N = number + 1, self.truth_N
        shifted_NC = self.logits_NC + np.concatenate(([0.0], offsets))
        shifted_NC[:, own] = -np.inf
        other_N = shifted_NC.argmax(1)
        # It is this class's from this offset on.
        turn_N = shifted_NC[np.arange(len(truth_N)), other_N] - self.logits_NC[:, own]
        at_low_N = np.where(turn_N < low, own, other_N)
        true_C = self.true_amounts(weights_N)
        predicted_C = np.bincount(at_low_N, weights=weights_N, minlength=self.size)
        hits_C = np.bincount(truth_N, weights=weights_N * (truth_N == at_low_N), minlength=self.size)
        events = np.flatnonzero((turn_N >= low) & (turn_N < high))
        events = events[np.argsort(turn_N[events], kind="stable")]
        gain = np.zeros(len(events) + 1)
        for k in range(self.size):
            # What is predicted as the class, and right, after each change that touches it.
            mine = np.arange(len(events)) if k == own else np.flatnonzero(other_N[events] == k)
            sign = 1.0 if k == own else -1.0
            weight = sign * weights_N[events[mine]]
            predicted = predicted_C[k] + np.concatenate(([0.0], np.cumsum(weight)))
            hits = hits_C[k] + np.concatenate(([0.0], np.cumsum(weight * (truth_N[events[mine]] == k))))
            below = beta**2 * true_C[k] + predicted
            score = np.divide((1 + beta**2) * hits, below, out=np.zeros_like(below), where=below > 1e-9)
            gain[0] += score[0]
            gain[mine + 1] += np.diff(score)
        scores = np.cumsum(gain) / self.size
        # After so many changes any offset between two turns does: the middle.
        edges = np.concatenate(([low], turn_N[events], [high]))
        scores = np.where(edges[1:] > edges[:-1], scores, -1.0)
        places = (edges[:-1] + edges[1:]) / 2
        best = np.flatnonzero(scores >= scores.max() - 1e-9)
        chosen = best[np.abs(places[best] - offsets[number]).argmin()]
        return float(places[chosen]), float(scores[chosen])
