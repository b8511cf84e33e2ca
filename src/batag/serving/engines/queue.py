"""The queue before the engines: bounded by tokens, not by requests, and never waiting for more to come."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field

from batag.serving.problem import Problem
from batag.settings import settings

BYTES_PER_TOKEN = 4
"""Tokens are counted when the body has not been read yet: English has about 6 bytes a token, Chinese and Japanese about 5."""
FEWEST_TOKENS = 8


def estimated_tokens(size: int) -> int:
    """About how many tokens a body of this many bytes has; rather too many than too few."""
    return max(size // BYTES_PER_TOKEN, FEWEST_TOKENS)


@dataclass(slots=True, eq=False)
class Item:
    """A request that waits for an engine or is with one: what is asked, its body, its size in tokens and its deadline."""

    kind: str
    body: bytes
    tokens: int
    deadline: float
    answer: asyncio.Future[Answer]
    tries: int = 0
    waiting: bool = False


@dataclass(slots=True)
class Answer:
    """What an engine says: the body, or the problem, and how many pages it tagged."""

    body: bytes
    problem: Problem | None = None
    pages: int = 0
    tokens: int = 0


@dataclass(eq=False)
class Queue:
    """Requests in the order in which they came. An item whose client has left, or whose time is over, is never given out."""

    limit: int = settings.serve_queue_tokens
    tokens: int = 0
    _items: deque[Item] = field(default_factory=deque)

    def __len__(self) -> int:
        return sum(item.waiting for item in self._items)

    def __bool__(self) -> bool:
        return self.tokens > 0

    def room_for(self, tokens: int) -> bool:
        """Whether so many tokens may still come. A request that is larger than the whole queue may come when it is empty."""
        return self.tokens == 0 or self.tokens + tokens <= self.limit

    def put(self, item: Item) -> None:
        """Append an item, or refuse it."""
        if not self.room_for(item.tokens):
            raise full(self.tokens, self.limit)
        item.waiting = True
        self.tokens += item.tokens
        self._items.append(item)

    def put_first(self, items: list[Item]) -> None:
        """Put back, at the front, what an engine took and could not answer, or what must not wait."""
        for item in reversed(items):
            if not item.answer.done():
                item.waiting = True
                self.tokens += item.tokens
                self._items.appendleft(item)

    def drop(self, item: Item) -> None:
        """Forget an item whose client has left."""
        if item.waiting:
            item.waiting = False
            item.body = b""
            self.tokens -= item.tokens

    def take(self, budget: int) -> list[Item]:
        """The next items up to so many tokens, at least one."""
        taken: list[Item] = []
        now = time.monotonic()
        while self._items:
            item = self._items[0]
            if item.waiting and item.deadline > now and not item.answer.done():
                if taken and item.tokens > budget:
                    break
                budget -= item.tokens
                taken.append(item)
            self._items.popleft()
            if item.waiting:
                item.waiting = False
                self.tokens -= item.tokens
        return taken


def full(tokens: int, limit: int) -> Problem:
    """The answer when the queue is full."""
    detail = f"{tokens:,} tokens wait for an engine, of {limit:,} that may"
    return Problem("full", detail, todo="Ask again after the seconds in Retry-After, or with fewer pages", retry_after=1)
