"""Read files into records and pages; `read_pages` and catalogue jobs both read every format this way."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from batag.errors import BatagError
from batag.pages.formats.detection import detect_format
from batag.pages.formats.format import FORMATS, check_format, format_module
from batag.pages.languages import check_language
from batag.pages.page import Page
from batag.pages.problems import SKIPPED_PAGE, Notes, Problem, Problems
from batag.pages.record import RecordReader
from batag.pages.source import Source, open_source
from batag.settings import settings


class Record(NamedTuple):
    """A record of an input: its place (file:line), number, value (None if unreadable) and problems."""

    where: str
    number: int
    value: Any
    problems: tuple[Problem, ...] = ()


def read_records(source: Source, format: str) -> Iterator[Record]:
    """Yield the records of an opened input; an unreadable record is yielded without a value. A problem of the whole file, such
    as a bad header, is an error before the first record."""
    return _records(format_module(format).read(source, **dict(FORMATS[format].reading)), source)


def _records(rows: Iterator[tuple[str, int, Any]], source: Source) -> Iterator[Record]:
    notes: list[Problem] = []
    for where, number, value in chain(rows, [("", 0, None)]):
        for problem in source.problems.take():
            notes.append(problem)
            if problem.effect == SKIPPED_PAGE:
                yield Record(problem.where, 0, None, tuple(notes))
                notes = []
        if value is not None:
            yield Record(where, number, value, tuple(notes))
            notes = []


class PageMaker:
    """Makes pages from the records of one input."""

    def __init__(
        self, format: str, *, stem: str, columns: Mapping[str, str], language: str | None = None, tags: bool = True
    ) -> None:
        self._notes = Notes()
        self._reader = RecordReader(problems=self._notes, stem=stem, columns=columns, language=language, tags=tags)
        module = format_module(format)
        self._parse: Any = getattr(module, "parse", None)
        self._page: Any = getattr(module, "page", RecordReader.page)

    def __call__(self, record: Record) -> tuple[Page | None, Any, tuple[Problem, ...]]:
        """The page of a record and the value it was made from (both None if there is none), and all problems."""
        where, number, value, problems = record
        if value is not None and self._parse is not None:
            value = self._parse(value, self._notes.at(where))
        page = self._page(self._reader, value, where=where, number=number) if value is not None else None
        return page, value, problems + self._notes.take()


class PageReader(Iterator[Page]):
    """An iterator over the pages of one input; `usual_language` is set on pages without a language."""

    def __init__(self, source: Source, pages: Iterator[Page], *, format: str) -> None:
        self.source, self.format, self._pages = source, format, pages
        self.usual_language: str | None = None
        self._waiting: deque[Page] = deque()

    def __next__(self) -> Page:
        page = self._waiting.popleft() if self._waiting else self._read()
        if self.usual_language is None or page.language is not None:
            return page
        return replace(page, usual_language=self.usual_language)

    def ahead(self) -> Iterator[Page]:
        """Yield the first pages without consuming them."""
        try:
            while (page := next(self._pages, None)) is not None:
                self._waiting.append(page)
                yield page
        except BatagError:
            self.source.close()
            raise

    def _read(self) -> Page:
        try:
            return next(self._pages)
        except BaseException:  # the last page, an error: either way the file is done with
            self.source.close()
            raise

    def __del__(self) -> None:
        self.source.close()


def read_pages(
    path: Path | str,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    usual_columns: Mapping[str, str] | None = None,
    language: str | None = None,
    encoding: str | None = None,
    problems: Problems | None = None,
) -> PageReader:
    """Read the pages of a file (`-` for standard input) one by one; problems are collected in `problems`.

    A column of `columns` that the file does not have is an error; `usual_columns`, those of a bundle, are read if they exist.
    """
    problems = Problems() if problems is None else problems
    language = check_language(language) if language is not None else None
    if format is not None:
        check_format(format)
    source = open_source(path, encoding=encoding, columns=columns, usual_columns=usual_columns, language=language)
    try:
        name = format or detect_format(source)
    except BatagError:
        source.close()
        raise
    return PageReader(source, _pages(source, name, problems), format=name)


def _pages(source: Source, format: str, problems: Problems) -> Iterator[Page]:
    """Yield the pages of an opened input; a repeated id is noted (ids are remembered by hash to save memory)."""
    records = read_records(source, format)
    make = PageMaker(format, stem=source.stem, columns=source.columns, language=source.language)
    seen = problems.ids
    for record in records:
        page, _, found = make(record)
        for problem in found:
            problems.report(problem)
        if page is None:
            continue
        key = hash(page.id)
        if key in seen:
            problems.add("duplicate-id", page.where, f"the id {page.id!r} is already the id of an earlier page", page=page.id)
        elif len(seen) < settings.remembered_ids:
            seen.add(key)
        elif "ids-not-remembered" not in problems.counts:
            problems.add("ids-not-remembered", page.where, f"only the first {len(seen):,} ids are checked for duplicates")
        yield page
