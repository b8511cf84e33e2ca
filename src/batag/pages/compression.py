"""Compressed files, recognised by their content and decompressed piece by piece in bounded memory."""

import io
import re
import zlib
from collections.abc import Callable
from typing import IO, Any, BinaryIO, cast

_PADDING = re.compile(rb"\0+")
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class DamagedFileError(Exception):
    """A compressed file is truncated or corrupt; what was read before is good."""


READ_ERRORS = (EOFError, OSError, DamagedFileError)
"""The exceptions that reading a damaged file can raise."""


def decompressed(raw: BinaryIO) -> BinaryIO:
    """The decompressed stream of a file, whatever its compression."""
    if raw.seekable():
        magic = cast(io.BufferedReader, raw).peek(4)[:4]
    else:  # a pipe may bring its first bytes one by one
        magic = raw.read(4)
        raw = cast(BinaryIO, io.BufferedReader(Replayed(magic, raw), 1 << 16))
    if magic.startswith(GZIP):
        return cast(BinaryIO, io.BufferedReader(Unpacked(raw, lambda: zlib.decompressobj(31)), 1 << 18))
    if magic == ZSTD or _is_skippable(magic):
        import zstandard

        return cast(BinaryIO, io.BufferedReader(Unpacked(raw, zstandard.ZstdDecompressor().decompressobj), 1 << 18))
    return raw


class Replayed(io.RawIOBase):
    """A stream whose beginning was already read, from the start again."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            return self._rest.readinto1(buffer)  # type: ignore[attr-defined, no-any-return]
        size = min(len(buffer), len(self._head))
        buffer[:size] = self._head[:size]
        self._head = self._head[size:]
        return size


class Unpacked(io.RawIOBase):
    """Decompresses concatenated members (frames). Unlike the libraries' own readers it returns everything before a damaged
    place, and then raises an error."""

    def __init__(self, raw: IO[bytes], new: Callable[[], Any]) -> None:
        self._raw, self._new, self._member = raw, new, new()
        self._held, self._place, self._begun = b"", 0, False
        self._ready, self._damage = memoryview(b""), ""
        self._piece = _LEAST
        self.packed_bytes = 0
        """Number of compressed bytes read so far."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._damage:
                raise DamagedFileError(self._damage)
            try:
                if (self._member.eof or not self._begun) and not self._next_member():
                    return 0
                self._unpack()
            except DamagedFileError as error:
                self._damage = str(error)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _unpack(self) -> None:
        if self._place == len(self._held):
            self._held, self._place = self._more(), 0
        piece = self._held[self._place : self._place + self._piece]
        if not piece:
            raise DamagedFileError("the compressed file ends before its end mark")
        self._place += len(piece)
        try:
            self._ready = memoryview(self._member.decompress(piece))
        except Exception as error:  # zlib's and zstandard's own kinds
            raise DamagedFileError(f"the compressed file is damaged: {error}") from error
        # A few bytes can unpack to very many, so what goes in at a time is little, and grows only while little comes out.
        self._piece = _LEAST if len(self._ready) > 1 << 19 else min(2 * self._piece, _MOST)

    def _next_member(self) -> bool:
        """Go on to the next member, skipping padding and notes between members."""
        if self._begun:
            self._place -= len(self._member.unused_data)
        while True:
            if len(self._held) - self._place < 8:
                self._held, self._place = self._held[self._place :] + self._more(), 0
            start = self._held[self._place : self._place + 8]
            if _is_skippable(start[:4]):
                self._skip(8 + int.from_bytes(start[4:], "little"))
            elif padding := _PADDING.match(self._held, self._place):
                self._place = padding.end()
            else:
                break
        if start and self._begun:
            self._member = self._new()
        self._begun = True
        return bool(start)

    def _skip(self, size: int) -> None:
        """Skip bytes without storing them."""
        size -= len(self._held) - self._place
        while size > 0 and (more := self._more()):
            self._held, size = more, size - len(more)
        if size > 0:
            raise DamagedFileError("the compressed file ends inside a frame that is to be skipped")
        self._place = len(self._held) + size

    def _more(self) -> bytes:
        more = cast(io.BufferedReader, self._raw).read1(1 << 13)
        self.packed_bytes += len(more)
        return more


_LEAST, _MOST = 64, 1 << 10
"""How many bytes are decompressed at once: 4 bytes of zstd can become 128 KB, so the largest piece becomes 32 MB."""


def swells(size: int, *, packed: int) -> bool:
    """Whether a decompressed size is far larger than the compressed one can plausibly give; for files that are read whole."""
    return size > 100 * packed + (1 << 24)


def _is_skippable(magic: bytes) -> bool:
    """Whether a zstd frame contains no data of the file."""
    return magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5
