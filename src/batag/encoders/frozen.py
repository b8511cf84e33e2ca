"""What others learnt of words, used as it is: word vectors, or a Hugging Face model that reads the whole page.

Shapes: B pages, L tokens, K numbers a token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor

KINDS = ("vectors", "backbone")


class Frozen(Protocol):
    """Gives each token of each page K numbers that training does not change."""

    kind: str
    width: int

    def of(self, pages: Sequence[Sequence[str]]) -> Tensor: ...

    def files(self) -> dict[str, bytes]:
        """What a bundle keeps of it, by name."""
        ...
