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

Kinds = tuple[str, ...]
_REMEMBERED = 50_000
_TINY = np.float32(1e-12)


class Frozen(Protocol):
    """Gives each token of each page K numbers that training does not change."""

    kind: str
    width: int

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor: ...

    def files(self) -> dict[str, bytes]:
        """What a bundle keeps of it, by name."""
        ...


class FrozenWords(ABC):
    """A frozen input that knows words one by one: what it says of a word does not depend on what stands around it."""

    kind: str
    width: int

    def __init__(self) -> None:
        self._known: dict[str, Floats] = {}

    @abstractmethod
    def look_up(self, words: Sequence[str]) -> tuple[Floats, list[Kinds]]:
        """The vectors of words [N,K], and what kinds of words they look like, if anything is known of kinds."""

    def numbers(self, words: Sequence[str]) -> Floats:
        """The vectors alone."""
        return self.look_up(words)[0]

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
    """What several know of words, side by side, each with mean 0 and deviation 1, so that none is louder than another."""

    def __init__(self, parts: Sequence[FrozenWords]) -> None:
        super().__init__()
        self.parts = tuple(parts)
        self.kind, self.width = "+".join(part.kind for part in parts), sum(part.width for part in parts)

    def look_up(self, words: Sequence[str]) -> tuple[Floats, list[Kinds]]:
        vectors, kinds = zip(*(part.look_up(words) for part in self.parts), strict=True)
        return np.concatenate(list(map(_standard, vectors)), axis=1), [sum(own, ()) for own in zip(*kinds, strict=True)]

    def files(self) -> dict[str, bytes]:
        return {name: data for part in self.parts for name, data in part.files().items()}


def _standard(x_NK: Floats) -> Floats:
    """Each row with mean 0 and deviation 1; a row of zeros stays one."""
    apart = x_NK - x_NK.mean(1, keepdims=True)
    found: Floats = apart / np.sqrt(np.square(apart).mean(1, keepdims=True) + _TINY)
    return found
