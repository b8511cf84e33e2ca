"""Pretrained features, which are not trained further: vectors and clusters of words, or a Hugging Face model that reads whole
pages.

Shapes: B pages, L tokens, N words, K features per token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from batag.features.batches import Floats

if TYPE_CHECKING:
    from batag.features.backbone import Backbone

Clusters = tuple[str, ...]
_TINY = np.float32(1e-12)


class PretrainedWords(ABC):
    """Pretrained features of single words, independent of their context."""

    kind: str
    width: int
    language: str | None = None

    @property
    def parts(self) -> tuple[PretrainedWords, ...]:
        """The members that it was joined from."""
        return (self,)

    @abstractmethod
    def look_up(self, words: Sequence[str]) -> tuple[Floats, list[Clusters]]:
        """The vectors of words [N,K], and the clusters of each word, if there are any."""

    @abstractmethod
    def files(self) -> dict[str, bytes]:
        """The files to store in a bundle, by name."""

    def named(self, names: bytes, numbers: bytes) -> dict[str, bytes]:
        """The two files under their names in a bundle, made from kind and language."""
        stem = f"{self.kind}.{self.language}" if self.language else self.kind
        return {f"{stem}.json": names, f"{stem}.safetensors": numbers}


class JoinedWords(PretrainedWords):
    """The concatenated vectors of several members, each standardised to mean 0 and deviation 1 so that none dominates."""

    kind = "joined"

    def __init__(self, parts: Sequence[PretrainedWords]) -> None:
        self._parts, self.width = tuple(parts), sum(part.width for part in parts)

    @property
    def parts(self) -> tuple[PretrainedWords, ...]:
        return self._parts

    def look_up(self, words: Sequence[str]) -> tuple[Floats, list[Clusters]]:
        vectors, clusters = zip(*(part.look_up(words) for part in self._parts), strict=True)
        return np.concatenate(list(map(_standard, vectors)), axis=1), [sum(own, ()) for own in zip(*clusters, strict=True)]

    def files(self) -> dict[str, bytes]:
        return {name: data for part in self._parts for name, data in part.files().items()}


@dataclass(frozen=True)
class PretrainedFeatures:
    """Pretrained features of words, a backbone that reads pages, or both concatenated."""

    words: PretrainedWords | None = None
    backbone: Backbone | None = None

    @property
    def parts(self) -> tuple[Backbone | PretrainedWords, ...]:
        """The members, in the order of their features."""
        words = self.words.parts if self.words is not None else ()
        return words if self.backbone is None else (self.backbone, *words)

    @property
    def width(self) -> int:
        return sum(part.width for part in (self.backbone, self.words) if part is not None)

    def of(self, pages: Sequence[Sequence[str]], vectors_BLK: Floats | None) -> Floats:
        """The features [B,L,K] of the tokens of pages, given the `vectors` of their words."""
        if self.backbone is None:
            assert vectors_BLK is not None
            return vectors_BLK
        states = self.backbone.read(pages)
        return states if vectors_BLK is None else np.concatenate((_standard(states), _standard(vectors_BLK)), axis=-1)


def join_words(parts: Sequence[PretrainedWords]) -> PretrainedWords | None:
    """Join pretrained words into one; None if there are none."""
    return JoinedWords(parts) if len(parts) > 1 else parts[0] if parts else None


def join(words: PretrainedWords | None, backbone: Backbone | None = None) -> PretrainedFeatures | None:
    """Combine pretrained words and a backbone; None if there is neither."""
    return None if words is None and backbone is None else PretrainedFeatures(words, backbone)


def _standard(x_NK: Floats) -> Floats:
    """Standardise each row to mean 0 and deviation 1; a row of zeros stays zero."""
    apart = x_NK - x_NK.mean(-1, keepdims=True)
    found: Floats = apart / np.sqrt(np.square(apart).mean(-1, keepdims=True) + _TINY)
    return found
