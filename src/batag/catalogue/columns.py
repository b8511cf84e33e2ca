"""Whether the columns of all inputs fit into one table, and if not, how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from batag.catalogue.part import Part
from batag.errors import InputError

_MOST = 5


def with_columns_alike(parts: Iterable[Part]) -> Iterator[Part]:
    """The same parts; an error at the first that does not fit into one table with those before. This tells of pipes too, which
    nobody can look into beforehand."""
    first: Part | None = None
    for part in parts:
        first = first or part
        if (part.header, part.kind == "range") != (first.header, first.kind == "range"):
            raise other_columns((first.header or None, first.source), (part.header or None, part.source))
        yield part


def other_columns(one: tuple[Any, str], other: tuple[Any, str]) -> InputError:
    """The error of two inputs with other columns, each given as its columns (None: not those of a table) and its name."""
    what = f"has other columns than {one[1]} ({_difference(one, other)})"
    return InputError(what, where=other[1], todo="Name a folder, or tag each by itself")


def _difference(one: tuple[Any, str], other: tuple[Any, str]) -> str:
    if one[0] is None or other[0] is None:
        return "only one of them is a table of cells"
    only = [[column for column in own if column not in another] for own, another in ((one[0], other[0]), (other[0], one[0]))]
    said = [f"only {name} has {_listed(own)}" for own, (_, name) in zip(only, (one, other), strict=True) if own]
    return "; ".join(said) or f"in another order: {_listed(one[0])} against {_listed(other[0])}"


def _listed(columns: Iterable[Any]) -> str:
    """The first columns, by name (and type, where files say it)."""
    named = [column if isinstance(column, str) else " ".join(column) for column in columns]
    more = f" and {len(named) - _MOST:,} more" if len(named) > _MOST else ""
    return ", ".join(named[:_MOST]) + more
