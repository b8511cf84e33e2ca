"""Read JSON objects and arrays one element at a time, however long the file; a bad element does not affect the others.

Odd content is accepted: huge numbers, lone surrogates, raw control characters, bad bytes.
"""

import json
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, BinaryIO, cast

import orjson

from batag.pages.compression import READ_ERRORS
from batag.pages.problems import Note
from batag.pages.record import dump, plain
from batag.pages.source import Source, decoded
from batag.settings import settings

_STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_CHUNK = 1 << 18
_DEEPEST = 100
_LONG = re.compile(rb"[0-9]{19}")
_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\],]', re.DOTALL)
"""A whole string, or one structural character; a single quote is a string that does not end."""


def elements(source: Source) -> Iterator[tuple[str, int, bytes]]:
    """Yield each element of the array with its place (`file, record n`) and number."""
    number = 0
    try:
        for number, element in enumerate(split_array(source.stream), 1):
            where = f"{source.name}, record {number}"
            if element is None:
                limit = f"{settings.max_record_bytes:,} bytes (BATAG_MAX_RECORD_BYTES changes the limit)"
                source.problems.add("too-long", where, f"the record is longer than {limit}")
                continue
            source.check_encoding(element, where)
            yield where, number, element
    except READ_ERRORS as error:
        where = f"{source.name}, record {number + 1}"
        source.problems.add("truncated", where, f"the array cannot be read further ({error})")


def split_array(stream: BytesIO | BinaryIO) -> Iterator[bytes | None]:
    """Yield the bytes of each element; None for one over the size limit. Raises EOFError if the array does not end."""
    splitter, failure = _Splitter(), None
    while not splitter.ended:
        # As much again as is held, so that a long element is not looked through again for every piece that comes.
        wanted, pieces = max(_CHUNK, splitter.held), []
        try:
            while wanted > 0 and (piece := cast(BytesIO, stream).read1(wanted)):
                pieces.append(piece)
                wanted -= len(piece)
        except READ_ERRORS as error:  # what came before the damage is good
            failure = error
        if pieces:
            yield from splitter.feed(b"".join(pieces))
        elif failure is not None:
            raise failure
        else:
            raise EOFError("the file ends in the middle of the array")


class _Splitter:
    """Finds elements by counting brackets outside strings; stores only the bytes of the current element."""

    def __init__(self) -> None:
        self.ended = False
        self._data = b""
        self._scanned = self._start = self._depth = 0
        self._in_string = self._too_long = False

    @property
    def held(self) -> int:
        return len(self._data)

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        self._data += data
        if self._in_string and not self._leave_string():
            return
        while match := _STRUCTURE.search(self._data, self._scanned):
            mark = match[0]
            if mark == b'"':
                break
            self._scanned = match.end()
            if mark in b"{[":
                if self._depth == 0:
                    self._start = match.end()
                self._depth += 1
            elif mark in b"}]" or (mark == b"," and self._depth == 1):
                closing = mark != b","
                if self._depth == 1 and (element := self._data[self._start : match.start()].strip()):
                    yield None if self._too_long else element
                if self._depth == 1:
                    self._start, self._too_long = match.end(), False
                self._depth -= closing
                if self._depth == 0:
                    self.ended = True
                    return
        self._forget()

    def _forget(self) -> None:
        """Drop the bytes of yielded elements, and all of an element that is too long."""
        rest = self._data[self._start :]
        self._scanned -= self._start
        self._start = 0
        if self._too_long or len(rest) > settings.max_record_bytes:
            self._too_long = True
            quote = _STRUCTURE.search(rest, self._scanned)
            self._in_string = quote is not None
            # One byte stays, so that the element is not taken for an empty one.
            rest, self._scanned = b"x", 1
        self._data = rest

    def _leave_string(self) -> bool:
        """Skip to the end of a string inside an element that is too long."""
        if match := _STRING_END.match(self._data, 1):
            self._data, self._in_string = b"x" + self._data[match.end() :], False
            return True
        slashes = len(self._data) - len(self._data.rstrip(b"\\"))
        self._data = b"x" + (b"\\" if slashes % 2 else b"")
        return False


def write_array(records: Iterable[Any], stream: BinaryIO) -> None:
    """Write a JSON array, one element per line."""
    _write_elements(map(dump, records), stream)


def join_arrays(parts: Iterable[bytes], stream: BinaryIO) -> None:
    """Concatenate arrays that `write_array` wrote."""
    _write_elements((inside for data in parts if (inside := data[1:-2].strip(b"\n"))), stream)


def _write_elements(elements: Iterable[bytes], stream: BinaryIO) -> None:
    before = b"[\n"
    for element in elements:
        stream.write(before + element)
        before = b",\n"
    stream.write(b"\n]\n" if before != b"[\n" else b"[]\n")


def parse(data: bytes, note: Note) -> dict[str, Any] | None:
    """Parse an object; None, with the problem noted, for anything else."""
    if (data.count(b"[") > _DEEPEST or data.count(b"{") > _DEEPEST) and _depth(data) > _DEEPEST:
        note("bad-json", "not JSON that can be read: nested too deep")
        return None
    try:
        record = orjson.loads(data)
        # Whole numbers over 64 bits would come as rounded floats.
        if _LONG.search(data):
            record = json.loads(data)
    except ValueError:
        record = _slowly(data, note)
        if record is None:
            return None
    if type(record) is dict:
        return record
    note("bad-json", "JSON, but not an object")
    return None


def _slowly(data: bytes, note: Note) -> Any:
    text = decoded(data, note)
    try:
        record = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        note("bad-json", f"not JSON: {error.msg} at character {error.pos + 1}")
        return None
    except (ValueError, RecursionError) as error:
        note("bad-json", f"not JSON that can be read: {str(error)[:60]}")
        return None
    if any(character < " " for character in text.replace("\r", "").replace("\n", "")):
        note("control-characters", "raw control characters in a JSON string")
    return plain(record) if record is not None else []


def _depth(data: bytes) -> int:
    depth = deepest = 0
    for match in _STRUCTURE.finditer(data):
        mark = match[0]
        if mark in b"{[":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in b"}]":
            depth -= 1
    return deepest
