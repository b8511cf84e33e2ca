"""The contract of all engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from batag.encoders.prediction import Floats


class Engine(Protocol):
    """Gives the probabilities of labels [L,C] for each sequence of words, the same whatever else is asked with it (1e-5)."""

    name: str

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]: ...
