"""What keeps a run safe: the same numbers every time, and disk errors that say what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from batag.errors import InputError

_MEANING = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the quota is used up",
    errno.EROFS: "the file system is read-only",
}


class DiskError(InputError):
    """Something could not be written."""


@contextmanager
def disk_errors(path: Path, *, what: str, todo: str) -> Iterator[None]:
    """An error of the disk becomes one that says what could not be done and what to do."""
    try:
        yield
    except DiskError:
        raise
    except (OSError, InputError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            raise
        meaning = _MEANING.get(cause.errno or 0) or cause.strerror or str(cause)
        raise DiskError(f"{what}: {meaning}", where=str(path), todo=todo) from error


@contextmanager
def repeatable(threads: int, *, strict: bool) -> Iterator[None]:
    """The same numbers every time; the process's own settings and random numbers come back afterwards."""
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    # It would write to all new memory before it is used, four hundred times a step; what it guards against is not done here.
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    with torch.random.fork_rng(devices=[]):
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True, warn_only=not strict)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        try:
            yield
        finally:
            torch.set_num_threads(before[0])
            torch.use_deterministic_algorithms(before[1])
            torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
