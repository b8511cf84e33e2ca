"""The names of a shop's brands: those in its column, and those that the lexicon has for the same brand in other scripts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from batag.start.values import brand_names, is_none
from batag.terms.key import both_keys
from batag.terms.lexicon import BRAND, read_lexicon

_MOST = 200_000


@lru_cache(_MOST)
def _found(name: str) -> tuple[tuple[str, ...], bool]:
    """The names of the one brand that has this name in the lexicon, and whether the name is an ordinary word."""
    (key,), (close,) = both_keys([name])
    found = [each for each in read_lexicon().find(key, close=close) if each.entry.kind == BRAND]
    if len({each.entry.id for each in found}) != 1:
        return (), any(each.marked for each in found)
    others = dict.fromkeys(text for own in found[0].entry.names.values() for text in own if len(text) > 1)
    return tuple(others), found[0].marked


def listed_names(name: str) -> tuple[str, ...]:
    """All names of the one brand that has this name in the lexicon."""
    return _found(name)[0]


def own_names(value: str) -> tuple[str, ...]:
    """The names in a value of the column."""
    return brand_names(value, known=is_listed)


def names_of(value: str) -> tuple[str, ...]:
    """All names of the brand in a value of the column: its own, and those in other scripts."""
    if is_none(value):
        return ()
    own = own_names(value)
    return tuple(dict.fromkeys((*own, *(other for name in own for other in _found(name)[0]))))


def is_listed(name: str) -> bool:
    """Whether the lexicon has a brand of this name."""
    return bool(_found(name)[0]) or _found(name)[1]


def is_ordinary(name: str) -> bool:
    """Whether the lexicon says that a brand's name is an ordinary word too (統一, Champion)."""
    return _found(name)[1]


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
