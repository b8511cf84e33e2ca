"""The dial between clean and rich tags: logit offsets of the classes, chosen on dev, that never decrease as richness rises.

A span is a tag if the logit of its probability and the offset of its class are together at least 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batag.errors import UsageError

Floats = NDArray[np.float64]

NAMES = {"clean": 0.0, "balanced": 0.5, "rich": 1.0}


@dataclass(frozen=True)
class OperatingPoint:
    """A richness, the beta whose F_beta it maximises on dev, and the logit offset of each class."""

    richness: float
    beta: float
    offsets: tuple[float, ...]


@dataclass(frozen=True)
class Dial:
    """The operating points in order of richness; offsets between two points are interpolated."""

    points: tuple[OperatingPoint, ...]

    def offsets(self, richness: float) -> Floats:
        """The logit offset of each class at a richness from 0 (clean) to 1 (rich)."""
        places = [point.richness for point in self.points]
        columns = zip(*(point.offsets for point in self.points), strict=True)
        return np.array([np.interp(richness, places, column) for column in columns])

    def still(self, classes: Sequence[str]) -> list[str]:
        """The classes whose offsets are the same at every richness."""
        columns = zip(*(point.offsets for point in self.points), strict=True)
        return [name for name, column in zip(classes, columns, strict=True) if len(set(column)) == 1]

    def to_dicts(self, classes: Sequence[str]) -> list[dict[str, object]]:
        """The operating points as they are stored in a bundle."""
        return [
            {"richness": p.richness, "beta": p.beta, "offsets": dict(zip(classes, map(float, p.offsets), strict=True))}
            for p in self.points
        ]

    @classmethod
    def from_dicts(cls, points: Sequence[Mapping[str, object]], classes: Sequence[str]) -> Dial:
        """Read a dial that `to_dicts` wrote; unknown classes get the offset 0."""
        found = []
        for point in points:
            offsets = point["offsets"]
            assert isinstance(offsets, Mapping)
            own = tuple(float(offsets.get(each, 0.0)) for each in classes)
            found.append(OperatingPoint(float(str(point["richness"])), float(str(point["beta"])), own))
        return cls(tuple(found))


def parse_richness(given: str | float | None) -> float | None:
    """Parse `clean`, `balanced`, `rich` or a number from 0 to 1."""
    if given is None:
        return None
    try:
        value = NAMES[given] if isinstance(given, str) and given in NAMES else float(given)
    except (TypeError, ValueError):
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(
            f"richness {given!r} is not clean, balanced, rich or a number from 0 to 1", todo="0 is clean, 1 is rich"
        )
    return value


def steps() -> list[float]:
    """The values of richness at which the dial is evaluated."""
    return [number / 20 for number in range(21)]
