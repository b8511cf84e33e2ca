"""Batches of sequences of similar length: in a reproducible random order for training, with little padding for prediction."""

import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BATCH_TOKENS = 2048
_POOL = 50
BATCH_COST = 32
"""What a batch costs besides its tokens, in tokens (`benchmarks/speed.py`)."""


def epoch_batches(lengths: Sequence[int], *, batch: int, seed: int, epoch: int) -> list[list[int]]:
    """Every example once, as lists of indices: shuffled, then sorted by length within pools of 50 batches to reduce padding."""
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
    """Every non-empty example once, as lists of indices, shortest first. A batch has at most `tokens` tokens with padding.
    Equal lengths stay together, and the batches cost least: their tokens with padding, and `BATCH_COST` more for each."""
    groups: list[list[int]] = []
    sizes: list[int] = []
    for number in sorted((number for number, length in enumerate(lengths) if length), key=lambda number: lengths[number]):
        length = lengths[number]
        if not sizes or sizes[-1] != length or (len(groups[-1]) + 1) * length > tokens:
            groups.append([])
            sizes.append(length)
        groups[-1].append(number)
    # Neighbours in order of length: the cheapest way to cut the first groups, for each number of groups.
    costs, cuts = [0], [0]
    for end, length in enumerate(sizes, 1):
        number, cut = len(groups[end - 1]), end - 1
        cost = costs[cut] + BATCH_COST + number * length
        for start in range(end - 2, -1, -1):
            number += len(groups[start])
            if number * length > tokens:
                break
            if (other := costs[start] + BATCH_COST + number * length) < cost:
                cost, cut = other, start
        costs.append(cost)
        cuts.append(cut)
    batches: list[list[int]] = []
    end = len(groups)
    while end:
        batches.append([number for group in groups[cuts[end] : end] for number in group])
        end = cuts[end]
    return batches[::-1]


def in_batches(predict: Callable[[list[Sequence[str]]], Floats], sequences: Sequence[Sequence[str]]) -> list[Floats]:
    """Call `predict` on batches of sequences of similar length, and return the values [L,C] of each sequence."""
    results: list[Floats] = [np.zeros((0, 0), dtype=np.float32)] * len(sequences)
    for batch in by_length(list(map(len, sequences)), tokens=BATCH_TOKENS):
        for number, values in zip(batch, predict([sequences[number] for number in batch]), strict=True):
            results[number] = values[: len(sequences[number])]
    return results
