"""Which epoch is the best: the highest score on dev, the earliest of equals; test is never looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Selection:
    """The best epoch so far by one score."""

    metric: str
    epoch: int = 0
    value: float = -1.0

    def better(self, epoch: int, scores: dict[str, float]) -> bool:
        """Take note of an epoch; whether it is the best so far."""
        if scores[self.metric] <= self.value:
            return False
        self.epoch, self.value = epoch, scores[self.metric]
        return True

    def to_dict(self) -> dict[str, Any]:
        return {"best_epoch": self.epoch, "best_value": self.value}
