"""Choose the operating points of the dial by tags: the offsets of the classes that maximise micro F_beta on dev.

Shapes: N tags that may be predicted, P pages, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.operating_point import NAMES, Dial, OperatingPoint
from batag.evaluation.spans import LEAST

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LOWEST, _HIGHEST = -5.0, float(np.log((1 - LEAST) / LEAST))
_FOLDS, _BAGS, _ROUNDS = 5, 8, 30
_KINDS = ("none", "common", "own")
_GAIN = 0.002


@dataclass(frozen=True)
class PossibleTags:
    """The tags that may be predicted on labelled pages (class from 0, logit of the probability, whether it is correct, page),
    and the number of gold tags by page and class."""

    classes_N: Integers
    logits_N: Floats
    right_N: Floats
    pages_N: Integers
    true_PK: Floats

    def counts(self, offsets_K: Floats, weights_P: Floats) -> tuple[float, float, float]:
        """How many tags are correct, predicted and gold with these offsets; pages are counted by their weights."""
        weights_N = weights_P[self.pages_N] * (self.logits_N + offsets_K[self.classes_N] >= 0)
        return float(weights_N @ self.right_N), float(weights_N.sum()), float(weights_P @ self.true_PK.sum(1))


def choose_tag_dial(
    tags: PossibleTags, *, betas: Sequence[float] = (0.5, 1.0, 2.0), fewest: int = 1, before: Dial | None = None, seed: int = 0
) -> Dial:
    """Choose the operating points clean, balanced and rich, which maximise micro F_beta of tags with exact borders.

    Whether there are no offsets, one offset for all classes or one for each is chosen on held-out folds of the pages, so that
    few pages do not overfit. Offsets are means over bootstrap samples. A class with fewer than `fewest` gold tags has the
    common offset, or that of `before`; without any such class, the dial is `before` or has no offsets.
    """
    classes = tags.true_PK.shape[1]
    known = tags.true_PK.sum(0) >= fewest
    points: list[Floats] = []
    for beta, richness in zip(betas, NAMES.values(), strict=True):
        old = before.offsets(richness) if before is not None else None
        if not known.any():
            points.append(np.zeros(classes) if old is None else old)
            continue
        kind = _kind(tags, known, beta=beta)
        bags = _bags(len(tags.true_PK), seed=seed)
        found = np.mean([_fit(tags, bag, known, kind, beta=beta) for bag in bags], axis=0)
        points.append(found if old is None else np.where(known, found, old))
    clean, balanced, rich = points
    rising = np.minimum(clean, balanced), balanced, np.maximum(balanced, rich)
    made = zip(NAMES.values(), betas, rising, strict=True)
    return Dial(tuple(OperatingPoint(richness, beta, tuple(map(float, offsets))) for richness, beta, offsets in made))


def _kind(tags: PossibleTags, known_K: NDArray[np.bool_], *, beta: float) -> str:
    """The kind of offsets with the best F_beta on held-out folds; a simpler one if it is as good but for 0.2 points."""
    pages = len(tags.true_PK)
    if pages < _FOLDS:
        return _KINDS[0]
    fold_P = np.random.default_rng(pages).permutation(pages) % _FOLDS
    scores = []
    for kind in _KINDS:
        counts = np.zeros(3)
        for fold in range(_FOLDS):
            offsets = _fit(tags, (fold_P != fold).astype(np.float64), known_K, kind, beta=beta)
            counts += tags.counts(offsets, (fold_P == fold).astype(np.float64))
        scores.append(_fbeta(*counts, beta=beta))
    best = 0
    for number, score in enumerate(scores):
        if score > scores[best] + _GAIN:
            best = number
    return _KINDS[best]


def _fit(tags: PossibleTags, weights_P: Floats, known_K: NDArray[np.bool_], kind: str, *, beta: float) -> Floats:
    """The offsets of one kind that maximise F_beta on weighted pages."""
    classes = len(known_K)
    if kind == "none":
        return np.zeros(classes)
    common = np.full(classes, _optimum(tags, weights_P, np.zeros(classes, dtype=np.int64), beta=beta)[0])
    if kind == "common":
        return common
    group_K = np.where(known_K, np.arange(classes), -1)
    own = _optimum(tags, weights_P, group_K, beta=beta)
    return np.where(known_K, own[np.maximum(group_K, 0)], common)


def _optimum(tags: PossibleTags, weights_P: Floats, group_K: Integers, *, beta: float) -> Floats:
    """The offset of each group of classes that maximises F_beta of all of them together (Dinkelbach's method: at the best F,
    each group for itself maximises (1 + beta^2) correct - F predicted)."""
    group_N, weights_N = group_K[tags.classes_N], weights_P[tags.pages_N]
    true = float(weights_P @ (tags.true_PK * (group_K >= 0)).sum(1))
    orders = []
    for group in range(int(group_K.max()) + 1):
        mine = np.flatnonzero((group_N == group) & (weights_N > 0))
        mine = mine[np.argsort(-tags.logits_N[mine], kind="stable")]
        zero = np.zeros(1)
        hits = np.concatenate((zero, np.cumsum((weights_N * tags.right_N)[mine])))
        predicted = np.concatenate((zero, np.cumsum(weights_N[mine])))
        orders.append((tags.logits_N[mine], hits, predicted))
    best, offsets = 0.5, np.zeros(len(orders))
    for _ in range(_ROUNDS):
        total = np.zeros(2)
        for group, (logits, hits, predicted) in enumerate(orders):
            gain = (1 + beta**2) * hits - best * predicted
            edges = -np.concatenate(([-_LOWEST + 1], logits, [-_HIGHEST]))
            # Equal scores cannot be parted, and offsets go no farther than the lowest.
            cut = int(np.argmax(np.where(edges[1:] > np.maximum(edges[:-1], _LOWEST), gain, -np.inf)))
            offsets[group] = np.clip((edges[cut] + edges[cut + 1]) / 2, _LOWEST, _HIGHEST)
            total += hits[cut], predicted[cut]
        after = _fbeta(total[0], total[1], true, beta=beta)
        if abs(after - best) < 1e-9:
            break
        best = after
    return offsets


def _fbeta(found: float, predicted: float, true: float, *, beta: float) -> float:
    below = beta**2 * true + predicted
    return (1 + beta**2) * found / below if below else 0.0


def _bags(pages: int, *, seed: int) -> list[Floats]:
    """The weight of each page in each bootstrap sample; the first is dev itself."""
    drawn = np.random.default_rng(seed).multinomial(pages, np.full(pages, 1 / pages), size=_BAGS - 1)
    return [np.ones(pages), *drawn.astype(np.float64)]
