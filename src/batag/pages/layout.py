"""The key `batag` of a row that batag wrote: the columns of its fields, and its escaped cells."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

KEY = "batag"
_UNSEEN = "\\s\\x00-\\x1f\\x7f-\\xa0\\xad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff"
_FORMULA = re.compile(f"[\\t\\r\\n]|[{_UNSEEN}]*[=+\\-@＝＋－＠﹦﹢﹣﹫]")


@dataclass(frozen=True)
class Layout:
    """`columns` maps each field to its column in the file (from `--columns`); `escaped` are the cells with an apostrophe in
    front."""

    columns: Mapping[str, str] = field(default_factory=dict)
    escaped: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The layout as a JSON object; empty for a row with standard columns and no escaped cells."""
        columns = {"columns": dict(self.columns)} if self.columns else {}
        return columns | ({"escaped": list(self.escaped)} if self.escaped else {})

    def columns_of(self, record: Mapping[str, Any]) -> dict[str, str]:
        """The key of each field in a record."""
        return {field: self.column_of(field, record) for field in self.columns}

    def column_of(self, field: str, record: Mapping[str, Any]) -> str:
        """The key of a field in a record; known column names of tables are in lower case."""
        column = self.columns.get(field, field)
        return column if column in record else column.lower()


def layout_of(record: Mapping[str, Any]) -> Layout | None:
    """Read the layout of a record; None if it has no valid key `batag`."""
    found = record.get(KEY)
    if isinstance(found, str) and found.startswith("{"):
        try:
            found = orjson.loads(found)
        except orjson.JSONDecodeError:
            return None
    if not isinstance(found, Mapping) or not found.keys() or found.keys() - {"columns", "escaped"}:
        return None
    columns, escaped = found.get("columns", {}), found.get("escaped", [])
    if not isinstance(columns, Mapping) or not isinstance(escaped, list):
        return None
    if not all(isinstance(text, str) for text in (*columns, *columns.values(), *escaped)):
        return None
    return Layout(dict(columns), tuple(escaped))


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet may take a cell for a formula."""
    return _FORMULA.match(cell) is not None


def escape(cell: str) -> str:
    """A cell that a spreadsheet does not run: one that starts like a formula gets an apostrophe in front."""
    return f"'{cell}" if is_formula(cell) else cell


def unescaped(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its escaped cells restored, according to its layout."""
    layout = layout_of(record)
    if layout is None or not layout.escaped:
        return dict(record)
    columns = {layout.column_of(name, record) for name in layout.escaped}
    plain = {
        key: value[1:] if key in columns and isinstance(value, str) and value.startswith("'") else value
        for key, value in record.items()
        if key != KEY
    }
    return plain | ({KEY: Layout(layout.columns).record()} if layout.columns else {})
