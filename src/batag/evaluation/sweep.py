"""Score predictions at every richness: spans are found once, and each richness keeps those that are probable enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.assessment import place, places, true_labels
from batag.evaluation.calibration import Calibration, expected_calibration_error, reliability
from batag.evaluation.decoding import Decoding, Prediction
from batag.evaluation.operating_point import NAMES, Dial, OperatingPoint, steps
from batag.evaluation.spans import Spans, find_spans
from batag.evaluation.tag_points import PossibleTags
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme
from batag.pages.stopwords import StopWords

_BETAS = (0.5, 1.0, 2.0)
_FAR = 100.0


class Sweep:
    """Collects predictions of labelled pages; their scores can then be had with any dial."""

    def __init__(
        self, predictions: Iterable[Prediction], scheme: Scheme, *, stop_words: Mapping[str, StopWords] | None = None
    ) -> None:
        self.scheme = scheme
        # The richest dial that there could be: every span that may become a tag.
        everything = Dial(tuple(OperatingPoint(at, 1.0, (_FAR,) * len(scheme.classes)) for at in (0.0, 1.0)))
        decoding = Decoding(scheme, dial=everything, stop_words=stop_words or {})
        number = {name: at for at, name in enumerate(scheme.classes)}
        values: list[NDArray[Any]] = []
        truth: list[NDArray[np.int64]] = []
        tags: list[tuple[int, float, bool, int]] = []
        gold: list[NDArray[np.float64]] = []
        self.unknown = 0
        for page, prediction in enumerate(predictions):
            there = places(prediction.page.tags)
            counts = np.zeros(len(scheme.classes))
            for *_, name in there:
                if name in number:
                    counts[number[name]] += 1
                else:
                    self.unknown += 1
            gold.append(counts)
            found = decoding.tags_of(prediction)
            tags += ((number[tag.label], float(tag.score or 0.0), place(tag) in there, page) for tag in found)
            for field, own in zip(prediction.fields, prediction.probabilities, strict=True):
                if len(own):
                    values.append(own)
                    truth.append(true_labels(prediction.page, field, scheme))
        wide = np.concatenate(values) if values else np.zeros((0, len(scheme.labels)))
        self.truth = np.concatenate(truth) if truth else np.zeros(0, dtype=np.int64)
        self.marginals = wide[:, : len(scheme.labels)]
        self._spans: Spans = find_spans(wide, [0, *accumulate(map(len, values))][: len(values)], scheme)
        columns = zip(*tags, strict=True) if tags else ((),) * 4
        classes, raw, right, pages = (np.array(column, dtype=np.float64) for column in columns)
        self.raw: NDArray[np.float64] = raw
        logits = np.log(np.maximum(self.raw, 1e-9)) - np.log(np.maximum(1 - self.raw, 1e-9))
        true_PK = np.array(gold).reshape(len(gold), len(scheme.classes))
        self.tags = PossibleTags(classes.astype(np.int64), logits, right, pages.astype(np.int64), true_PK)

    def row(self, dial: Dial | None, richness: float) -> dict[str, float]:
        """The scores at a richness: of tags, micro and macro, and of the tokens that lie in these tags."""
        offsets = dial.offsets(richness) if dial is not None else np.zeros(len(self.scheme.classes))
        chosen = self.tags.logits_N + offsets[self.tags.classes_N] >= 0
        size = len(self.scheme.classes)
        hits, predicted = (
            np.bincount(self.tags.classes_N[chosen], weights=weights[chosen], minlength=size)
            for weights in (self.tags.right_N, np.ones(len(chosen)))
        )
        true = self.tags.true_PK.sum(0)
        row = {"richness": richness, "precision": _ratio(hits.sum(), predicted.sum())}
        row["recall"] = _ratio(hits.sum(), true.sum() + self.unknown)
        for beta in _BETAS:
            below = beta**2 * true + predicted
            row[f"tag_f{beta:g}"] = _ratio((1 + beta**2) * hits.sum(), below.sum() + beta**2 * self.unknown)
            there = true > 0
            each = np.divide((1 + beta**2) * hits, below, out=np.zeros(size), where=below > 0)[there]
            row[f"tag_macro_f{beta:g}"] = float(each.mean()) if there.any() else 0.0
        scores = TokenScores(self.scheme)
        least = 1 / (1 + np.exp(offsets))
        kept = self._spans[self._spans.probability >= least[self._spans.classes - 1]]
        scores.add(self.truth, kept.labels(self.scheme, len(self.truth)))
        return row | scores.summary()

    def report(self, dial: Dial, calibration: Calibration, *, held: NDArray[np.float64] | None = None) -> dict[str, Any]:
        """One row of scores per richness, and the reliability of tag scores before and after calibration; `held` are the
        calibrated scores if they were cross-fitted."""
        shown = self.shown(dial)
        raw, right = self.raw[shown], self.tags.right_N[shown]
        scores = {"raw": raw, "calibrated": calibration(raw) if held is None else held}
        return {
            "points": dict(NAMES),
            "rows": [self.row(dial, richness) for richness in steps()],
            "tags": len(right),
            "ece": {name: expected_calibration_error(values, right) for name, values in scores.items()},
            "reliability": {name: reliability(values, right) for name, values in scores.items()},
        }

    def shown(self, dial: Dial) -> NDArray[np.bool_]:
        """Which of the possible tags are predicted at the richest point."""
        found: NDArray[np.bool_] = self.tags.logits_N + dial.offsets(1.0)[self.tags.classes_N] >= 0
        return found


def _ratio(above: float, below: float) -> float:
    return float(above / below) if below else 0.0
