"""Progress for a log that nobody watches: a line when something begins, then one every so often."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

SECONDS = 30


class Pace:
    """Says when the next line of a log is due."""

    def __init__(self) -> None:
        self.began = self._said = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return max(time.monotonic() - self.began, 1e-9)

    def due(self) -> bool:
        """Whether it is time for a line, which is then taken as said."""
        now = time.monotonic()
        if now - self._said < SECONDS:
            return False
        self._said = now
        return True


def logged(
    items: Iterable[Any], err: Console, *, doing: str, total: int | None, share: Any, unit: str, announced: bool
) -> Iterator[Any]:
    """The items, with count, rate and time left in a line every so often; the first item is announced if so asked."""
    pace = Pace()
    for count, item in enumerate(items, 1):
        if announced and count == 1:
            err.print(doing, markup=False)
        yield item
        if pace.due():
            done = count / total if total else share() if share else None
            left = f", {time_left(pace.seconds, done)}" if done else ""
            err.print(f"{doing}: {count:,} {unit}, {count / pace.seconds:,.0f} a second{left}", markup=False)


def time_left(seconds: float, done: float) -> str:
    """About how much longer it takes, of what is `done` (0 to 1) after so many seconds."""
    left = seconds * (1 - done) / done
    if left < 90:
        return f"about {left:.0f} s left"
    return f"about {left / 60:.0f} min left" if left < 5_400 else f"about {left / 3_600:.1f} h left"
