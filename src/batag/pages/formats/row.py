"""A page as one row of a table (CSV, Parquet, XLSX): plain columns, and JSON for structured values."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from batag.errors import InputError
from batag.pages.corrections import corrected, is_readable, readable
from batag.pages.fields import KNOWN_KEYS, STANDARD_FIELDS, check_columns, check_header, check_text_column, columns_in
from batag.pages.layout import KEY, Layout, unescaped
from batag.pages.page import Page, Tag
from batag.pages.record import RecordReader, dump, to_record
from batag.pages.source import Source
from batag.pages.tags import tag_record, yes_or_no

COLUMNS = ("id", "language", "shop", *STANDARD_FIELDS, "more")
"""The columns of batag's own tables before those of `ADDED`; `more` is a JSON object of everything else (other fields, tokens,
extra columns), often empty."""
ADDED = ("tags", "reviewed", "error")
"""The columns that are appended to a table: `tags` is a JSON list, `reviewed` true, false or (without labels) empty; `error` is
only written by tagging."""

_OWN = frozenset({*COLUMNS, *ADDED[:2], *KNOWN_KEYS, KEY})


@dataclass(frozen=True)
class Row:
    """A row to write: the cells of the input columns, its tags (None for not labelled), whether it was reviewed, its error, and
    the columns of its fields if they have other names."""

    cells: Sequence[Any]
    tags: Sequence[Tag] | None
    reviewed: bool | None = False
    error: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: str = ""

    def tags_text(self) -> str:
        return "" if self.tags is None else tags_json(self.tags)

    def reviewed_text(self) -> str:
        return "" if self.reviewed is None else dump(self.reviewed).decode()

    def layout_text(self, escaped: Sequence[str] = ()) -> str:
        """The cell of the column `batag`."""
        layout = Layout(self.columns, tuple(escaped)).record()
        return dump(layout).decode() if layout else ""


@dataclass
class Written:
    """The outcome of writing rows: escaped cells by column, and truncated cells by row number."""

    escaped: Counter[str] = field(default_factory=Counter)
    cut: dict[int, str] = field(default_factory=dict)


def tags_json(tags: Iterable[Tag]) -> str:
    return dump([tag_record(tag) for tag in tags]).decode()


def to_cells(page: Page, *, also: Sequence[str] = ()) -> list[str]:
    """The texts of `COLUMNS`, and of columns of the page that stand `also` by themselves."""
    record = to_record(page)
    texts = [text_cell(record.pop(name, None)) for name in also]
    cells = [record.pop(name) if isinstance(record.get(name), str) else "" for name in COLUMNS[:-1]]
    # Tags that could not be read when the page came in are no tags: they go with everything else.
    if page.labelled:
        del record["tags"]
        record.pop("reviewed", None)
    if "fields" not in record and any(name in page.fields and not page.fields[name] for name in STANDARD_FIELDS):
        record["fields"] = dict(page.fields)
    return [*cells, dump(record).decode() if record or not page.labelled else "", *texts]


def to_row(page: Page, *, also: Sequence[str] = ()) -> Row:
    """A page as a row of batag's own table."""
    return Row(to_cells(page, also=also), page.tags if page.labelled else None, page.reviewed, where=f"page {page.id}")


def text_cell(value: Any) -> str:
    """A value as the text of a cell."""
    if value is None or isinstance(value, str):
        return value or ""
    return dump(value).decode() if isinstance(value, (bool, dict, list, tuple, bytes)) else str(value)


def page(reader: RecordReader, cells: Mapping[str, Any], *, where: str, number: int) -> Page | None:
    """The page of a row."""
    return reader.page(from_cells(cells), where=where, number=number)


def from_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a row, with escaped cells restored and corrections from readable columns applied."""
    plain = unescaped(cells) if KEY in cells else cells
    record = {key: value for key, value in plain.items() if value is not None}
    tags, more = _loads(record.get("tags"), "["), _loads(record.get("more"), "{")
    if isinstance(tags, list):
        repeating = {readable(str(tag.get("label"))) for tag in tags if isinstance(tag, Mapping)}
        empty = {key for key, value in record.items() if value == "" and is_readable(key)}
        mended = {"tags": corrected(tags, record)}
        record = {key: value for key, value in record.items() if key not in repeating | empty} | mended
    elif isinstance(given := record.get("tags"), list):
        # A struct's nulls are keys that a tag does not have.
        record["tags"] = [
            {key: value for key, value in tag.items() if value is not None} if isinstance(tag, dict) else tag for tag in given
        ]
    elif not (given or record.get("labels")) and yes_or_no(record.get("reviewed")) and any(map(is_readable, record)):
        # A table for people alone: what they have checked stands in the readable columns.
        mended = {"tags": corrected([], record)}
        record = {key: value for key, value in record.items() if not is_readable(key)} | mended
    if isinstance(more, dict):
        del record["more"]
        record |= more
    return {key: value for key, value in record.items() if value != "" or not (key in _OWN or is_readable(key))}


def _loads(cell: Any, opening: str) -> Any:
    if not isinstance(cell, str) or not cell.startswith(opening):
        return None
    try:
        return orjson.loads(cell)
    except orjson.JSONDecodeError:
        return None


def read_header(header: Iterable[Any], source: Source) -> None:
    """Set the column names of a table, with known names in lower case; an error lists them if none can be a field."""
    names = [str(name).strip() if name is not None else "" for name in header]
    check_header(names, where=source.name)
    check_columns(source.columns, names, where=source.name)
    source.columns = columns_in(names, columns=source.columns, usual=source.usual_columns)
    if not source.any_columns:
        check_text_column(source.columns, names, usual=source.usual_columns, where=source.name)
    mapped, own = set(source.columns.values()), {*COLUMNS, *ADDED[:2], *KNOWN_KEYS}
    known = [name if name in mapped or name.lower() not in own else name.lower() for name in names]
    times = Counter(known)
    for name in {*KNOWN_KEYS, *mapped}:
        if times[name] > 1 and name not in source.columns:
            raise InputError(f"has the column {name} more than once", where=source.name, todo="Rename all but one")
    firsts = {name: place for place, name in reversed(list(enumerate(known))) if name}
    unique = [name if firsts.get(name) == place else f"{name or 'column'}_{place + 1}" for place, name in enumerate(known)]
    for place, name in enumerate(unique):
        while firsts.setdefault(name, place) != place:  # a column has the name that another would get
            name += "_"
        unique[place] = name
    spelling = Counter(names)
    source.names = tuple(unique)
    source.header = tuple(each if each and spelling[each] == 1 else name for each, name in zip(names, unique, strict=True))
