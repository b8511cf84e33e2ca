"""Two engines of one bundle: the one that is faster with many words, and the one that answers a lone page sooner."""

from __future__ import annotations

from collections.abc import Sequence

from batag.engines.engine import LayerEngine
from batag.features.batches import Floats

_FEW_WORDS = 64


class Pair:
    """Goes by the name of the engine for many words; what words look like is known once, for both."""

    def __init__(self, many: LayerEngine, few: LayerEngine) -> None:
        self.name = many.name
        self.many, self.few = many, few
        few.table, few.answer = many.table, many.answer

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        chosen = self.few if sum(map(len, sequences)) <= _FEW_WORDS else self.many
        return chosen.probabilities(sequences)
