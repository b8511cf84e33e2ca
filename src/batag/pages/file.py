"""Opening files: compression told by content, output whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from batag.errors import InputError

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class DamagedFileError(Exception):
    """A compressed file ends early or is corrupt: what was read before it is good."""


READ_ERRORS = (EOFError, OSError, DamagedFileError)
"""What reading on in a damaged file can raise."""


def open_file(path: Path | str) -> BinaryIO:
    """A file as it lies on the disk, or standard input for `-`."""
    if str(path) == "-":
        return sys.stdin.buffer
    if "://" in str(path)[:20]:
        return _remote(str(path))
    try:
        return open(path, "rb", buffering=1 << 16)
    except OSError as error:
        what = f"cannot be opened ({error.strerror})"
        raise InputError(what, where=str(path), todo="Check the name and the rights") from error


def _remote(address: str) -> BinaryIO:
    """A file of a store that fsspec knows."""
    import fsspec

    try:
        return cast(BinaryIO, io.BufferedReader(fsspec.open(address, "rb").open(), 1 << 18))
    except (OSError, ImportError, ValueError) as error:
        raise InputError(f"cannot be opened ({error})", where=address, todo="Check the address and the rights") from error


def decompressed(raw: BinaryIO) -> BinaryIO:
    """The plain bytes of a file, whatever its compression."""
    magic = cast(io.BufferedReader, raw).peek(4)[:4]
    if magic.startswith(GZIP):
        return cast(BinaryIO, io.BufferedReader(_Unpacked(raw, lambda: zlib.decompressobj(31)), 1 << 18))
    if magic == ZSTD or (magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5):
        import zstandard

        return cast(BinaryIO, io.BufferedReader(_Unpacked(raw, zstandard.ZstdDecompressor().decompressobj), 1 << 18))
    return raw


class _Unpacked(io.RawIOBase):
    """Compressed members (frames) one after the other; unlike the libraries' own readers it gives all that lies before
    a damage, and then says that there is one."""

    def __init__(self, raw: IO[bytes], new: Callable[[], Any]) -> None:
        self._raw, self._new, self._member = raw, new, new()
        self._waiting, self._ready, self._begun = b"", memoryview(b""), False
        # What goes in at a time: a few bytes can unpack to very many, so it grows only while little comes out.
        self._piece = 64

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if (self._member.eof or not self._begun) and not self._next_member():
                return 0
            piece, self._waiting = self._waiting[: self._piece], self._waiting[self._piece :]
            piece = piece or self._raw.read(self._piece)
            if not piece:
                raise DamagedFileError("the compressed file ends before its end mark")
            try:
                self._ready = memoryview(self._member.decompress(piece))
            except Exception as error:  # zlib's and zstandard's own kinds
                raise DamagedFileError(f"the compressed file is damaged: {error}") from error
            self._piece = 64 if len(self._ready) > 1 << 19 else min(2 * self._piece, 1 << 16)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _next_member(self) -> bool:
        """Go on to what follows a member; padding and notes between members are passed over."""
        if self._begun:
            self._waiting = self._member.unused_data + self._waiting
        while True:
            if len(self._waiting) < 8:
                self._waiting += self._raw.read(1 << 10)
            if self._waiting[1:4] == b"\x2a\x4d\x18" and self._waiting[0] >> 4 == 5:
                size = 8 + int.from_bytes(self._waiting[4:8], "little")
                while len(self._waiting) < size and (more := self._raw.read(1 << 16)):
                    self._waiting += more
                self._waiting = self._waiting[size:]
            elif self._waiting[:1] == b"\0":
                self._waiting = self._waiting.lstrip(b"\0")
            else:
                break
        if self._waiting and self._begun:
            self._member = self._new()
        self._begun = True
        return bool(self._waiting)


@contextmanager
def open_output(path: Path | str, *, plain: bool = False, making: Path | None = None) -> Iterator[BinaryIO]:
    """A file that appears under its name only when it is complete; until then it lies beside it, or in the folder `making`.
    `.gz` and `.zst` are compressed (unless what is written is it already: `plain`), `-` is standard output."""
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
            f"cannot be written ({error.strerror})", where=str(path), todo="Check the folder and its rights"
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


def sync_folder(path: Path) -> None:
    """Make new names in a folder last through a power cut, where the system can."""
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
