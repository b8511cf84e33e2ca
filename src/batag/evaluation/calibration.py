"""Calibrate scores on dev, so that the score of a tag is the probability that it is correct."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_FOLDS, _BINS, _KNOTS, _FEWEST = 5, 10, 65, 50


@dataclass(frozen=True)
class Calibration:
    """An increasing piecewise linear function through knots (raw score, probability); `method` says how it was fitted."""

    method: str
    raw: tuple[float, ...]
    probability: tuple[float, ...]

    def to_dict(self) -> dict[str, object]:
        """The calibration as it is stored in a bundle."""
        return {"method": self.method, "raw": list(self.raw), "probability": list(self.probability)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Calibration:
        """Read a calibration that `to_dict` wrote."""
        return cls(given["method"], tuple(given["raw"]), tuple(given["probability"]))

    def __call__(self, raw: float | Floats) -> Floats:
        return np.asarray(np.interp(raw, self.raw, self.probability))


AS_IT_IS = Calibration("none", (0.0, 1.0), (0.0, 1.0))


def calibrate(raw: Floats, right: Floats, groups: NDArray[np.int64]) -> tuple[Calibration, dict[str, float], Floats]:
    """Choose between temperature scaling, isotonic regression and no calibration by cross-fitted expected calibration error
    (ECE), with folds of whole `groups`. Returns the calibration, the ECE of each method, and the cross-fitted scores.

    With fewer than fifty tags, or if all are correct or all are wrong, scores are not calibrated.
    """
    raw = np.clip(raw, 0.0, 1.0)
    errors = {"none": expected_calibration_error(raw, right)}
    if len(raw) < _FEWEST or right.min() == right.max() or len(np.unique(groups)) < _FOLDS:
        return AS_IT_IS, errors, raw
    methods: dict[str, Callable[[Floats, Floats], Calibration]] = {"temperature": _temperature, "isotonic": _isotonic}
    fold = np.unique(groups, return_inverse=True)[1] % _FOLDS
    held = {"none": raw}
    for name, fit in methods.items():
        held[name] = np.empty_like(raw)
        for number in range(_FOLDS):
            held[name][fold == number] = fit(raw[fold != number], right[fold != number])(raw[fold == number])
        errors[name] = expected_calibration_error(held[name], right)
    best = min(errors, key=lambda name: errors[name])
    return methods[best](raw, right) if best in methods else AS_IT_IS, errors, held[best]


def expected_calibration_error(scores: Floats, right: Floats) -> float:
    """The mean distance between score and accuracy, over bins with equal numbers of tags."""
    if not len(scores):
        return 0.0
    order = np.argsort(scores, kind="stable")
    parts = [part for part in np.array_split(order, _BINS) if len(part)]
    return float(sum(len(part) * abs(scores[part].mean() - right[part].mean()) for part in parts) / len(scores))


def reliability(scores: Floats, right: Floats) -> list[tuple[float, float, int]]:
    """Mean score, accuracy and number of tags of each bin: the points of a reliability plot."""
    order = np.argsort(scores, kind="stable")
    parts: Sequence[NDArray[np.int64]] = [part for part in np.array_split(order, _BINS) if len(part)]
    return [(float(scores[part].mean()), float(right[part].mean()), len(part)) for part in parts]


def _temperature(raw: Floats, right: Floats) -> Calibration:
    """sigmoid(a logit(raw) + b): temperature 1 / a and a bias, fitted by Newton's method."""
    x = np.stack((_logit(raw), np.ones_like(raw)), axis=1)
    weights = np.zeros(2)

    def cost(weights: Floats) -> float:
        z = x @ weights
        return float((np.logaddexp(0, z) - right * z).sum() + 5e-4 * (weights @ weights))

    for _ in range(100):
        p = _sigmoid(x @ weights)
        gradient = x.T @ (p - right) + 1e-3 * weights
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(2), gradient)
        # The whole step may overshoot where the line is steep.
        while cost(weights - step) > cost(weights) and np.abs(step).max() > 1e-9:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    weights[0] = max(weights[0], 1e-3)  # never falling
    # Evenly by logit: most scores lie close to 1, where the line bends most.
    logits = np.linspace(-_logit(1.0), _logit(1.0), _KNOTS)
    return Calibration(
        "temperature", tuple(_sigmoid(logits).tolist()), tuple(_sigmoid(weights[0] * logits + weights[1]).tolist())
    )


def _isotonic(raw: Floats, right: Floats) -> Calibration:
    """Isotonic regression (pool adjacent violators), as a line through the middles of its steps."""
    order = np.argsort(raw, kind="stable")
    blocks: list[list[float]] = []  # sum of right, sum of raw, number
    # Equal scores are one block from the start: their order says nothing.
    scores, first = np.unique(raw[order], return_index=True)
    for score, values in zip(scores.tolist(), np.split(right[order], first[1:]), strict=True):
        blocks.append([float(values.sum()), score * len(values), float(len(values))])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][2] >= blocks[-1][0] * blocks[-2][2]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    middles = [block[1] / block[2] for block in blocks]
    # One right and one wrong tag more in each block: no score is quite 0 or 1.
    fractions = np.maximum.accumulate([(block[0] + 0.5) / (block[2] + 1) for block in blocks])
    return Calibration("isotonic", tuple(middles), tuple(fractions.tolist()))


def _logit(p: Floats | float) -> Floats:
    clipped = np.clip(p, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))
