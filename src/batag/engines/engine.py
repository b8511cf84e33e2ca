"""The contract of all engines, and what they share: only the encoder's layers differ.

Shapes: B pages, L tokens, D width, C labels.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from batag.bundles.bundle import Bundle
from batag.engines.word_table import WordTable
from batag.features.batches import Floats, in_batches
from batag.heads.numpy_heads import NumpyHeads


class Engine(Protocol):
    """Gives the probabilities of labels [L,C] for each sequence of words, the same whatever else is asked with it (to 1e-5; in
    int8 to a step of its rounding)."""

    name: str

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]: ...


class LayerEngine(ABC):
    """Words are looked up and answers made of logits in NumPy; `logits` is what one kind of engine does."""

    name: str

    def __init__(self, bundle: Bundle) -> None:
        description = bundle.description
        self.table = WordTable(bundle.featurizer, bundle.arrays, description=description, known=bundle.known)
        self.heads = NumpyHeads(
            bundle.arrays,
            labels=len(description.labels),
            chain=description.head.chain,
            window_crf=bool(description.head.window_crf),
        )

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        return in_batches(self.batch, sequences)

    def batch(self, pages: Sequence[Sequence[str]]) -> Floats:
        """Probabilities [B,L,C] of pages of like length."""
        vectors, mask, scores = self.table.look_up(pages)
        return self.heads(self.logits(vectors, mask), scores, mask)

    @abstractmethod
    def logits(self, vectors_BLD: Floats, mask_BL: NDArray[np.bool_]) -> Floats:
        """The encoder's layers and its last one: [B,L,C]."""
