"""An opened input: its bytes, the options to read it with, and its problems."""

import codecs
import io
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from batag.errors import InputError, UsageError
from batag.pages.compression import READ_ERRORS, Replayed, Unpacked, decompressed, swells
from batag.pages.file import open_file
from batag.pages.page import without_surrogates
from batag.pages.problems import Note, Notes
from batag.pages.signatures import binary_kind
from batag.settings import settings

_WIDER = {"big5": "cp950", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030"}
"""For older encodings the superset that files are really written in (粧, ①, 镕)."""
_ALSO = {"cp950": "Big5", "big5hkscs": "Big5 of Hong Kong", "cp932": "Shift_JIS", "gb18030": "GBK"}
"""Common names of encodings."""


@dataclass(kw_only=True)
class Source:
    """An opened input. `head` is its beginning, `stream` all of it as UTF-8 without a byte-order mark. A table also has the
    `names` of its columns, its `header` (the names as written in the file) and, if the file declares them, their `types`.
    When the names are known, those of the `usual_columns` that exist are added to `columns`. With `any_columns` none of them
    need be a text field: somebody looks at the table before it is known what its columns hold."""

    name: str
    head: bytes
    stream: BinaryIO
    raw: BinaryIO
    problems: Notes = field(default_factory=Notes)
    columns: Mapping[str, str] = field(default_factory=dict)
    usual_columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    names: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    transcoded: bool = False
    packed: bool = False
    unpacked: Unpacked | None = None
    any_columns: bool = False

    def seekable(self) -> BinaryIO:
        """The file for formats that need random access; compressed and piped input is copied to disk first."""
        if not self.packed and self.raw.seekable():
            self.raw.seek(0)
            return self.raw
        spooled = cast(BinaryIO, TemporaryFile())  # noqa: SIM115
        try:
            while piece := self.stream.read1(1 << 18):  # type: ignore[attr-defined]
                spooled.write(piece)
                if self.unpacked is not None and swells(spooled.tell(), packed=self.unpacked.packed_bytes):
                    raise InputError("unpacks to more than a hundred times its size", where=self.name, todo="Unpack it first")
        except READ_ERRORS as error:
            spooled.close()
            raise InputError(f"cannot be read ({error})", where=self.name, todo="Check that the file is whole") from error
        except InputError:
            spooled.close()
            raise
        spooled.seek(0)
        self.close()
        self.raw = spooled
        return spooled

    def fraction_read(self) -> float | None:
        """How much of the file has been read (0 to 1), or None if that is unknown."""
        if self.name == "-" or "://" in self.name[:20] or self.raw.closed or not (size := os.fstat(self.raw.fileno()).st_size):
            return None
        return min(self.raw.tell() / size, 1.0)

    def close(self) -> None:
        """Close the file (but not standard input)."""
        if self.raw is not sys.stdin.buffer:
            self.raw.close()

    def where(self, number: int) -> str:
        return f"{self.name}:{number}"

    @cached_property
    def stem(self) -> str:
        """The prefix of generated ids."""
        path = Path(self.name)
        stem = (path.with_suffix("") if path.suffix in (".gz", ".zst") else path).stem
        return "stdin" if self.name == "-" else without_surrogates(stem)

    def raw_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield numbered lines with their ends; a line over the size limit is skipped, and a damaged file ends here."""
        limit, number = settings.max_record_bytes, 0
        try:
            while line := self.stream.readline(limit):
                number += 1
                if len(line) == limit and not line.endswith(b"\n"):
                    del line
                    while (rest := self.stream.readline(1 << 16)) and not rest.endswith(b"\n"):
                        pass
                    reason = f"the line is longer than {limit:,} bytes (BATAG_MAX_RECORD_BYTES changes the limit)"
                    self.problems.add("too-long", self.where(number), reason)
                    continue
                if self.transcoded:
                    self.check_encoding(line, self.where(number))
                yield number, line
        except READ_ERRORS as error:
            self.problems.add("truncated", self.where(number + 1), f"the file cannot be read further ({error})")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield numbered lines as text with their ends; bytes that are not UTF-8 become U+FFFD and are noted."""
        for number, line in self.raw_lines():
            yield number, decoded(line, self.problems.at(self.where(number)))

    def check_encoding(self, data: bytes, where: str) -> None:
        """Note a problem if `data` contains U+FFFD, which replaced bytes that are invalid in the encoding given by the user."""
        if self.transcoded and b"\xef\xbf\xbd" in data:
            self.problems.add("bad-encoding", where, "bytes that are invalid in the file's encoding")


def decoded(data: bytes, note: Note) -> str:
    """The text of a line or record; bad bytes become U+FFFD and are noted."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        note("bad-encoding", f"byte {error.start + 1} of the line is invalid in the file's encoding")
        return data.decode(errors="replace")


def open_source(
    path: Path | str,
    *,
    encoding: str | None = None,
    columns: Mapping[str, str] | None = None,
    usual_columns: Mapping[str, str] | None = None,
    language: str | None = None,
) -> Source:
    """Open a file and determine its encoding; a file that is not UTF-8 is an error that suggests an encoding, unless one is
    given."""
    name = str(path)
    if name != "-" and Path(name).is_dir():
        raise InputError("is a folder", where=name, todo="Name the files in it")
    file = open_file(path)
    try:
        plain = decompressed(file)
        head, stream, transcoded = _settled(plain, name, encoding)
    except BaseException:
        if name != "-":
            file.close()
        raise
    return Source(
        name=name,
        head=head,
        stream=stream,
        raw=file,
        columns=columns or {},
        usual_columns=usual_columns or {},
        language=language,
        transcoded=transcoded,
        packed=plain is not file,
        unpacked=unpacked if isinstance(unpacked := getattr(plain, "raw", None), Unpacked) else None,
    )


def _settled(raw: BinaryIO, name: str, encoding: str | None) -> tuple[bytes, BinaryIO, bool]:
    """The beginning, and the whole stream as UTF-8 without a byte-order mark."""
    head = _read_up_to(raw, settings.sniff_bytes, name)
    stream: BinaryIO = cast(BinaryIO, io.BufferedReader(Replayed(head, raw), 1 << 18))
    if (known := binary_kind(head)) is not None:
        raise InputError(f"is {known[0]}", where=name, todo=known[1])
    if encoding is not None:
        encoding = _known_encoding(encoding, head)
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif not _is_binary(head):
        _check_utf8(head, name)
    transcoded = encoding not in (None, "utf-8", "ascii")
    if transcoded and encoding is not None:
        stream = cast(BinaryIO, io.BufferedReader(_Transcoded(stream, encoding), 1 << 18))
        head = _read_up_to(stream, settings.sniff_bytes, name)
        stream = cast(BinaryIO, io.BufferedReader(Replayed(head, stream), 1 << 18))
    if head.startswith(codecs.BOM_UTF8):
        head = head[3:]
        stream.read(3)
    if b"\n" not in head and not _is_binary(head) and head.count(b"\r") > 1:
        raise InputError("has the line ends of old Macs (CR alone)", where=name, todo="Save it with LF or CRLF line ends")
    return head, stream, transcoded


def _known_encoding(name: str, head: bytes) -> str:
    """The codec of a text encoding, by any of its names."""
    todo = "Try utf-8, cp950 (Big5), gb18030, cp932 or utf-16"
    try:
        found = codecs.lookup(name)
        codecs.getincrementaldecoder(name)("replace").decode("ab".encode(name))
    except (LookupError, UnicodeError, AssertionError, TypeError) as error:
        raise UsageError(f"{name!r} is not an encoding of text", todo=todo) from error
    if not found._is_text_encoding:
        raise UsageError(f"{name!r} is not an encoding of text", todo=todo)
    if found.name == "utf-16" and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _utf16_order(head)
    return _WIDER.get(found.name, found.name)


class _Transcoded(io.RawIOBase):
    """A stream in another encoding, transcoded to UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream, self._decoder, self._ready = stream, codecs.getincrementaldecoder(encoding)("replace"), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        ended = False
        while not self._ready and not ended:
            data = self._stream.read1(1 << 16)  # type: ignore[attr-defined]
            ended = not data
            self._ready = self._decoder.decode(data, final=ended).encode()
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _read_up_to(stream: BinaryIO, size: int, name: str) -> bytes:
    pieces: list[bytes] = []
    while size > 0:
        try:
            piece = stream.read1(size)  # type: ignore[attr-defined]
        except READ_ERRORS as error:
            if not pieces:
                raise InputError(f"cannot be read ({error})", where=name, todo="Check that the file is whole") from error
            break
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _is_binary(head: bytes) -> bool:
    return head.startswith((b"PAR1", b"PK\x03\x04"))


def _check_utf8(head: bytes, name: str) -> None:
    """Raise an error if a file is mostly not UTF-8; single bad lines are left to the reader."""
    whole = head if len(head) < settings.sniff_bytes else head[: head.rfind(b"\n") + 1] or head[:-3]
    lines = [line for line in whole.split(b"\n") if not line.isascii()]
    bad = sum(1 for line in lines if not _decodes(line))
    if bad * 2 <= len(lines) and head.count(b"\0") * 4 <= len(head):
        return
    offer = guess_encoding(head)
    todo, python = (f"Name it with {option}, or save it as UTF-8" for option in ("--encoding NAME", 'encoding="NAME"'))
    if offer is not None:
        also = f" ({_ALSO[offer]})" if offer in _ALSO else ""
        todo, python = (
            f"It looks like {offer}{also}: use {option}" for option in (f"--encoding {offer}", f'encoding="{offer}"')
        )
    raise InputError("is not UTF-8", where=name, todo=todo, python=python)


def _decodes(data: bytes, encoding: str = "utf-8") -> bool:
    """Whether bytes are valid in an encoding, except for a character that is cut off at the end."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _utf16_order(head: bytes) -> str:
    return "utf-16-le" if head[1::2].count(b"\0") >= head[::2].count(b"\0") else "utf-16-be"


def _guessed_by(head: bytes) -> bytes:
    """As much of a beginning as a guess needs, not cut inside a character: line ends, commas and spaces are characters by
    themselves in every encoding here."""
    if len(head) < (size := min(1 << 15, settings.sniff_bytes)):
        return head
    head = head[:size]
    return head[: max(map(head.rfind, (b"\n", b",", b" "))) + 1] or head


def guess_encoding(head: bytes) -> str | None:
    """The most likely encoding of a text that is not UTF-8, or None."""
    if b"\0" in head and "\ufffd" not in head[: len(head) & ~1].decode(order := _utf16_order(head), errors="replace")[:-1]:
        return order
    from charset_normalizer import from_bytes

    candidates = ["cp950", "big5hkscs", "gb18030", "cp932", "euc_jp", "cp1252"]
    best = from_bytes(_guessed_by(head), cp_isolation=candidates, enable_fallback=False).best()
    found = best.encoding if best is not None else None
    return "cp950" if found == "big5hkscs" and _decodes(head, "cp950") else found
