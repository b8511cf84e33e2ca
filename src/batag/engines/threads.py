"""How many threads of the CPU an engine uses: those that were asked for, and never a pool that a fork left behind.

Torch has one number for the whole process, which is the user's: it is another only while an engine works. The threads of a
pool do not live on in a forked child, and who waits for them there waits for ever: a forked child has one thread.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from batag.errors import UsageError
from batag.settings import settings


class _Process:
    """What is true of this process: whether it was forked, and what torch's number is outside of our work."""

    def __init__(self, *, forked: bool) -> None:
        self.forked, self.lock, self.inside, self.before = forked, Lock(), 0, 1


_process = _Process(forked=False)


def _begin_anew() -> None:
    global _process
    _process = _Process(forked=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def check_threads(threads: int | None) -> int:
    """How many are asked for; those of the settings if none is given."""
    if threads is None:
        return settings.threads
    if type(threads) is not int or threads < 1:
        raise UsageError(f"threads {threads!r} is not a whole number above 0", todo="Leave it out: one is seldom slower")
    return threads


def usable_threads(threads: int) -> int:
    """How many of those that are asked for work in this process."""
    return 1 if _process.forked else threads


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Torch with so many threads; what it had before comes back, also if several threads ask at a time."""
    import torch

    process = _process
    with process.lock:
        if not process.inside:
            process.before = torch.get_num_threads()
        process.inside += 1
    torch.set_num_threads(usable_threads(threads))
    try:
        yield
    finally:
        torch.set_num_threads(process.before)
        with process.lock:
            process.inside -= 1
