"""The default: all signals weighed, with weights chosen on public texts (docs/results/keywords.md)."""

import tomllib
from collections.abc import Mapping
from functools import cache
from math import exp
from pathlib import Path

from batag.keywords.candidate import Candidates
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words
from batag.keywords.signals import SIGNALS, signals

_STEEPEST = 700.0


class Auto(Extractor):
    """A logistic model of `SIGNALS`: the score is 1 / (1 + exp(-b - Σ w x)), the probability of a keyword on the pages that the
    weights were chosen on, and on others an order."""

    uses_statistics = True

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        bias, own = weights(document.language)
        rows = signals(document, found, self.statistics)
        return {words: _sigmoid(bias + sum(map(float.__mul__, own, row))) for words, row in rows.items()}


@cache
def weights(language: str) -> tuple[float, tuple[float, ...]]:
    """The bias and the weights of a language, in the order of `SIGNALS`. Both scripts of Chinese share theirs, and a language
    without any has those of English."""
    table = tomllib.loads(Path(__file__).with_name("auto.toml").read_text(encoding="utf-8"))
    row = table.get(language.partition("-")[0], table["en"])
    return float(row["bias"]), tuple(float(row[name]) for name in SIGNALS)


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(min(-x, _STEEPEST)))
