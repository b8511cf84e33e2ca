"""Examples in batches of like length, in an order that the seed and the epoch fix."""

from __future__ import annotations

import random
from collections.abc import Sequence

_POOL = 50


def epoch_batches(lengths: Sequence[int], *, batch: int, seed: int, epoch: int) -> list[list[int]]:
    """Every example once, by number: shuffled, then sorted by length within pools of 50 batches, so that little is padded."""
    # Told by seed and epoch alone: a resumed run sees the same batches without any state.
    rng = random.Random(f"{seed}/{epoch}")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches = []
    for start in range(0, len(order), _POOL * batch):
        pool = sorted(order[start : start + _POOL * batch], key=lambda number: lengths[number])
        batches += [pool[first : first + batch] for first in range(0, len(pool), batch)]
    rng.shuffle(batches)
    return batches


def by_length(lengths: Sequence[int], *, tokens: int) -> list[list[int]]:
    """Every example that is not empty once, shortest first, as many together as fill so many (padded) tokens."""
    batches: list[list[int]] = []
    longest = 0
    numbers = [number for number, length in enumerate(lengths) if length]
    for number in sorted(numbers, key=lambda number: lengths[number]):
        longest = max(longest, lengths[number])
        if not batches or (len(batches[-1]) + 1) * longest > tokens:
            batches.append([])
            longest = lengths[number]
        batches[-1].append(number)
    return batches
