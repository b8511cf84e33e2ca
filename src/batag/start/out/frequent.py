"""Counts of texts in bounded memory, and a sample of a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Generic, TypeVar

from batag.settings import settings

_Item = TypeVar("_Item")


class Frequent:
    """Counts texts; past `settings.keyword_entries` different ones the rarest are dropped, and `exact` is false."""

    def __init__(self, most: int | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.exact = True
        self._most = most or settings.keyword_entries

    def add(self, texts: Iterable[str]) -> None:
        """Count each text once."""
        self.counts.update(texts)
        if len(self.counts) > self._most:
            self.exact = False
            self.counts = Counter(dict(self.counts.most_common(self._most // 2)))

    def most(self, number: int) -> list[tuple[str, int]]:
        """The most frequent texts with their counts; equally frequent ones by their letters."""
        return sorted(self.counts.items(), key=lambda each: (-each[1], each[0]))[:number]


class Drawn(Generic[_Item]):
    """A random sample of a stream of unknown length, always the same for the same stream."""

    def __init__(self, size: int, *, seed: int = 0) -> None:
        self._items: list[_Item] = []
        self._size, self._seen, self._random = size, 0, Random(seed)

    def add(self, item: _Item) -> None:
        """Offer an item; it is kept with the same chance as every other."""
        self._seen += 1
        if len(self._items) < self._size:
            self._items.append(item)
        elif (place := self._random.randrange(self._seen)) < self._size:
            self._items[place] = item

    @property
    def items(self) -> list[_Item]:
        """The sample, in random order: its first ones are a sample too."""
        return Random(self._size).sample(self._items, len(self._items))
