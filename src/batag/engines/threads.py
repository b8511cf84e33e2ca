"""The number of CPU threads of an engine.

Torch has one number for the whole process, which belongs to the user, so it is changed only while an engine runs. Thread pools
do not survive a fork, and waiting for them would block for ever, so a forked child uses one thread.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from batag.errors import UsageError
from batag.settings import settings


class _Process:
    """The state of this process: whether it was forked, and torch's number of threads outside of batag."""

    def __init__(self, *, forked: bool) -> None:
        self.forked, self.lock, self.inside, self.before = forked, Lock(), 0, 1


_process = _Process(forked=False)


def _begin_anew() -> None:
    global _process
    _process = _Process(forked=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def check_threads(threads: int | None) -> int:
    """Check the number of threads; the default is that of the settings."""
    if threads is None:
        return settings.threads
    if type(threads) is not int or threads < 1:
        raise UsageError(f"threads {threads!r} is not a whole number above 0", todo="Leave it out: one thread is seldom slower")
    return threads


def usable_threads(threads: int) -> int:
    """The number of threads that can be used in this process: 1 in a forked child."""
    return 1 if _process.forked else threads


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Run torch with this number of threads and restore the old number afterwards, also with concurrent callers."""
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
