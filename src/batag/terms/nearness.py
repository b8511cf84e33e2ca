"""Names of categories that are nearly the name looked for: most of its characters (or words), and the same end."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import pairwise
from math import log

from batag.terms.taxonomy import Taxonomy

_COMMON = 400
"""A piece that more names have than this is not looked up, only compared."""


class Nearness:
    """Finds names of categories by the pieces that they share: words, or pairs of characters."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy

    @cached_property
    def _names(self) -> list[tuple[str, str]]:
        return [(key, each.id) for each in self.taxonomy.categories for keys in each.keys for key in keys[:1] if key]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, (key, _) in enumerate(self._names):
            for piece in set(pieces(key)):
                found.setdefault(piece, []).append(number)
        return found

    def _weight(self, piece: str) -> float:
        return log(1 + len(self._names) / (1 + len(self._places.get(piece, ()))))

    def find(self, key: str, *, least: float) -> dict[str, tuple[float, str]]:
        """The similarity (at least `least`, below 1) and the name of each category with a name that is nearly this one."""
        own = Counter(pieces(key))
        size = sum(self._weight(each) * number for each, number in own.items())
        rare = [each for each in own if len(self._places.get(each, ())) <= _COMMON]
        found: dict[str, tuple[float, str]] = {}
        for number in {place for piece in rare for place in self._places.get(piece, ())}:
            name, id = self._names[number]
            if not same_end(key, name):
                continue
            other = Counter(pieces(name))
            shared = sum(self._weight(each) * count for each, count in (own & other).items())
            similarity = 2 * shared / (size + sum(self._weight(each) * count for each, count in other.items()))
            if similarity >= least and similarity > found.get(id, (0.0, ""))[0]:
                found[id] = similarity, name
        return found


def pieces(key: str) -> list[str]:
    """The words of a key and, where there are no spaces, its characters and their pairs."""
    found: list[str] = []
    for word in key.split(" "):
        if word.isascii():
            found.append(word)
        else:
            found += word
            found += map("".join, pairwise(word))
    return found


def same_end(one: str, other: str) -> bool:
    """Whether two names end alike, as names of things of one kind do: in the last word, or in the last character."""
    if one.isascii() or other.isascii():
        return one.rpartition(" ")[2] == other.rpartition(" ")[2]
    return one[-1] == other[-1]
