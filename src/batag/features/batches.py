"""Batches of sequences of similar length: in a reproducible random order for training, with little padding for prediction."""

import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BATCH_TOKENS = 2048
_POOL = 50
_WASTE = 0.08
_FEWEST_TOKENS = 512


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
    """Every non-empty example once, as lists of indices, shortest first. A batch has at most `tokens` tokens with padding, and
    ends earlier where more than a twelfth of it would be padding."""
    batches: list[list[int]] = []
    real = 0
    numbers = [number for number, length in enumerate(lengths) if length]
    for number in sorted(numbers, key=lambda number: lengths[number]):
        length = lengths[number]
        padded = (len(batches[-1]) + 1) * length if batches else 0
        wasteful = real >= _FEWEST_TOKENS and real + length < (1 - _WASTE) * padded
        if not batches or padded > tokens or wasteful:
            batches.append([])
            real = 0
        batches[-1].append(number)
        real += length
    return batches


def in_batches(predict: Callable[[list[Sequence[str]]], Floats], sequences: Sequence[Sequence[str]]) -> list[Floats]:
    """Call `predict` on batches of sequences of similar length, and return the values [L,C] of each sequence."""
    results: list[Floats] = [np.zeros((0, 0), dtype=np.float32)] * len(sequences)
    for batch in by_length(list(map(len, sequences)), tokens=BATCH_TOKENS):
        for number, values in zip(batch, predict([sequences[number] for number in batch]), strict=True):
            results[number] = values[: len(sequences[number])]
    return results
