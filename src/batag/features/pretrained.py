"""What others learnt of words, used as it is: vectors of words, or a Hugging Face model that reads the whole page.

Shapes: B pages, L tokens, N words, K numbers a token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from batag.features.batches import Floats

if TYPE_CHECKING:
    from torch import Tensor

Kinds = tuple[str, ...]
_REMEMBERED = 50_000
_TINY = np.float32(1e-12)


class Frozen(Protocol):
    """Gives each token of each page K numbers that training does not change."""

    kind: str
    width: int

    @property
    def by_word(self) -> FrozenWords | None:
        """What it knows of words one by one, if it does."""
        ...

    def of(self, pages: Sequence[Sequence[str]], words: Sequence[Sequence[str]] | None = None) -> Tensor:
        """The numbers [B,L,K] of the tokens of pages; `words` are those that the tokens lie in, if they are not words."""
        ...

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

    @property
    def by_word(self) -> FrozenWords:
        return self

    def of(self, pages: Sequence[Sequence[str]], words: Sequence[Sequence[str]] | None = None) -> Tensor:
        import torch

        pages = words or pages
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


class JoinedPages:
    """What a model that reads pages says, and what is known of words, side by side and equally loud."""

    def __init__(self, reader: Frozen, by_word: FrozenWords) -> None:
        self.reader, self.by_word = reader, by_word
        self.kind, self.width = f"{reader.kind}+{by_word.kind}", reader.width + by_word.width

    def of(self, pages: Sequence[Sequence[str]], words: Sequence[Sequence[str]] | None = None) -> Tensor:
        import torch

        found = [_standard(part.of(pages, words).numpy()) for part in (self.reader, self.by_word)]
        return torch.from_numpy(np.concatenate(found, axis=-1))

    def files(self) -> dict[str, bytes]:
        return self.reader.files() | self.by_word.files()


def join_words(parts: Sequence[FrozenWords]) -> FrozenWords | None:
    """All that is known of words, if there is anything."""
    return JoinedWords(parts) if len(parts) > 1 else parts[0] if parts else None


def join_pages(reader: Frozen | None, words: FrozenWords | None) -> Frozen | None:
    """What reads pages, if there is one, and what is known of words, if anything is."""
    return JoinedPages(reader, words) if reader is not None and words is not None else reader or words


def _standard(x_NK: Floats) -> Floats:
    """Each row with mean 0 and deviation 1; a row of zeros stays one."""
    apart = x_NK - x_NK.mean(-1, keepdims=True)
    found: Floats = apart / np.sqrt(np.square(apart).mean(-1, keepdims=True) + _TINY)
    return found
