"""Measure how similarly two models tag unlabelled pages."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.decoding import Decoding
from batag.evaluation.operating_point import Dial
from batag.evaluation.spans import find_spans
from batag.evaluation.tags import TagScores
from batag.labels.scheme import Scheme

Values = NDArray[np.floating]
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Agreement:
    """The fraction of tokens with the same most probable label, tag F1 (balanced) and F2 (rich) with the teacher's tags as
    gold, and the Kullback-Leibler divergence of the token marginals in nats per token."""

    texts: int
    tokens: int
    same: float
    tag_f1: float
    tag_f2: float
    apart: float

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


def compare(teacher: Sequence[Values], student: Sequence[Values], scheme: Scheme, *, dial: Dial | None) -> Agreement:
    """Compare the rows of both models on the same texts, at the points of a dial."""
    labels = len(scheme.labels)
    rows = [np.concatenate([values for values in each if len(values)]) for each in (teacher, student)]
    begins = [0, *accumulate(map(len, teacher))][:-1]
    decoding = Decoding(scheme, dial=dial)
    found = [find_spans(each, sorted({*begins} - {len(each)}), scheme) for each in rows]

    def scores(richness: str) -> dict[str, Any]:
        least = decoding.least(richness if dial is not None else None)
        tags = TagScores()
        places = []
        for each in found:
            kept = each[each.probability >= least[each.classes - 1]]
            columns = (kept.first.tolist(), kept.last.tolist(), kept.classes.tolist())
            places.append([((first, last), str(number)) for first, last, number in zip(*columns, strict=True)])
        tags.add(*places)
        micro: dict[str, Any] = tags.report()["micro"]
        return micro

    true, predicted = (np.log(np.maximum(each[:, :labels].astype(np.float64), _TINY)) for each in rows)
    return Agreement(
        texts=len(teacher),
        tokens=len(true),
        same=float((true.argmax(1) == predicted.argmax(1)).mean()),
        tag_f1=scores("balanced")["f1"],
        tag_f2=scores("rich")["f2"],
        apart=float((np.exp(true) * (true - predicted)).sum(1).mean()),
    )
