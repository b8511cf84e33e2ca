"""Members that are drawn by weight."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


class Shelf(Generic[T]):
    """Members with weights, by default all alike."""

    def __init__(self, members: Sequence[T], weights: Sequence[float] | None = None) -> None:
        assert members, "an empty shelf"
        self.members = tuple(members)
        self._steps = list(accumulate(weights or [1.0] * len(self.members)))

    def draw(self, chance: float) -> T:
        """The member for a random number from 0 to 1."""
        return self.members[bisect(self._steps, chance * self._steps[-1], hi=len(self.members) - 1)]
