"""Inputs to parts: files, folders and standard input, cut after so many rows or bytes, always in the same places."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from batag.catalogue.columns import other_columns
from batag.catalogue.part import Entry, Part
from batag.catalogue.place import is_remote, local, names_under, whole_name
from batag.errors import InputError, UsageError
from batag.pages.file import once_only, open_file
from batag.pages.formats import check_format, detect_format, format_of_name, pages_of
from batag.pages.formats.delimited import column_names, table_rows
from batag.pages.formats.jsonl import check_keys
from batag.pages.formats.parquet import check_rows
from batag.pages.formats.xlsx import SheetRows
from batag.pages.problems import SKIPPED_PAGE, Problem, Problems
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
        """Standard input and pipes cannot be read twice."""
        return not any(map(once_only, self.paths))

    def identities(self) -> list[dict[str, Any]]:
        """What tells whether a file is still the one that a job began with; its rows are compared as they are read again."""
        return [{"name": path, "bytes": None if once_only(path) else _size(path)} for path in self.paths]

    def check_alike(self, format: str) -> None:
        """Whether the columns of all inputs fit into one table; JSON lines fit whatever they hold."""
        seen: dict[Any, str] = {}
        for path in self.paths if format != "jsonl" and len(self.paths) > 1 else ():
            seen.setdefault(self._columns(path), path)
        if len(seen) > 1:
            raise other_columns(*list(seen.items())[:2])

    def _columns(self, path: str) -> Any:
        """Names (and types) of the columns of a table; nothing for what becomes one of ours."""
        if once_only(path):
            return None
        source = open_source(path, problems=Problems(), encoding=self.encoding, columns=self.columns, language=self.language)
        try:
            name = self.format or detect_format(source)
            if name in ("csv", "tsv"):
                header = table_rows(source, "\t" if name == "tsv" else None).header
                return spelt(header, column_names(header, source))
            if name == "xlsx":
                sheet = SheetRows(source)
                return spelt(sheet.header, sheet.names)
            if name != "parquet" or source.packed:
                return None
            import pyarrow.parquet as pq

            with pq.ParquetFile(source.seekable()) as file:
                return tuple((each.name, str(each.type)) for each in file.schema_arrow)
        except (OSError, ValueError):  # said when it is read
            return None
        finally:
            source.close()

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
            if name == "parquet" and not source.packed and not once_only(path):
                yield from _ranges(source, said)
            elif name == "jsonl":
                check_keys(source)
                yield from _cut(_lines(source), said | {"kind": "lines"}, source)
            elif name in ("csv", "tsv"):
                rows = table_rows(source, "\t" if name == "tsv" else None)
                names = tuple(column_names(rows.header, source))
                header = spelt(rows.header, names)
                yield from _cut(_cells(source, rows), said | {"kind": "cells", "names": names, "header": header}, source)
            elif name == "xlsx":
                sheet = SheetRows(source)
                names = tuple(sheet.names)
                header = spelt(sheet.header, names)
                entries = ((number, number - 1, cells) for number, cells in _with_failures(source, sheet))
                yield from _cut(entries, said | {"kind": "sheet", "names": names, "header": header}, source)
            else:
                yield from _cut(_pages(source, name), said | {"kind": "pages"}, source)
        finally:
            source.close()


def find_inputs(given: Iterable[str], *, format: str | None, out: str = "", one_file: bool = False) -> tuple[str, ...]:
    """Files as they are, and of folders all that look like pages, by name; nothing that a job wrote into `out` itself. If `out`
    is `one_file`, it may not lie in such a folder."""
    if format is not None:
        check_format(format)
    found: list[str] = []
    target = whole_name(out) if out else None
    for each in map(local, given):
        inside = names_under(each)
        if target is not None and (_lies_in(each, target) if inside is None else whole_name(each) == target):
            raise UsageError("the pages would be written where they are read", where=each, todo="Name another folder")
        if inside is None:
            found.append(each)
            continue
        if one_file and target is not None and _lies_in(target, whole_name(each)):
            what = f"lies in {each}, whose files are read: the next time it would be read as pages"
            raise UsageError(what, where=out, todo="Name a file outside this folder")
        own = [name for name in inside if format is not None or format_of_name(name)]
        own = [name for name in own if target is None or not _lies_in(name, target)]
        if not own:
            raise InputError("holds no file of pages", where=each, todo="Name files, or say --format")
        found += own
    return tuple(found)


def _lies_in(path: str, folder: str) -> bool:
    return whole_name(path).startswith(f"{folder}/")


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


def _pages(source: Source, format: str) -> Iterator[Entry]:
    queue, problems = _Queue(), source.problems
    source.problems = queue
    number = 0
    for page in chain(pages_of(source, format), [None]):
        for problem in queue.taken(problems):
            number += 1
            yield number, number, f"{problem.where}: {problem.reason}"
        if page is not None:
            number += 1
            yield number, number, page


def _with_failures(source: Source, rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Rows, and in the place of one that the reader skipped the reason."""
    queue, whole = _Queue(), source.problems
    source.problems = queue
    for number, row in chain(rows, [(0, None)]):
        for problem in queue.taken(whole):
            place = re.search(r"\d+$", problem.where)
            yield int(place[0]) if place else 0, f"{problem.where}: {problem.reason}"
        if row is not None:
            yield number, row


class _Queue(Problems):
    """Problems until somebody takes them; none is too many."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Problem] = []

    def add(self, kind: str, where: str, reason: str, *, page: str = "") -> None:
        self.waiting.append(Problem(kind, where, reason, page))

    def taken(self, whole: Problems) -> list[Problem]:
        """Those that cost a page; the others go to `whole`."""
        waiting, self.waiting = self.waiting, []
        for problem in waiting:
            if problem.effect != SKIPPED_PAGE:
                whole.add(problem.kind, problem.where, problem.reason, page=problem.page)
        return [problem for problem in waiting if problem.effect == SKIPPED_PAGE]


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
    return sum(len(str(cell)) for cell in held if cell) if isinstance(held, list) else held.characters


def _ranges(source: Source, said: dict[str, Any]) -> Iterator[Part]:
    """Rows of a Parquet file by its footer, which also tells whether it is the same file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    raw = source.seekable()
    try:
        with pq.ParquetFile(raw) as file:
            column_names(file.schema_arrow.names, source)
            groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
            check_rows(file.metadata, raw, source.name)
            sizes = [(group.num_rows, group.total_byte_size) for group in groups]
            raw.seek(0, 2)
            length = raw.tell()
            raw.seek(max(0, length - _FOOTER))
            identity = f"{length} {hashlib.blake2b(raw.read(), digest_size=16).hexdigest()}"
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        what = f"is not a readable Parquet file ({str(error).splitlines()[0][:120]})"
        raise InputError(what, where=source.name, todo="Write it anew") from error
    total, first = sum(rows for rows, _ in sizes), 0
    for rows in _rows_of_parts(sizes):
        yield Part(kind="range", first=first + 1, rows=rows, identity=identity, share=(first + rows) / total, **said)
        first += rows


def _rows_of_parts(groups: Iterable[tuple[int, int]]) -> Iterator[int]:
    """How many rows each part has, of row groups with so many rows and bytes; a row counts as its group's mean."""
    taken, size = 0, 0.0
    for rows, length in groups:
        each = length / max(rows, 1)
        while rows:
            room = min(settings.part_pages - taken, int((settings.part_bytes - size) / each) if each else settings.part_pages)
            if room < 1 and taken:
                yield taken
                taken, size = 0, 0.0
                continue
            more = min(rows, max(room, 1))
            taken, size, rows = taken + more, size + more * each, rows - more
    if taken:
        yield taken


def spelt(header: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """The columns' names as they came, or where one is empty or stands twice, ours."""
    own = [each.strip() for each in header]
    times = Counter(own)
    return tuple(each if each and times[each] == 1 else name for each, name in zip(own, names, strict=True))


def is_input(text: str) -> bool:
    """Whether something that was typed is a file or a folder rather than a text."""
    return text == "-" or is_remote(text) or (len(text) < 4096 and "\0" not in text and Path(local(text)).exists())
