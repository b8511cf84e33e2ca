"""Assign words to splits, and draw from pools by popularity."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar
from zlib import crc32

SPLITS = ("train", "dev", "test")
T = TypeVar("T")


def share(text: str, salt: str = "") -> float:
    """A number from 0 to 1 that depends only on the text, the same on every machine."""
    return crc32(f"{salt}/{text}".encode()) / 2**32


def split_of(text: str, *, held: float, salt: str = "") -> str:
    """The split of a text; dev and test each get the fraction `held`."""
    place = share(text, salt)
    return "dev" if place < held else "test" if place < 2 * held else "train"


class Pool(Generic[T]):
    """Members in order of popularity: rank r is drawn with the weight 1 / (r + flatness)."""

    def __init__(self, members: Sequence[T], *, flatness: int) -> None:
        assert members, "an empty pool"
        self.members = members
        # Only sums and quotients: unlike powers they are the same on every machine.
        self._steps = list(accumulate(1 / (rank + flatness) for rank in range(len(members))))[:-1]
        self._total = (self._steps[-1] if self._steps else 0) + 1 / (len(members) - 1 + flatness)

    def draw(self, chance: float) -> T:
        """The member for a random number from 0 to 1."""
        return self.members[bisect(self._steps, chance * self._total)]
