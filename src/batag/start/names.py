"""The names of a shop's brands: those in its column, and those that the lexicon has for the same brand in other scripts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from batag.start.values import brand_names
from batag.terms.key import both_keys
from batag.terms.lexicon import BRAND, PROMO, Entry, read_lexicon

_MOST = 200_000


@lru_cache(_MOST)
def _entries(name: str) -> tuple[tuple[Entry, ...], bool]:
    """The brands that have this name in the lexicon, and whether it is an ordinary word."""
    (key,), (close,) = both_keys([name])
    found = [each for each in read_lexicon().find(key, close=close) if each.entry.kind == BRAND]
    entries = {each.entry.id: each.entry for each in found}
    return tuple(entries.values()), found[0].marked if len(entries) == 1 else any(each.marked for each in found)


@lru_cache(_MOST)
def listed_names(name: str) -> tuple[str, ...]:
    """All names of the one brand that has this name in the lexicon."""
    entries, _ = _entries(name)
    if len(entries) != 1:
        return ()
    written = (text for own in entries[0].names.values() for text in own)
    return tuple(dict.fromkeys(text for text in written if len(text) > 1 and not _is_pair(text)))


def _is_pair(name: str) -> bool:
    """Whether a name is a brand and its sub-brand: Philips Avent is Philips and Avent; Carl Zeiss is one name."""
    words = name.split()
    halves = ((" ".join(words[:place]), " ".join(words[place:])) for place in range(1, min(len(words), 5)))
    return name.isascii() and any(all(is_listed(half) and not is_ordinary(half) for half in pair) for pair in halves)


def own_names(value: str) -> tuple[str, ...]:
    """The names in a value of the column."""
    return brand_names(value, known=lambda name: is_listed(name) and not _is_pair(name))


def names_of(value: str) -> tuple[str, ...]:
    """All names of the brand in a value of the column: its own, and those in other scripts."""
    own = own_names(value)
    return tuple(dict.fromkeys((*own, *(other for name in own for other in listed_names(name)))))


def is_listed(name: str) -> bool:
    """Whether the lexicon has a brand of this name."""
    entries, marked = _entries(name)
    return marked or len(entries) == 1


def is_ordinary(name: str) -> bool:
    """Whether the lexicon says that a brand's name is an ordinary word too (統一, Champion)."""
    return _entries(name)[1]


def names_no_goods(name: str) -> bool:
    """Whether the lexicon has a category's name as promotion only (中古, Sale)."""
    (key,), (close,) = both_keys([name])
    kinds = {each.entry.kind for each in read_lexicon().find(key, close=close)}
    return kinds == {PROMO}


class NamesByValue:
    """The names of each value of the column, made once."""

    def __init__(self, allowed: Iterable[str] | None = None) -> None:
        """With `allowed` (in lower case), other names are left out: a person's list."""
        self._allowed = None if allowed is None else frozenset(allowed)
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, value: str) -> tuple[str, ...]:
        if value not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            names = names_of(value)
            own = self._allowed
            self._known[value] = names if own is None else tuple(name for name in names if name.casefold() in own)
        return self._known[value]
