"""The scores of an epoch on dev: tokens by their most probable labels, tags at the best common threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.spans import find_spans
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme


@dataclass(frozen=True)
class DevScores:
    """Token scores, and the best F1 and F2 of tags (micro, exact borders) over all thresholds that are the same for all
    classes."""

    tokens: TokenScores
    tag_f1: float
    tag_f2: float

    def summary(self) -> dict[str, float]:
        return self.tokens.summary() | {"tag_f1": self.tag_f1, "tag_f2": self.tag_f2}

    def report(self) -> dict[str, Any]:
        return self.tokens.report() | {"tag_f1": self.tag_f1, "tag_f2": self.tag_f2}


def score_examples(found: Sequence[NDArray[Any]], labels: Sequence[Sequence[int]], scheme: Scheme) -> DevScores:
    """Score rows of probabilities against gold labels, example by example."""
    tokens = TokenScores(scheme)
    pairs = [(np.asarray(values), np.array(own, dtype=np.int64)) for values, own in zip(found, labels, strict=True) if len(own)]
    if not pairs:
        return DevScores(tokens, 0.0, 0.0)
    values, truth = (np.concatenate(column) for column in zip(*pairs, strict=True))
    # A token without a label parts what stands around it: the mark between two fields, or the seam of two windows.
    unlabelled = np.flatnonzero(truth < 0)
    starts = np.array([0, *accumulate(len(own) for _, own in pairs)])
    begins = np.union1d(starts, np.union1d(unlabelled, unlabelled + 1))
    begins = begins[begins < len(truth)].tolist()
    tokens.add(truth, values[:, : len(scheme.labels)].argmax(1))
    spans = find_spans(values, begins, scheme)
    gold = set(zip(*(column.tolist() for column in scheme.decode_many(np.maximum(truth, 0), begins)), strict=True))
    places = zip(spans.first.tolist(), spans.last.tolist(), spans.classes.tolist(), strict=True)
    right = np.array([place in gold for place in places], dtype=np.float64)
    # What lies on tokens without a label is neither right nor wrong.
    counted = truth[spans.first] >= 0
    order = np.argsort(-spans.probability[counted], kind="stable")
    # Equal probabilities cannot be parted by a threshold.
    ends = np.flatnonzero(np.diff(spans.probability[counted][order], append=-1.0))
    hits = np.cumsum(right[counted][order])[ends]
    predicted = ends + 1

    def best(beta: float) -> float:
        scores = (1 + beta**2) * hits / (beta**2 * len(gold) + predicted)
        return float(scores.max(initial=0.0))

    return DevScores(tokens, best(1), best(2))
