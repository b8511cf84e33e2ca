"""Opening files: compression told by content, output whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, cast

from batag.errors import InputError

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class DamagedFileError(Exception):
    """A compressed file ends early or is corrupt: what was read before it is good."""


READ_ERRORS = (EOFError, OSError, zlib.error, DamagedFileError)
"""What reading on in a damaged file can raise."""


def open_file(path: Path | str) -> BinaryIO:
    """A file as it lies on the disk, or standard input for `-`."""
    if str(path) == "-":
        return sys.stdin.buffer
    try:
        return open(path, "rb", buffering=1 << 18)
    except OSError as error:
        what = f"cannot be opened ({error.strerror})"
        raise InputError(what, where=str(path), todo="Check the name and the rights") from error


def decompressed(raw: BinaryIO) -> BinaryIO:
    """The plain bytes of a file, whatever its compression."""
    magic = cast(io.BufferedReader, raw).peek(4)[:4]
    if magic.startswith(GZIP):
        return cast(BinaryIO, io.BufferedReader(gzip.GzipFile(fileobj=raw), 1 << 18))
    if magic == ZSTD:
        return cast(BinaryIO, io.BufferedReader(_ZstdReader(raw), 1 << 18))
    return raw


class _ZstdReader(io.RawIOBase):
    """Zstandard frames as a stream that, unlike the library's own, says when the file ends inside a frame."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._raw, self._frame, self._ready = raw, self._new(), b""
        self._started = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        while not self._ready:
            data = self._frame.unused_data if self._frame.eof else b""
            data = data or self._raw.read(1 << 16)
            if not data:
                if self._started and not self._frame.eof:
                    raise DamagedFileError("the compressed file ends before its end mark")
                return 0
            if self._frame.eof:
                self._frame = self._new()
            self._started = True
            try:
                self._ready = self._frame.decompress(data)
            except self._error as error:
                raise DamagedFileError(f"the compressed file is damaged ({error})") from error
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


@contextmanager
def open_output(path: Path | str) -> Iterator[BinaryIO]:
    """A file that appears under its name only when it is complete; `.gz` and `.zst` are compressed, `-` is standard output."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        raw = open(temporary, "wb", buffering=1 << 18)  # noqa: SIM115
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=str(path), todo="Check the folder and its rights"
        ) from error
    try:
        with raw:
            with _compressed(raw, path) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


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
