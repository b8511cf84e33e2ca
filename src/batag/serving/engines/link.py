"""Messages between the front and an engine process: a JSON head and, behind it, the bodies as they are."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson

_SIZES = struct.Struct(">II")
_MOST = 1 << 30
Receive = Callable[[int], bytes]


def pack(head: dict[str, Any], bodies: Sequence[bytes] = ()) -> bytes:
    """A message; `sizes` in its head are those of the bodies."""
    data = orjson.dumps(head | {"sizes": [len(body) for body in bodies]})
    return b"".join((_SIZES.pack(len(data), sum(map(len, bodies))), data, *bodies))


def _unpack(data: memoryview, head: int) -> tuple[dict[str, Any], list[bytes]]:
    found: dict[str, Any] = orjson.loads(data[:head])
    bodies, start = [], head
    for size in found.pop("sizes"):
        bodies.append(bytes(data[start : start + size]))
        start += size
    return found, bodies


class Unpacker:
    """Collects what arrives and yields whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
        """Yield the messages that are whole now."""
        self._buffer += data
        while len(self._buffer) >= _SIZES.size:
            head, rest = _SIZES.unpack_from(self._buffer)
            whole = _SIZES.size + head + rest
            assert whole < _MOST
            if len(self._buffer) < whole:
                return
            message = bytes(self._buffer[_SIZES.size : whole])
            del self._buffer[:whole]
            yield _unpack(memoryview(message), head)


def receive(read: Receive) -> tuple[dict[str, Any], list[bytes]] | None:
    """Wait for the next message; None when the other side has closed. `read` gives so many bytes, or fewer at the end."""
    sizes = read(_SIZES.size)
    if len(sizes) < _SIZES.size:
        return None
    head, rest = _SIZES.unpack(sizes)
    data = read(head + rest)
    return _unpack(memoryview(data), head) if len(data) == head + rest else None
