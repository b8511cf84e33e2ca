"""What others learnt of words, used as it is: vectors of words, or a Hugging Face model that reads the whole page.

Shapes: B pages, L tokens, N words, K numbers a token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from batag.encoders.batches import Floats

if TYPE_CHECKING:
    from torch import Tensor

KINDS = ("vectors", "backbone")
_REMEMBERED = 100_000


class Frozen(Protocol):
    """Gives each token of each page K numbers that training does not change."""

    kind: str
    width: int

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor: ...

    def files(self) -> dict[str, bytes]:
        """What a bundle keeps of it, by name."""
        ...


class FrozenWords(ABC):
    """A frozen input that knows words one by one: a word's numbers do not depend on what stands around it."""

    kind: str
    width: int

    def __init__(self) -> None:
        self._known: dict[str, Floats] = {}

    @abstractmethod
    def numbers(self, words: Sequence[str]) -> Floats:
        """The vectors of words [N,K]."""

    @abstractmethod
    def files(self) -> dict[str, bytes]:
        """What a bundle keeps of it, by name."""

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor:
        import torch

        if len(self._known) > _REMEMBERED:
            self._known.clear()
        new = sorted({word for words in pages for word in words} - self._known.keys())
        if new:
            self._known.update(zip(new, self.numbers(new), strict=True))
        out = np.zeros((len(pages), max(map(len, pages)), self.width), dtype=np.float32)
        for row, words in zip(out, pages, strict=True):
            if words:
                row[: len(words)] = [self._known[word] for word in words]
        return torch.from_numpy(out)


class JoinedWords(FrozenWords):
    """What several know of words, side by side."""

    def __init__(self, parts: Sequence[FrozenWords]) -> None:
        super().__init__()
        self.parts = tuple(parts)
        self.kind, self.width = "+".join(part.kind for part in parts), sum(part.width for part in parts)

    def numbers(self, words: Sequence[str]) -> Floats:
        return np.concatenate([part.numbers(words) for part in self.parts], axis=1)

    def files(self) -> dict[str, bytes]:
        return {name: data for part in self.parts for name, data in part.files().items()}
