"""Measure how similarly two models tag unlabelled pages."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.operating_point import NAMES, Dial, label_offsets, log_probabilities
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme

Values = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The fraction of tokens with the same label (balanced), macro F1 (balanced) and F2 (rich) with the teacher's labels as
    gold, and the Kullback-Leibler divergence of the probabilities in nats per token."""

    texts: int
    tokens: int
    same: float
    macro_f1: float
    macro_f2: float
    apart: float

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


def compare(teacher: Sequence[Values], student: Sequence[Values], scheme: Scheme, *, dial: Dial | None) -> Agreement:
    """Compare the probabilities [L,C] of both models on the same texts, at the points of a dial (None for the most probable
    labels)."""
    true, predicted = (
        log_probabilities(np.concatenate([values for values in each if len(values)])) for each in (teacher, student)
    )
    labels = {
        name: [(each + _offsets(dial, name, scheme)).argmax(1) for each in (true, predicted)] for name in ("balanced", "rich")
    }
    scores = {name: TokenScores(scheme) for name in labels}
    for name, both in labels.items():
        scores[name].add(*both)
    return Agreement(
        texts=len(teacher),
        tokens=len(true),
        same=float((labels["balanced"][0] == labels["balanced"][1]).mean()),
        macro_f1=scores["balanced"].summary()["macro_f1"],
        macro_f2=scores["rich"].summary()["macro_f2"],
        apart=float((np.exp(true) * (true - predicted)).sum(1).mean()),
    )


def _offsets(dial: Dial | None, name: str, scheme: Scheme) -> Values:
    return label_offsets(scheme, np.zeros(len(scheme.classes)) if dial is None else dial.offsets(NAMES[name]))
