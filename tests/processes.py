"""Processes that tests start: with the signals of a program at a terminal, and ended with the test whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

PATIENCE = 300
"""Seconds after which something that should happen is taken not to happen at all; no test passes or fails by less."""


def at_a_terminal() -> None:
    """In the child: signals as at a terminal. Under nohup or in the background Ctrl-C is ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own (`process.pid` is its number); what is left of the group is killed at the end."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=at_a_terminal, **options
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_until(happened: Callable[[], object], *, while_runs: subprocess.Popen[bytes] | None = None) -> None:
    """Wait for something that must happen; a process that ends before it does is a failure."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if while_runs is not None and while_runs.poll() is not None and not happened():
            message = while_runs.communicate()[1].decode()
            raise AssertionError(f"it ended with {while_runs.returncode} before that: {message}")
        assert time.monotonic() < deadline, f"it did not happen within {PATIENCE} s"
        time.sleep(0.02)


def alive(group: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
