"""Open files: input from disk, remote stores and pipes; output that is written atomically and never over its own input."""

import gzip
import hashlib
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, cast

from batag.errors import InputError, UsageError

Name = Path | str | None


def open_file(path: Path | str) -> BinaryIO:
    """Open a file for reading; `-` is standard input."""
    if str(path) == "-":
        return sys.stdin.buffer
    if "://" in str(path)[:20]:
        return _remote(str(path))
    try:
        return open(path, "rb", buffering=1 << 16)
    except OSError as error:
        what = f"cannot be opened ({error.strerror})"
        raise InputError(what, where=str(path), todo="Check the name and the permissions") from error


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def _remote(address: str) -> BinaryIO:
    """Open a file of a remote store with fsspec."""
    import fsspec

    try:
        return cast(BinaryIO, io.BufferedReader(fsspec.open(address, "rb").open(), 1 << 18))
    except (OSError, ImportError, ValueError) as error:
        raise InputError(f"cannot be opened ({error})", where=address, todo="Check the address and the permissions") from error


def once_only(path: Path | str) -> bool:
    """Whether an input can be read only once: standard input, a named pipe, a process substitution, a device."""
    if str(path) == "-" or "://" in str(path)[:20]:
        return str(path) == "-"
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextmanager
def open_output(path: Path | str, *, plain: bool = False, making: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when it is complete; until then it is beside it or in the folder
    `making`. `.gz` and `.zst` are compressed unless `plain`; `-` is standard output."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path).resolve()
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise InputError("is a folder", where=str(path), todo="Name a file")
        with open(path, "wb") as device:  # a pipe or a device is written into, not replaced
            yield device
        return
    temporary = (making or path.parent) / f".{path.name}.{os.getpid()}.tmp"
    try:
        raw = open(temporary, "wb", buffering=1 << 18)  # noqa: SIM115
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=str(path), todo="Check the folder and its permissions"
        ) from error
    try:
        with raw:
            with nullcontext(raw) if plain else _compressed(raw, path) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def locked(folder: Path, lock: str, *, busy: str, todo: str) -> Iterator[None]:
    """Hold the lock file of a folder, so that one process at a time uses it; it is released when the process ends."""
    from filelock import FileLock, Timeout

    held = FileLock(folder / lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        # Not `from` it: the library's error is an OSError, and this is none of the disk's.
        raise InputError(busy, where=str(folder), todo=todo) from None
    try:
        yield
    finally:
        held.release()


def sync_folder(path: Path) -> None:
    """Flush the names of new files in a folder to disk, where the system can."""
    with suppress(OSError):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _compressed(raw: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    if path.suffix == ".gz":
        # No name and no time in the header: the same pages give the same bytes.
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif path.suffix == ".zst":
        import zstandard

        with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as packed:
            yield cast(BinaryIO, packed)
    else:
        yield raw


def check_targets(targets: Iterable[Name], inputs: Iterable[Name]) -> None:
    """Raise an error if an output file is also an input (under any name, or inside an input folder), or is written twice.
    Pipes, devices and None are ignored."""
    read = {identity for each in inputs if each is not None for identity in _files(str(each))}
    written: dict[object, str] = {}
    for target in targets:
        if target is None or str(target) == "-" or (found := _identity(str(target))) is None:
            continue
        if found in read:
            raise UsageError("is both input and output", where=str(target), todo="Name another file to write")
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
    """A key that identifies a file; None for anything that cannot be overwritten."""
    name = name.removeprefix("file://")
    if "://" in name[:20]:
        return name
    try:
        return _of_stat(os.stat(name))
    except (OSError, ValueError):  # not there yet
        return os.path.realpath(name)


def _of_stat(found: os.stat_result) -> object | None:
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
