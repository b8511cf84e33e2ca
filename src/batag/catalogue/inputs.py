"""Split inputs (files, folders, standard input) into parts of a bounded number of rows and bytes, always at the same places."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any

from batag.catalogue.part import Part
from batag.catalogue.place import is_remote, local, names_under, whole_name
from batag.catalogue.rows import read_rows
from batag.errors import EmptyTableError, InputError, UsageError
from batag.pages.file import once_only, open_file
from batag.pages.formats import check_format, format_of_name
from batag.pages.formats.detection import detect_format
from batag.pages.formats.format import format_module
from batag.pages.formats.reading import Record, read_records
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.record import dump
from batag.pages.source import Source, open_source
from batag.segmentation.majority import HEAD_PAGES, usual_language
from batag.settings import settings

_MOST_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of a job and the options to read them with."""

    paths: tuple[str, ...]
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    usual_columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    encoding: str | None = None

    @property
    def resumable(self) -> bool:
        """Whether all inputs can be read again; standard input and pipes cannot."""
        return not any(map(once_only, self.paths))

    def identities(self) -> list[dict[str, Any]]:
        """Return name and size of each input, to notice that a file has changed since the job began. Its rows are compared when
        they are read again."""
        return [{"name": path, "bytes": None if once_only(path) else _size(path)} for path in self.paths]

    def check_alike(self) -> None:
        """Raise an error if the columns of the inputs do not fit into one table. Pipes are only checked when they are read."""
        seen: dict[tuple[str, ...], Part] = {}
        for path in self.paths if len(self.paths) > 1 else ():
            if not once_only(path):
                with suppress(EmptyTableError), self._opened(path) as (part, _):
                    seen.setdefault(part.table_columns, part)
        if len(seen) > 1:
            raise _other_columns(*list(seen.values())[:2])

    def parts(self, *, alike: bool = False, problems: Problems | None = None) -> Iterator[Part]:
        """Yield all parts in order, each with the usual language of its file. An unreadable file is an error before its first
        part; with `alike`, so are columns that differ from those of the first file. An empty table is
        one of the `problems` if these are given and there are other files."""
        first: Part | None = None
        for number, part in enumerate(self._with_languages(Problems(strict=True) if problems is None else problems)):
            first = first or part
            if alike and part.table_columns != first.table_columns:
                raise _other_columns(first, part)
            yield replace(part, number=number)

    def _with_languages(self, problems: Problems) -> Iterator[Part]:
        """Set the usual language of each part, which is found once from the beginning of its file, so that it does not depend
        on where parts are cut. It is not needed if the language is given."""
        for _, own in groupby(self._of_files(problems), key=lambda part: part.file):
            ahead: list[Part] = []
            language = usual_language(_first_pages(own, ahead))
            for part in chain(ahead, own):
                yield replace(part, usual_language=language)

    def _of_files(self, problems: Problems) -> Iterator[Part]:
        for file, path in enumerate(self.paths):
            with problems.reading_one_of(self.paths), self._opened(path) as (part, more):
                for each in more:
                    yield replace(part, file=file, **each)

    @contextmanager
    def _opened(self, path: str) -> Iterator[tuple[Part, Iterator[dict[str, Any]]]]:
        """Open a file and yield what its parts have in common, with an iterator of what each part adds."""
        reading = {name: getattr(self, name) for name in ("encoding", "columns", "usual_columns", "language")}
        source = open_source(path, **reading)
        try:
            format = self.format or detect_format(source)
            ranged = format == "parquet" and not source.packed and not once_only(path)
            more = _ranges(*format_module(format).row_groups(source)) if ranged else _cut(read_records(source, format), source)
            part = Part(
                source=source.name,
                stem=source.stem,
                format=format,
                names=source.names,
                header=source.header,
                types=source.types if ranged else (),
                columns=dict(source.columns),
                language=self.language,
            )
            yield part, more
        finally:
            source.close()


def find_inputs(given: Iterable[str], *, format: str | None, out: str = "", one_file: bool = False) -> tuple[str, ...]:
    """Return the files to read: given files as they are and, for a folder, all files in it that look like pages. Output of a
    job in `out` is left out; with `one_file`, `out` may not lie in such a folder."""
    if format is not None:
        check_format(format)
    found: list[str] = []
    target = whole_name(out) if out else None
    for each in map(local, given):
        inside = names_under(each)
        if target is not None and (_lies_in(each, target) if inside is None else whole_name(each) == target):
            raise UsageError("the output would be written into the input folder", where=each, todo="Name another folder")
        if inside is None:
            found.append(each)
            continue
        if one_file and target is not None and _lies_in(target, whole_name(each)):
            what = f"lies in {each}, which is read as input: the next time it would be read as pages"
            raise UsageError(what, where=out, todo="Name a file outside this folder")
        own = [name for name in inside if format is not None or format_of_name(name)]
        own = [name for name in own if target is None or not _lies_in(name, target)]
        if not own:
            raise InputError("contains no file of pages", where=each, todo="Name files, or use --format")
        found += own
    return tuple(found)


def is_input(text: str) -> bool:
    """Whether an argument is a file or a folder rather than a text."""
    return text == "-" or is_remote(text) or os.path.exists(local(text))


def _lies_in(path: str, folder: str) -> bool:
    return whole_name(path).startswith(f"{folder}/")


def _size(path: str) -> int | None:
    with open_file(path) as stream:
        return stream.seek(0, 2) if stream.seekable() else None


def _cut(records: Iterable[Record], source: Source) -> Iterator[dict[str, Any]]:
    """Group records into parts with a limited number of rows and bytes."""
    waiting: list[Record] = []
    content, size, first = hashlib.blake2b(digest_size=16), 0, 1

    def part(fraction: float) -> dict[str, Any]:
        own = {"rows": len(waiting), "records": tuple(waiting), "content": content.hexdigest()}
        return {"first": first, "fraction": fraction} | own

    for record in records:
        waiting.append(record)
        held = record.value if isinstance(record.value, bytes) else dump(record[2:])
        content.update(b"%d:%d:" % (record.number, len(held)))
        content.update(held)
        size += len(held)
        if len(waiting) == settings.part_pages or size >= settings.part_bytes:
            yield part(source.fraction_read() or 0.0)
            content, size, first, waiting = hashlib.blake2b(digest_size=16), 0, first + len(waiting), []
    if waiting:
        yield part(1.0)


def _ranges(groups: Sequence[tuple[int, int]], identity: str) -> Iterator[dict[str, Any]]:
    """Split the rows of a Parquet file into parts along its row groups."""
    total, first = sum(rows for rows, _ in groups), 0
    for rows in _rows_of_parts(groups):
        yield {"first": first + 1, "rows": rows, "fraction": (first + rows) / total, "content": identity}
        first += rows


def _rows_of_parts(groups: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield the number of rows of each part, from the (rows, bytes) of the row groups; every row of a group counts as its mean
    size."""
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


def _first_pages(parts: Iterator[Part], ahead: list[Part]) -> Iterator[Page]:
    """Yield the first pages of a file; the parts that were read for them are appended to `ahead`."""
    for part in parts:
        ahead.append(part)
        if part.language is not None:
            return
        few = replace(part, rows=min(part.rows, HEAD_PAGES), records=part.records[:HEAD_PAGES])
        yield from (page for page in read_rows(few, whole=False).pages if page is not None)


def _other_columns(one: Part, other: Part) -> InputError:
    """The error for two inputs with different columns."""
    if not one.table_columns or not other.table_columns:
        difference = "only one of them is a table of cells"
    else:
        pairs = [(one, set(other.table_columns)), (other, set(one.table_columns))]
        only = [(part, [each for each in part.table_columns if each not in others]) for part, others in pairs]
        difference = "; ".join(f"only {part.source} has {_listed(own)}" for part, own in only if own)
        difference = difference or f"in another order: {_listed(one.table_columns)} against {_listed(other.table_columns)}"
    what = f"has different columns than {one.source} ({difference})"
    return InputError(what, where=other.source, todo="Write to a folder, or tag each file by itself")


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _MOST_LISTED:,} more" if len(columns) > _MOST_LISTED else ""
    return ", ".join(columns[:_MOST_LISTED]) + more
