"""Inputs to parts: files, folders and standard input, cut after so many rows or bytes, always in the same places."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from batag.catalogue.part import Entry, Part
from batag.catalogue.place import is_remote, names_under
from batag.errors import InputError
from batag.pages.file import open_file
from batag.pages.formats import check_format, detect_format, format_of_name, read_pages
from batag.pages.formats.delimited import column_names, table_rows
from batag.pages.problems import SKIPPED_PAGE, Problems
from batag.pages.source import Source, open_source
from batag.settings import settings

_FOOTER = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What is to be tagged, and what was said about it."""

    paths: tuple[str, ...]
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    encoding: str | None = None

    @property
    def resumable(self) -> bool:
        """Standard input cannot be read twice."""
        return "-" not in self.paths

    def identities(self) -> list[dict[str, Any]]:
        """What tells whether a file is still the one that a job began with; its rows are compared as they are read again."""
        return [{"name": path, "bytes": None if path == "-" else _size(path)} for path in self.paths]

    def parts(self, problems: Problems) -> Iterator[Part]:
        """All parts in order; what is wrong with a whole file is an error before its first part."""
        number = 0
        for file, path in enumerate(self.paths):
            for part in self._of_file(path, problems):
                yield replace(part, number=number, file=file)
                number += 1

    def _of_file(self, path: str, problems: Problems) -> Iterator[Part]:
        source = open_source(path, problems=problems, encoding=self.encoding, columns=self.columns, language=self.language)
        try:
            name = self.format or detect_format(source)
            said: dict[str, Any] = {
                "number": 0,
                "source": source.name,
                "stem": source.stem,
                "columns": dict(self.columns),
                "language": self.language,
            }
            if name == "parquet" and path != "-" and not source.packed:
                yield from _ranges(source, said)
            elif name == "jsonl":
                yield from _cut(_lines(source), said | {"kind": "lines"}, source)
            elif name in ("csv", "tsv"):
                rows = table_rows(source, "\t" if name == "tsv" else None)
                names = tuple(column_names(rows.header, source))
                header = tuple(own.strip() or name for own, name in zip(rows.header, names, strict=True))
                yield from _cut(_cells(source, rows), said | {"kind": "cells", "names": names, "header": header}, source)
            else:
                source.close()
                reading: dict[str, Any] = {"columns": self.columns, "language": self.language, "encoding": self.encoding}
                if path == "-":
                    raise InputError(f"{name} cannot be tagged from standard input", where="-", todo="Name a file")
                yield from _cut(_pages(path, name, problems, reading), said | {"kind": "pages"}, source)
        finally:
            source.close()


def find_inputs(given: Iterable[str], *, format: str | None) -> tuple[str, ...]:
    """Files as they are, and of folders all that look like pages, by name."""
    if format is not None:
        check_format(format)
    found: list[str] = []
    for each in given:
        inside = names_under(each)
        if inside is None:
            found.append(each)
            continue
        own = [name for name in inside if format is not None or format_of_name(name)]
        if not own:
            raise InputError("holds no file of pages", where=each, todo="Name files, or say --format")
        found += own
    return tuple(found)


def _size(path: str) -> int | None:
    with open_file(path) as stream:
        return stream.seek(0, 2) if stream.seekable() else None


def _lines(source: Source) -> Iterator[Entry]:
    """JSON lines as they are; one that cannot be read says why."""
    for number, line in _with_failures(source, source.raw_lines()):
        if isinstance(line, str) or not line.isspace():
            yield number, number, line


def _cells(source: Source, rows: Iterable[tuple[int, list[str]]]) -> Iterator[Entry]:
    for number, (line, cells) in enumerate(_with_failures(source, rows), 1):
        if isinstance(cells, str) or any(cells):
            yield line, number, cells


def _pages(path: str, format: str, problems: Problems, reading: Mapping[str, Any]) -> Iterator[Entry]:
    for number, page in enumerate(read_pages(path, format=format, **reading, problems=problems), 1):
        yield number, number, page


def _with_failures(source: Source, rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Rows, and in the place of one that the reader skipped the reason."""
    own, whole = Problems(), source.problems
    source.problems = own

    def failures() -> Iterator[tuple[int, str]]:
        nonlocal own
        if own.counts:
            for problem in own.listed:
                if problem.effect == SKIPPED_PAGE:
                    yield int(problem.where.rpartition(":")[2]), f"{problem.where}: {problem.reason}"
                else:
                    whole.add(problem.kind, problem.where, problem.reason, page=problem.page)
            source.problems = own = Problems()

    for number, row in rows:
        yield from failures()
        yield number, row
    yield from failures()


def _cut(entries: Iterable[Entry], said: dict[str, Any], source: Source) -> Iterator[Part]:
    """Parts of so many rows, fewer if they are long."""
    waiting: list[Entry] = []
    size, first = 0, 1
    for entry in entries:
        waiting.append(entry)
        size += _length(entry[2])
        if len(waiting) == settings.part_pages or size >= settings.part_bytes:
            share = source.share_read() or 0.0
            yield Part(first=first, rows=len(waiting), entries=tuple(waiting), share=share, **said)
            first, size, waiting = first + len(waiting), 0, []
    if waiting:
        yield Part(first=first, rows=len(waiting), entries=tuple(waiting), **said)


def _length(held: Any) -> int:
    if isinstance(held, (bytes, str)):
        return len(held)
    return sum(map(len, held)) if isinstance(held, list) else held.characters


def _ranges(source: Source, said: dict[str, Any]) -> Iterator[Part]:
    """Rows of a Parquet file by its footer, which also tells whether it is the same file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    raw = source.seekable()
    try:
        with pq.ParquetFile(raw) as file:
            column_names(file.schema_arrow.names, source)
            total, groups = file.metadata.num_rows, file.metadata.num_row_groups
            size = sum(file.metadata.row_group(group).total_byte_size for group in range(groups))
            raw.seek(0, 2)
            length = raw.tell()
            raw.seek(max(0, length - _FOOTER))
            identity = f"{length} {hashlib.blake2b(raw.read(), digest_size=16).hexdigest()}"
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        what = f"is not a readable Parquet file ({str(error).splitlines()[0][:120]})"
        raise InputError(what, where=source.name, todo="Write it anew") from error
    rows = max(1, min(settings.part_pages, settings.part_bytes * total // max(size, 1)))
    for first in range(0, total, rows):
        size = min(rows, total - first)
        yield Part(kind="range", first=first + 1, rows=size, identity=identity, share=(first + size) / total, **said)


def is_input(text: str) -> bool:
    """Whether something that was typed is a file or a folder rather than a text."""
    return text == "-" or is_remote(text) or (len(text) < 4096 and "\0" not in text and Path(text).exists())
