"""The time that `batag start` may take, and what is left of it; it counts over interruptions."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from batag.start.folder import read_json, write_json

_RESERVE = 0.15
"""The share of the time that tagging and the files for people may take."""


@dataclass
class Budget:
    """Minutes in all, and the seconds that earlier starts of the same run used."""

    minutes: float
    file: Path
    used: float = 0.0
    _began: float = field(default_factory=time.monotonic)

    @classmethod
    def of_run(cls, folder: Path, minutes: float) -> Budget:
        """The budget of a run, with what it used before it was interrupted."""
        file = folder / "time.json"
        return cls(minutes, file, float(read_json(file).get("seconds", 0.0)))

    @property
    def seconds(self) -> float:
        """The seconds used so far."""
        return self.used + time.monotonic() - self._began

    def save(self) -> None:
        """Remember the seconds used so far."""
        write_json(self.file, {"seconds": round(self.seconds, 1)})

    def left(self, *, share: float = 1.0) -> float:
        """The seconds left for learning, or a share of them."""
        return max(0.0, (60 * self.minutes * (1 - _RESERVE) - self.seconds) * share)


def epochs_for(seconds: float, *, of_epoch: float, fewest: int, most: int) -> int:
    """How many epochs fit into so many seconds, if one takes `of_epoch`; never below the floor."""
    return max(fewest, min(most, int(seconds / max(of_epoch, 1e-9))))
