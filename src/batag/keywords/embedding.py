"""Phrases that mean most of what the page means, by the vectors of a pretrained model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.errors import UsageError
from batag.keywords.candidate import Candidates
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words

Floats = NDArray[np.float32]
Vectors = Callable[[Sequence[Sequence[str]]], Floats]
"""The vectors [B,L,K] of the words of pages, each in its page."""
_TINY = 1e-12


class Embedding(Extractor):
    """The cosine between the mean vector of a phrase and that of the page (EmbedRank, Bennani-Smires et al. 2018, section 4),
    over whole runs of nouns; halved and moved to 0..1."""

    def __init__(self, *, vectors: Vectors | None = None, **options: Any) -> None:
        super().__init__(**options)
        if vectors is None:
            todo = "Name the local folder of a Hugging Face model with --backbone FOLDER"
            raise UsageError("the method embedding needs a model", todo=todo, python="Give vectors=Backbone(folder).read")
        self._vectors = vectors

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        whole = [each for each in found.values() if each.stands_alone]
        if not whole:
            return {}
        states = self._vectors([document.texts])[0].astype(np.float64)
        page = states.mean(0)
        scores = {}
        for each in whole:
            first, last = each.occurrences[0]
            own = states[first : last + 1].mean(0)
            cosine = float(own @ page / max(np.linalg.norm(own) * np.linalg.norm(page), _TINY))
            scores[each.words] = (1 + cosine) / 2
        return scores
