"""The queue before the engines: bounded at n, never more than a batch at once, nothing for those who have left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import wraps

import pytest

from batag.serving.engines.queue import FEWEST_TOKENS, Item, Queue, estimated_tokens
from batag.serving.problem import Problem


def in_a_loop(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    """Run a test in an event loop, which futures need."""
    return wraps(test)(lambda: asyncio.run(test()))


def item(tokens: int, *, seconds: float = 60) -> Item:
    future = asyncio.get_running_loop().create_future()
    return Item("tag", b"{}", tokens, time.monotonic() + seconds, future)


@in_a_loop
async def test_so_many_tokens_wait_and_not_one_more() -> None:
    queue = Queue(limit=100)
    queue.put(item(60))
    queue.put(item(40))
    with pytest.raises(Problem) as refused:
        queue.put(item(1))
    assert (refused.value.kind, refused.value.status, refused.value.retry_after) == ("full", 503, 1)
    assert queue.tokens == 100
    queue.take(60)
    queue.put(item(60))
    assert queue.tokens == 100


@in_a_loop
async def test_a_request_larger_than_the_queue_comes_in_when_it_is_empty() -> None:
    queue = Queue(limit=100)
    queue.put(item(1_000))
    with pytest.raises(Problem):
        queue.put(item(1))


@in_a_loop
async def test_a_batch_has_so_many_tokens_and_at_least_one_request() -> None:
    queue = Queue(limit=1_000)
    sent = [item(tokens) for tokens in (50, 50, 1, 300, 2)]
    for each in sent:
        queue.put(each)
    assert queue.take(100) == sent[:2]
    assert queue.take(100) == sent[2:3]
    assert queue.take(100) == sent[3:4]
    assert queue.take(100) == sent[4:]
    assert (queue.take(100), queue.tokens) == ([], 0)


@in_a_loop
async def test_who_has_left_and_what_is_too_late_is_never_given_out() -> None:
    queue = Queue(limit=1_000)
    left, late, answered, good = item(10), item(10, seconds=-1), item(10), item(10)
    for each in (left, late, answered, good):
        queue.put(each)
    queue.drop(left)
    answered.answer.cancel()
    assert queue.take(1_000) == [good]
    assert (queue.tokens, len(queue)) == (0, 0)


@in_a_loop
async def test_what_a_dead_engine_had_comes_first_again() -> None:
    queue = Queue(limit=100)
    sent = [item(10) for _ in range(4)]
    queue.put(sent[3])
    sent[1].answer.cancel()
    queue.put_first(sent[:3])
    assert queue.take(100) == [sent[0], sent[2], sent[3]]


def test_a_body_counts_by_its_size() -> None:
    assert estimated_tokens(0) == FEWEST_TOKENS
    assert estimated_tokens(4_000) == 1_000
