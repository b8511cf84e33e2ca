"""Batches: every example once an epoch, like lengths together, told by seed and epoch alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batag.features.batches import BATCH_COST, by_length, epoch_batches

all_lengths = st.lists(st.integers(1, 300), max_size=200)
sizes = st.integers(1, 40)
seeds = st.integers(0, 2**31 - 1)


def padding(lengths: Sequence[int], batches: Sequence[Sequence[int]]) -> float:
    """The share of places that no token stands in."""
    room = sum(len(batch) * max(lengths[each] for each in batch) for batch in batches)
    return 1 - sum(lengths) / room


def catalogue(number: int, seed: int = 0) -> list[int]:
    """Lengths as they are in shops: most pages short, some long."""
    draw = random.Random(seed)
    return [1 + int(draw.lognormvariate(3.5, 0.8)) for _ in range(number)]


@given(lengths=all_lengths, batch=sizes, seed=seeds, epoch=st.integers(1, 1000))
def test_every_example_is_seen_exactly_once_an_epoch(lengths: list[int], batch: int, seed: int, epoch: int) -> None:
    batches = epoch_batches(lengths, batch=batch, seed=seed, epoch=epoch)
    assert sorted(each for one in batches for each in one) == list(range(len(lengths)))


@given(lengths=all_lengths, batch=sizes, seed=seeds, epoch=st.integers(1, 1000))
def test_an_epoch_has_as_many_full_batches_as_there_can_be(lengths: list[int], batch: int, seed: int, epoch: int) -> None:
    # The loop counts on ceil(examples / batch) steps; one batch at most is smaller.
    batches = epoch_batches(lengths, batch=batch, seed=seed, epoch=epoch)
    assert len(batches) == -(-len(lengths) // batch)
    assert sorted(map(len, batches))[1:] == [batch] * (len(batches) - 1)


@given(lengths=all_lengths, batch=sizes, seed=seeds, epoch=st.integers(1, 1000))
def test_seed_and_epoch_fix_the_batches_whatever_was_drawn_before(
    lengths: list[int], batch: int, seed: int, epoch: int
) -> None:
    random.seed(1)
    first = epoch_batches(lengths, batch=batch, seed=seed, epoch=epoch)
    random.seed(2)
    state = random.getstate()
    assert epoch_batches(lengths, batch=batch, seed=seed, epoch=epoch) == first
    assert random.getstate() == state, "the program's own random numbers are left alone"


@pytest.mark.parametrize("number", [40, 1000])
def test_every_epoch_and_every_seed_has_an_order_of_its_own(number: int) -> None:
    lengths = catalogue(number)
    orders = {
        str(epoch_batches(lengths, batch=4, seed=seed, epoch=epoch)) for seed in (0, 1, 11) for epoch in (1, 2, 3, 11, 111)
    }
    assert len(orders) == 15


def test_batches_are_not_the_same_companions_every_epoch() -> None:
    lengths = catalogue(2000)
    first, second = ({frozenset(batch) for batch in epoch_batches(lengths, batch=8, seed=0, epoch=epoch)} for epoch in (1, 2))
    assert len(first & second) < len(first) / 10


def test_an_epoch_does_not_go_from_short_to_long() -> None:
    lengths = catalogue(400)
    batches = epoch_batches(lengths, batch=8, seed=0, epoch=1)
    longest = [max(lengths[each] for each in batch) for batch in batches]
    rising = sum(a <= b for a, b in pairwise(longest)) / (len(longest) - 1)
    assert 0.3 < rising < 0.7


@pytest.mark.parametrize(("number", "batch"), [(200, 4), (1000, 8), (5000, 32)])
@pytest.mark.parametrize("seed", [0, 1])
def test_like_lengths_stand_together_so_that_little_is_padded(number: int, batch: int, seed: int) -> None:
    lengths = catalogue(number, seed)
    ours = padding(lengths, epoch_batches(lengths, batch=batch, seed=seed, epoch=1))
    order = random.Random(seed).sample(range(number), number)
    shuffled = padding(lengths, [order[start : start + batch] for start in range(0, number, batch)])
    assert ours < shuffled / 3
    assert ours < 0.2


# For prediction


@given(lengths=st.lists(st.integers(0, 300), max_size=200), tokens=st.integers(1, 2000))
def test_by_length_has_every_example_that_is_not_empty_once_and_the_shortest_first(lengths: list[int], tokens: int) -> None:
    batches = by_length(lengths, tokens=tokens)
    order = [each for batch in batches for each in batch]
    assert sorted(order) == [number for number, length in enumerate(lengths) if length]
    assert [lengths[each] for each in order] == sorted(filter(None, lengths))
    assert all(batches)


def cost(lengths: Sequence[int], batches: Sequence[Sequence[int]]) -> int:
    return sum(BATCH_COST + len(batch) * max(lengths[each] for each in batch) for batch in batches)


@given(lengths=st.lists(st.integers(1, 300), max_size=200), tokens=st.integers(1, 2000))
def test_by_length_never_goes_beyond_the_tokens_of_a_batch(lengths: list[int], tokens: int) -> None:
    for batch in by_length(lengths, tokens=tokens):
        # Only a sequence that is too long by itself goes beyond, and goes alone.
        assert len(batch) == 1 or len(batch) * max(lengths[each] for each in batch) <= tokens


@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=7))
@example(lengths=[10, 11, 58])
def test_by_length_finds_the_cheapest_batches_of_neighbours(lengths: list[int]) -> None:
    order = sorted(range(len(lengths)), key=lambda each: lengths[each])
    ways = []
    for cuts in product((False, True), repeat=len(order) - 1):
        batches = [[order[0]]]
        for cut, number in zip(cuts, order[1:], strict=True):
            if cut:
                batches.append([])
            batches[-1].append(number)
        ways.append(cost(lengths, batches))
    assert cost(lengths, by_length(lengths, tokens=1_000)) == min(ways)


@given(lengths=st.lists(st.integers(0, 300), max_size=100), tokens=st.integers(1, 2000))
def test_by_length_is_fixed_by_the_lengths_and_keeps_the_order_of_equals(lengths: list[int], tokens: int) -> None:
    order = [each for batch in by_length(lengths, tokens=tokens) for each in batch]
    numbers = [number for number, length in enumerate(lengths) if length]
    assert order == sorted(numbers, key=lambda each: (lengths[each], each))
