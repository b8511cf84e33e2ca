"""How often a key may ask: a bucket that fills steadily and holds ten seconds' worth."""

from __future__ import annotations

import time
from math import ceil

from batag.serving.problem import Problem

_SECONDS = 10
_MOST = 10_000


class Rates:
    """The buckets of all keys that asked lately."""

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, float]] = {}

    def count(self, key: str, a_minute: int) -> None:
        """Count a request, or refuse it."""
        now, rate = time.monotonic(), a_minute / 60
        most = max(rate * _SECONDS, 1.0)
        left, before = self._buckets.get(key, (most, now))
        left = min(most, left + (now - before) * rate)
        if left < 1:
            detail = f"the key may ask {a_minute:,} times a minute"
            raise Problem("rate", detail, todo="Wait as Retry-After says", retry_after=ceil((1 - left) / rate))
        if len(self._buckets) >= _MOST:
            self._buckets.clear()
        self._buckets[key] = left - 1, now
