"""The files that pages come from and go to: one module a format, found by name, by content or by the file's name."""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from batag.errors import BatagError, InputError, UsageError
from batag.pages.file import open_output
from batag.pages.languages import check_language
from batag.pages.layout import KEY
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.signatures import text_kind
from batag.pages.source import Source, open_source
from batag.settings import settings


@dataclass(frozen=True)
class Format:
    """Where a format lives and what its files are called."""

    module: str
    suffixes: tuple[str, ...] = ()
    writes: bool = True
    reading: tuple[tuple[str, Any], ...] = ()
    writing: tuple[tuple[str, Any], ...] = ()


FORMATS = {
    "jsonl": Format("jsonl", (".jsonl", ".ndjson")),
    "csv": Format("delimited", (".csv",)),
    "tsv": Format("delimited", (".tsv",), reading=(("mark", "\t"),), writing=(("mark", "\t"),)),
    "parquet": Format("parquet", (".parquet", ".pq")),
    "xlsx": Format("xlsx", (".xlsx", ".xlsm")),
    "conll": Format("columns", (".conll", ".bio", ".iob")),
    "words": Format("columns", (".words",), writing=(("scheme", "flat"),)),
    "label-studio": Format("label_studio"),
    "doccano": Format("doccano"),
    "spans": Format("spans", writes=False),
}
NEEDS_TOKENS = frozenset({"conll", "words"})
WITHOUT_SOURCES = frozenset({"conll", "words"})
"""Formats that cannot say who set a tag, nor whether a person has seen a page."""


class PageReader(Iterator[Page]):
    """The pages of one input, and how far it is read; `usual_language` is given to pages that do not say theirs."""

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
        """The first pages, as many as are asked for; they come again."""
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
    language: str | None = None,
    encoding: str | None = None,
    problems: Problems | None = None,
) -> PageReader:
    """The pages of a file (`-`: standard input), streaming; what is wrong with it is collected in `problems`."""
    problems = Problems() if problems is None else problems
    language = check_language(language) if language is not None else None
    if format is not None:
        check_format(format)
    source = open_source(path, problems=problems, encoding=encoding, columns=columns or {}, language=language)
    try:
        name = format or detect_format(source)
    except InputError:
        source.close()
        raise
    return PageReader(source, pages_of(source, name), format=name)


def pages_of(source: Source, format: str) -> Iterator[Page]:
    """The pages of an opened input."""
    return _unique(_module(format).read(source, **dict(FORMATS[format].reading)), source.problems)


def write_pages(pages: Iterable[Page], path: Path | str, *, format: str | None = None, **options: Any) -> None:
    """Write pages to a file that appears only when complete; the format is told by its name if not given."""
    name = format_to_write(path, format)
    with open_output(path) as stream:
        write_stream(pages, stream, format=name, **options)


def format_to_write(path: Path | str, said: str | None) -> str:
    """The format to write: as said, or by the file's name; JSON lines on standard output."""
    name = check_format(said) if said else "jsonl" if str(path) == "-" else format_of_name(path)
    if name is None or not FORMATS[name].writes:
        writable = ", ".join(each for each, format in FORMATS.items() if format.writes)
        what = f"cannot tell which format to write to {path}"
        raise UsageError(what, todo=f"Say --to with one of {writable}", python=f"Give format=, one of {writable}")
    if name == "xlsx" and Path(path).suffix.lower() == ".xlsm":
        raise UsageError(f"{path} would be a workbook with macros", todo="Name it .xlsx")
    if name in ("parquet", "xlsx") and Path(path).suffix in (".gz", ".zst"):
        raise UsageError(f"{path} would be compressed twice", todo=f"It is compressed inside: name it .{name}")
    return name


def write_stream(pages: Iterable[Page], stream: BinaryIO, *, format: str, **options: Any) -> None:
    """Write pages to an open stream."""
    write: Callable[..., None] = _module(format).write
    write(pages, stream, **dict(FORMATS[format].writing), **options)


def check_format(name: str) -> str:
    """The name, if it is a format's; else an error that offers the nearest."""
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"{name!r} is not a format", todo=f"{hint}There are {', '.join(FORMATS)}")
    return name


def format_of_name(path: Path | str) -> str | None:
    """The format that a file's name announces, compression aside."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() not in (".gz", ".zst")]
    last = suffixes[-1] if suffixes else ""
    return next((name for name, each in FORMATS.items() if last in each.suffixes), None)


def detect_format(source: Source) -> str:
    """The format of a file by its content, then by its name."""
    from batag.pages.formats.column_layout import looks_like_columns
    from batag.pages.formats.delimited import looks_like_table, separator

    head = source.head
    named = format_of_name(source.name)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    if (known := text_kind(head)) is not None:
        raise InputError(f"is {known[0]}", where=source.name, todo=known[1])
    text = head.decode(errors="replace")
    start = text.lstrip()[:1]
    if not start:
        return named or "jsonl"
    if start in "[{" and (first := _first_record(head, array=start == "[")) is not None:
        return _detect_json(first, array=start == "[")
    if named in ("csv", "tsv", "conll", "words", "jsonl") and not (named == "tsv" and not looks_like_table(text)):
        return named
    if source.columns or looks_like_table(text):
        return "tsv" if separator(text) == "\t" else "csv"
    if looks_like_columns(text):
        return "words" if "\t" in text else "conll"
    if named is not None:
        return named
    lines = "One title a line is read by batag tag from standard input, if no file is named: batag tag RUN < titles.txt"
    todo = f"Say it, as in --format conll (there are {', '.join(FORMATS)}). {lines}"
    python = f'Say it, as in format="conll" (there are {", ".join(FORMATS)})'
    raise InputError("is in a format that cannot be told from its content or name", where=source.name, todo=todo, python=python)


def _detect_json(first: Mapping[str, Any], *, array: bool) -> str:
    """Which tool wrote it, by the keys of the first record."""
    layout = isinstance(first.get("fields"), Mapping) and all(isinstance(each, list) for each in first["fields"].values())
    ours = {"title", "description", KEY} & first.keys() or ("fields" in first and not layout)
    if array:
        from batag.pages.formats.label_studio import is_result

        tasks = {"annotations", "completions", "data"} & first.keys() and not ours
        return "label-studio" if tasks or any(map(is_result, first.values())) else "spans"
    labels = {"label", "labels", "entities"} & first.keys()
    return "doccano" if {"text", "data"} & first.keys() and (labels or layout) and not ours else "jsonl"


def _first_record(head: bytes, *, array: bool) -> Mapping[str, Any] | None:
    """The first record, or as much of its keys as can be seen; None if it does not look like JSON at all."""
    import orjson

    from batag.pages.formats.array import split_array

    text = head.lstrip()
    if array and text[1:].lstrip()[:1] not in (b"{", b"]", b""):
        return None
    try:
        first = next(split_array(BytesIO(head)), None) or b"{}" if array else text.split(b"\n", 1)[0]
    except EOFError:
        first = text
    try:
        record = orjson.loads(first or b"{}")
    except orjson.JSONDecodeError:
        # Longer than what was looked at, or bad: the names that stand at its beginning have to do.
        names = [name.decode(errors="replace") for name in re.findall(rb'"([a-z_]+)"\s*:', first[:20_000])]
        return dict.fromkeys(names) if names or b'"' in first[:100] else None
    return record if isinstance(record, dict) else {}


def _module(name: str) -> Any:
    return import_module(f"batag.pages.formats.{FORMATS[name].module}")


def _unique(pages: Iterator[Page], problems: Problems) -> Iterator[Page]:
    """The same pages; an id that stood before is noted (by its hash, so that memory stays small)."""
    seen = problems.ids
    for page in pages:
        key = hash(page.id)
        if key in seen:
            problems.add("duplicate-id", page.where, f"the id {page.id!r} stood on an earlier page", page=page.id)
        elif len(seen) < settings.remembered_ids:
            seen.add(key)
        elif "ids-not-remembered" not in problems.counts:
            problems.add("ids-not-remembered", page.where, f"only the first {len(seen):,} ids are looked at for duplicates")
        yield page
