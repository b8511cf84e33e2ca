"""Where a command writes: never over what it reads, and never two things into one file."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from batag.errors import UsageError

_LOCAL = "file://"
Name = Path | str | None


def check_targets(targets: Iterable[Name], inputs: Iterable[Name]) -> None:
    """Refuse a file to write that is also read, by whatever name (a link, another spelling, standard input), or written twice;
    of an input that is a folder this holds for every file in it. Pipes, devices and what is None do not count."""
    read = {identity for each in inputs if each is not None for identity in _files(str(each))}
    written: dict[object, str] = {}
    for target in targets:
        if target is None or str(target) == "-" or (found := _identity(str(target))) is None:
            continue
        if found in read:
            raise UsageError("would be written over, and it is read", where=str(target), todo="Name another file to write")
        if found in written:
            raise UsageError("would be written twice", where=str(target), todo="Name a file for each")
        written[found] = str(target)


def _files(name: str) -> Iterable[object]:
    if name == "-":
        with suppress(OSError, ValueError):
            yield _of_stat(os.fstat(sys.stdin.fileno()))
    elif "://" not in name[:20] and os.path.isdir(name):
        for folder, _, files in os.walk(name):
            yield from (_identity(os.path.join(folder, file)) for file in files)
    else:
        yield _identity(name)


def _identity(name: str) -> object | None:
    """What tells a file from all others; None for what is no file and cannot be overwritten."""
    name = name.removeprefix(_LOCAL)
    if "://" in name[:20]:
        return name
    try:
        return _of_stat(os.stat(name))
    except (OSError, ValueError):  # not there yet
        return os.path.realpath(name)


def _of_stat(found: os.stat_result) -> object | None:
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
