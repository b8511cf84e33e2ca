"""The default: all signals weighed, with weights chosen on public texts (docs/results/keywords.md)."""

from collections.abc import Mapping
from math import exp

from batag.keywords.candidate import Candidates
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words
from batag.keywords.signals import SIGNALS, signals

WEIGHTS: dict[str, tuple[float, ...]] = {}


class Auto(Extractor):
    """A logistic model of `SIGNALS`: the score is 1 / (1 + exp(-Σ w·x)), which orders phrases but is no calibrated
    probability."""

    uses_statistics = True

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        weights = WEIGHTS[_FAMILY.get(document.language, "en")]
        rows = signals(document, found, self.statistics)
        return {words: _sigmoid(sum(map(float.__mul__, weights, row))) for words, row in rows.items()}
