"""The process behind a loader: it loads a bundle, and forks an engine for each socket that the front sends. An engine answers
one batch after the other until the front closes its link."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any

from batag.errors import BatagError
from batag.serving.engines.link import pack, receive
from batag.serving.problem import Problem

_DIE_WITH_PARENT = 1


def main() -> None:
    """Run with the number of the open socket and of the parent process as arguments."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the front decides when it ends
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # engines that end leave nothing behind
    _end_with(int(sys.argv[2]))
    with control, suppress(BrokenPipeError, ConnectionResetError):
        begun = receive(lambda size: _read(control, size))
        if begun is None:
            return
        try:
            from batag.serving.engines.answers import Answers

            answers = Answers(**begun[0])
        except Exception as error:
            control.sendall(pack({"failed": _why(error)}))
            return
        control.sendall(pack({"ready": answers.model}))
        own = os.getpid()
        while (given := socket.recv_fds(control, 1, 1))[0]:
            with socket.socket(fileno=given[1][0]) as link, suppress(OSError):  # without memory for another there is none
                if os.fork() == 0:
                    control.close()
                    _be_engine(link, answers, own)


def _be_engine(link: socket.socket, answers: Any, parent: int) -> None:
    """Answer until the link closes, and end this process."""
    code = 1
    try:
        _end_with(parent)
        with link.makefile("rb") as incoming, suppress(BrokenPipeError, ConnectionResetError):
            link.sendall(pack({"ready": os.getpid()}))
            while (message := receive(incoming.read)) is not None:
                link.sendall(_answered(answers, *message))
        code = 0
    finally:
        os._exit(code)


def _end_with(parent: int) -> None:
    """End with the parent process, whatever happens to it; at once if it has ended already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _read(control: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer at the end; nothing beyond, where sockets may come."""
    return control.recv(size, socket.MSG_WAITALL) if size else b""


def _answered(answers: Any, head: dict[str, Any], bodies: list[bytes]) -> bytes:
    """The message with the answers to a batch; what is too late already is not tagged."""
    began = time.monotonic()
    asked = list(zip(head["kinds"], bodies, strict=True))
    timely = [each for each, deadline in zip(asked, head["deadlines"], strict=True) if deadline > began]
    found = iter(answers.answer(timely))
    results = [next(found) if deadline > began else Problem("late", "") for deadline in head["deadlines"]]
    problems: dict[int, list[str]] = {}
    sent: list[bytes] = []
    counts: list[tuple[int, int]] = []
    for number, result in enumerate(results):
        if isinstance(result, Problem):
            problems[number] = [result.kind, result.detail, result.where, result.todo]
            sent.append(b"")
            counts.append((0, 0))
        else:
            sent.append(result[0])
            counts.append(result[1:])
    stats, answers.stats = dict(answers.stats), type(answers.stats)()
    seconds = time.monotonic() - began
    return pack(
        {
            "batch": head["batch"],
            "problems": {str(number): each for number, each in problems.items()},
            "counts": counts,
            "stats": stats,
            "seconds": seconds,
        },
        sent,
    )


def _why(error: Exception) -> list[str]:
    if isinstance(error, BatagError):
        return [error.what, error.where, error.todo]
    return [f"{type(error).__name__}: {str(error)[:200]}", "", ""]


if __name__ == "__main__":
    main()
