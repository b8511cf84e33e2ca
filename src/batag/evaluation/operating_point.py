"""The dial between clean and rich: offsets of the classes' logits, chosen on dev, that never fall as richness rises.

Shapes: N tokens, L labels, C classes (none first).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.errors import UsageError
from batag.evaluation.fscore import macro_fbeta
from batag.labels.scheme import Scheme

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NAMES = {"clean": 0.0, "balanced": 0.5, "rich": 1.0}
_FARTHEST = 8.0
_BAGS = 8


@dataclass(frozen=True)
class OperatingPoint:
    """Where the dial stands, the F_beta that it is best for on dev, and the offset of each class."""

    richness: float
    beta: float
    offsets: tuple[float, ...]


@dataclass(frozen=True)
class Dial:
    """Operating points in order of richness; between two of them offsets move in a straight line."""

    points: tuple[OperatingPoint, ...]

    def offsets(self, richness: float) -> Floats:
        """The offset of each class at a richness of 0 (clean) to 1 (rich)."""
        places = [point.richness for point in self.points]
        columns = zip(*(point.offsets for point in self.points), strict=True)
        return np.array([np.interp(richness, places, column) for column in columns])

    def facts(self, classes: Sequence[str]) -> list[dict[str, object]]:
        """As it stands in a bundle."""
        return [
            {"richness": p.richness, "beta": p.beta, "offsets": dict(zip(classes, map(float, p.offsets), strict=True))}
            for p in self.points
        ]

    @classmethod
    def of_facts(cls, facts: Sequence[Mapping[str, object]], classes: Sequence[str]) -> Dial:
        points = []
        for said in facts:
            offsets = said["offsets"]
            assert isinstance(offsets, Mapping)
            points.append(
                OperatingPoint(
                    float(str(said["richness"])), float(str(said["beta"])), tuple(float(offsets[c]) for c in classes)
                )
            )
        return cls(tuple(points))


def parse_richness(said: str | float | None) -> float | None:
    """`clean`, `balanced`, `rich` or a number from 0 to 1."""
    if said is None:
        return None
    try:
        value = NAMES[said] if isinstance(said, str) and said in NAMES else float(said)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(
            f"richness {said!r} is not clean, balanced, rich or a number from 0 to 1", todo="0 is clean, 1 is rich"
        )
    return value


def log_probabilities(values: NDArray[Any]) -> Floats:
    """Logits that offsets are added to; a probability of 0 stays finite."""
    return np.log(np.maximum(values.astype(np.float64), 1e-12))


def label_offsets(scheme: Scheme, offsets: Sequence[float] | Floats) -> Floats:
    """The offset of each label: none has 0, a class the same for all its labels."""
    return np.concatenate(([0.0], np.asarray(offsets, dtype=np.float64)))[class_numbers(scheme)]


def choose_dial(
    logits_NL: Floats,
    truth_N: Integers,
    pages_N: Integers,
    scheme: Scheme,
    *,
    betas: Sequence[float] = (0.5, 1.0, 2.0),
    seed: int = 0,
) -> Dial:
    """The points of clean, balanced and rich, best for macro F_beta on dev; `pages_N` says which page a token is of.

    Offsets are means over resamplings of the pages, so that a few tokens of dev do not decide.
    """
    bags = _bags(pages_N, seed=seed)
    classes = len(scheme.classes)
    low, high = np.full(classes, -_FARTHEST), np.full(classes, _FARTHEST)

    def mean(beta: float, low: Floats, high: Floats, start: Floats) -> Floats:
        found = [_best_offsets(logits_NL, truth_N, bag, scheme, beta=beta, low=low, high=high, start=start) for bag in bags]
        return np.asarray(np.clip(np.mean(found, axis=0), low, high))

    clean_beta, balanced_beta, rich_beta = betas
    balanced = mean(balanced_beta, low, high, np.zeros(classes))
    clean, rich = mean(clean_beta, low, balanced, balanced), mean(rich_beta, balanced, high, balanced)
    made = zip(NAMES.values(), betas, (clean, balanced, rich), strict=True)
    return Dial(tuple(OperatingPoint(richness, beta, tuple(map(float, offsets))) for richness, beta, offsets in made))


def _bags(pages_N: Integers, *, seed: int) -> list[Floats]:
    """How often each token counts in each resampling of the pages; the first is dev as it is."""
    names, of_page_N = np.unique(pages_N, return_inverse=True)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_BAGS - 1)
    return [np.ones(len(pages_N)), *(weights.astype(np.float64)[of_page_N] for weights in drawn)]


def _best_offsets(
    logits_NL: Floats,
    truth_N: Integers,
    weights_N: Floats,
    scheme: Scheme,
    *,
    beta: float,
    low: Floats,
    high: Floats,
    start: Floats,
) -> Floats:
    """Class by class the best offset given the others', until none gets better."""
    best, offsets = -1.0, np.clip(start, low, high)
    for _ in range(20):
        for number in range(len(offsets)):
            offsets[number] = _best_of_class(
                logits_NL, truth_N, weights_N, scheme, offsets, number, beta, low[number], high[number]
            )
        score = macro_fbeta(_confusion(logits_NL, truth_N, weights_N, scheme, offsets), beta)
        if score <= best + 1e-6:
            break
        best = score
    return offsets


def _best_of_class(
    logits_NL: Floats,
    truth_N: Integers,
    weights_N: Floats,
    scheme: Scheme,
    offsets: Floats,
    number: int,
    beta: float,
    low: float,
    high: float,
) -> float:
    """Sweep one class's offset: token after token changes from what it is otherwise to this class."""
    class_of = class_numbers(scheme)
    shifted_NL = logits_NL + label_offsets(scheme, offsets)
    own = class_of == number + 1
    without_NL = np.where(own, -np.inf, shifted_NL)
    otherwise_N = class_of[without_NL.argmax(1)]
    # It is this class's from this offset on.
    turn_N = without_NL.max(1) - np.where(own, logits_NL, -np.inf).max(1)
    order = np.argsort(turn_N, kind="stable")
    size = len(scheme.classes) + 1
    rows = np.arange(size)
    truth, other, weight = truth_N[order], otherwise_N[order], weights_N[order][:, None]
    true_C = np.bincount(truth_N, weights=weights_N, minlength=size)
    said_C = np.bincount(otherwise_N, weights=weights_N, minlength=size)
    hits_C = np.bincount(truth_N, weights=weights_N * (truth_N == otherwise_N), minlength=size)
    is_own, is_other = rows == number + 1, rows == other[:, None]
    zero = np.zeros((1, size))
    said = said_C + np.concatenate((zero, np.cumsum(weight * (is_own * 1.0 - is_other), axis=0)))
    gained = is_own * (truth == number + 1)[:, None] * 1.0 - is_other * (truth == other)[:, None]
    hits = hits_C + np.concatenate((zero, np.cumsum(weight * gained, axis=0)))
    below = beta**2 * true_C + said
    score = np.divide((1 + beta**2) * hits, below, out=np.zeros_like(below), where=below > 1e-9).mean(1)
    # After so many changes any offset between two turns does: the middle, or a little beyond the last.
    turns = turn_N[order]
    edges = np.concatenate(([low], turns, [high]))
    places = np.clip((edges[:-1] + edges[1:]) / 2, low, high)
    allowed = (edges[:-1] <= high) & (edges[1:] >= low) & (edges[1:] > edges[:-1])
    if not allowed.any():
        return float(np.clip(offsets[number], low, high))
    score = np.where(allowed, score, -1.0)
    best = np.flatnonzero(score >= score.max() - 1e-9)
    return float(places[best[np.abs(places[best] - offsets[number]).argmin()]])


def class_numbers(scheme: Scheme) -> Integers:
    """The class of each label, none being 0."""
    per_class = (len(scheme.labels) - 1) // max(len(scheme.classes), 1)
    return np.concatenate(([0], np.repeat(np.arange(1, len(scheme.classes) + 1), per_class)))


def _confusion(logits_NL: Floats, truth_N: Integers, weights_N: Floats, scheme: Scheme, offsets: Floats) -> Floats:
    size = len(scheme.classes) + 1
    said_N = class_numbers(scheme)[(logits_NL + label_offsets(scheme, offsets)).argmax(1)]
    cells = np.bincount(size * truth_N + said_N, weights=weights_N, minlength=size * size)
    return np.asarray(cells.reshape(size, size), dtype=np.float64)
