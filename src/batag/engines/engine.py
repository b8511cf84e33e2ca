"""The interface of all engines, and what they have in common; they differ only in how they run the encoder's layers.

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
    """Computes the rows of probabilities [L,C] or [L,2C-1] (see `heads`) for each sequence of words. They do not depend on the
    other sequences (to 1e-5; with int8 to one rounding step)."""

    name: str

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]: ...


class LayerEngine(ABC):
    """An engine that embeds words and applies the heads in NumPy; subclasses implement `logits`."""

    name: str

    def __init__(self, bundle: Bundle) -> None:
        description = bundle.description
        self.table = WordTable(bundle.featurizer, bundle.arrays, description=description, known=bundle.known)
        self.heads = NumpyHeads(
            bundle.arrays,
            continuation=bundle.scheme.continuation,
            chain=description.head.chain,
            window_crf=bool(description.head.window_crf),
        )

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        return in_batches(self.batch, sequences)

    def batch(self, pages: Sequence[Sequence[str]]) -> Floats:
        """The rows of probabilities of pages of similar length."""
        vectors, mask, scores = self.table.look_up(pages)
        return self.heads(self.logits(vectors, mask), scores, mask)

    @abstractmethod
    def logits(self, vectors_BLD: Floats, mask_BL: NDArray[np.bool_]) -> Floats:
        """The logits [B,L,C] of the encoder and its linear layer."""
