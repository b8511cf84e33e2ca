"""The shop's export, row by row as it is: every row and cell that it has, and the page that the catalogue job made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from batag.catalogue.inputs import Inputs
from batag.errors import EmptyTableError, InputError
from batag.pages.fields import KNOWN_KEYS
from batag.pages.formats import FORMATS
from batag.pages.formats.delimited import raw_rows
from batag.pages.formats.detection import detect_format
from batag.pages.formats.reading import PageMaker, Record, read_records
from batag.pages.formats.row import COLUMNS, read_header, to_cells
from batag.pages.layout import KEY, unescaped
from batag.pages.page import Page
from batag.pages.problems import SKIPPED_PAGE
from batag.pages.source import Source, open_source
from batag.segmentation.majority import usual_language

_MOST_KEYS = 1_000
_DELIMITED = ("csv", "tsv")


@dataclass(frozen=True, kw_only=True)
class Export:
    """The files of a shop and how the job read them; the names of the columns with brand and category, and of the one whose
    repeated value marks the variants of a product (`group`)."""

    paths: tuple[str, ...]
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    usual_columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    encoding: str | None = None
    brand: str | None = None
    category: str | None = None
    group: str | None = None

    @classmethod
    def of(cls, inputs: Inputs, *, brand: str | None = None, category: str | None = None, group: str | None = None) -> Export:
        """The export that a job reads."""
        reading: dict[str, Any] = {
            name: getattr(inputs, name) for name in ("paths", "format", "columns", "usual_columns", "language", "encoding")
        }
        return cls(**reading, brand=brand, category=category, group=group)

    def header(self) -> tuple[str, ...]:
        """The names of the columns: those of the file, or of all files one after the other without repetition."""
        found = [(file.header, file.unique) for file in self.files()]
        if len({*found}) <= 1:
            return found[0][0] if found else ()
        return tuple(dict.fromkeys(name for _, unique in found for name in unique))

    def files(self) -> Iterator[ExportFile]:
        """The files with their columns; one that is an empty table among others is left out."""
        for path in self.paths:
            try:
                yield ExportFile.open(self, path)
            except EmptyTableError:
                if len(self.paths) == 1:
                    raise

    def rows(self) -> Iterator[ExportRow]:
        """All rows of all files, with their cells in the order of `header`."""
        whole = self.header()
        for file in self.files():
            places = {name: place for place, name in enumerate(file.unique)}
            order = None if file.header == whole else [places.get(name) for name in whole]
            for row in file.rows():
                yield row if order is None else replace(row, cells=[None if at is None else row.cells[at] for at in order])


@dataclass(frozen=True, slots=True)
class ExportRow:
    """A row: its cells, its page (None if it is none), its fields as tags name them, and whether the job knows the row (it does
    not know empty ones)."""

    cells: Sequence[Any]
    page: Page | None
    where: str
    fields: Mapping[str, str] = field(default_factory=dict)
    in_job: bool = True


@dataclass(frozen=True)
class ExportFile:
    """One file: its format, the names of its columns as they are written, these without repetition, and the keys of its
    records."""

    export: Export
    path: str
    format: str
    header: tuple[str, ...]
    unique: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def open(cls, export: Export, path: str) -> ExportFile:
        """Read the names of the columns; for JSON that is one pass over the file."""
        source = _opened(export, path)
        try:
            format = export.format or detect_format(source)
            kind = FORMATS[format].kind
            if format in _DELIMITED:
                header, _ = raw_rows(source, separator=_separator(format))
                read_header(header, source)
                return cls(export, path, format, tuple(header), source.header, source.names)
            if kind == "pages":
                return cls(export, path, format, COLUMNS, COLUMNS, COLUMNS)
            records = read_records(source, format)
            if kind == "table":
                return cls(export, path, format, source.header, source.header, source.names)
            keys = _keys(records, PageMaker(format, stem=source.stem, columns=source.columns, tags=False))
            return cls(export, path, format, keys, keys, keys)
        finally:
            source.close()

    def rows(self) -> Iterator[ExportRow]:
        """The rows with their pages, as the job read them."""
        usual = None if self.export.language else self._usual_language()
        source = _opened(self.export, self.path)
        try:
            yield from self._delimited(source, usual) if self.format in _DELIMITED else self._records(source, usual)
        finally:
            source.close()

    def _usual_language(self) -> str | None:
        source = _opened(self.export, self.path)
        try:
            if self.format in _DELIMITED:
                return usual_language(row.page for row in self._delimited(source, None) if row.page is not None)
            return usual_language(row.page for row in self._records(source, None) if row.page is not None)
        finally:
            source.close()

    def _maker(self, source: Source, usual: str | None) -> Callable[[Record], tuple[Page | None, Any]]:
        make = PageMaker(self.format, stem=source.stem, columns=source.columns, language=self.export.language, tags=False)

        def made(record: Record) -> tuple[Page | None, Any]:
            page, value, _ = make(record)
            if page is not None and page.language is None and usual is not None:
                page = replace(page, usual_language=usual)
            return page, value

        return made

    def _fields(self, source: Source) -> dict[str, str]:
        """Our field by the name that a tag has in the job's parts: the column as the file spells it."""
        if FORMATS[self.format].kind == "pages":
            return {}
        spelling = dict(zip(source.names, source.header, strict=True))
        texts = {
            name: each for name, each in source.columns.items() if name not in KNOWN_KEYS or name in ("title", "description")
        }
        return {spelling.get(column, column): name for name, column in reversed(texts.items())}

    def _delimited(self, source: Source, usual: str | None) -> Iterator[ExportRow]:
        unread: dict[str, str] = {}
        separator = _separator(self.format)
        header, lines = raw_rows(
            source, separator=separator, unread=lambda line, text: unread.update({source.where(line): text})
        )
        read_header(header, source)
        make, fields, width = self._maker(source, usual), self._fields(source), len(header)
        empty = [""] * width

        def lost() -> Iterator[ExportRow]:
            """The rows that could not be read until here; their text is in the first cell."""
            for problem in source.problems.take():
                if problem.effect == SKIPPED_PAGE:
                    text = unread.pop(problem.where, "").rstrip("\r\n")
                    yield ExportRow([text, *empty[1:]], None, problem.where)

        for number, (line, cells) in enumerate(lines, 1):
            yield from lost()
            where = source.where(line)
            if not any(cells):
                if len(cells) > 1:
                    yield ExportRow(empty, None, where, in_job=False)
                continue
            while len(cells) > width and not cells[-1]:
                cells.pop()
            if len(cells) > width:
                # What is too much stays, in the last cell.
                yield ExportRow([*cells[: width - 1], (separator or ",").join(cells[width - 1 :])], None, where)
                continue
            page, _ = make(Record(where, number, dict(zip(source.names, cells, strict=False))))
            yield ExportRow([*cells, *empty[len(cells) :]], page, where, fields)
        yield from lost()

    def _records(self, source: Source, usual: str | None) -> Iterator[ExportRow]:
        records = read_records(source, self.format)
        make, fields = self._maker(source, usual), self._fields(source)
        kind = FORMATS[self.format].kind
        for record in records:
            page, value = make(record)
            if kind == "pages":
                cells: Sequence[Any] = to_cells(page) if page is not None else [""] * len(COLUMNS)
            elif value is None:
                held = record.value.decode(errors="replace").strip() if isinstance(record.value, bytes) else ""
                cells = [held, *[None] * (len(self.names) - 1)]
            else:
                plain = unescaped(value) if KEY in value else value
                cells = [plain.get(name) for name in self.names]
            yield ExportRow(cells, page, record.where, fields)


def _opened(export: Export, path: str) -> Source:
    reading: dict[str, Any] = {name: getattr(export, name) for name in ("encoding", "columns", "usual_columns", "language")}
    return open_source(path, **reading)


def _separator(format: str) -> str | None:
    return dict(FORMATS[format].reading).get("separator")


def _keys(records: Iterator[Record], make: PageMaker) -> tuple[str, ...]:
    """The keys of all records; tags of an earlier job and batag's own key are not among them."""
    found: dict[str, None] = {}
    for record in records:
        _, value, _ = make(record)
        if isinstance(value, Mapping):
            found |= dict.fromkeys(map(str, value))
        if len(found) > _MOST_KEYS:
            what = f"has more than {_MOST_KEYS:,} different keys, too many for the columns of a table"
            raise InputError(what, where=record.where, todo="Export it with fewer columns")
    return tuple(name for name in found if name != KEY)
