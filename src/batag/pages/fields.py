"""The text fields of a page, in one place (a new standard field is a new name in `STANDARD_FIELDS`), and which column of a file
is which field (`--columns title=name`)."""

from collections.abc import Iterable, Mapping
from typing import Any

from batag.errors import InputError, nearest

STANDARD_FIELDS = ("title", "description")
"""Fields that every file may have under their own names, in the order in which they are read. A page may have others: under
`fields`, or mapped with `--columns`."""
MAIN_FIELD = STANDARD_FIELDS[0]
"""The field of a text that names none. In a page's words every other field is announced by `<name>`."""
KNOWN_KEYS = frozenset({"id", "language", "shop", "fields", "tags", "labels", "reviewed", "tokens", *STANDARD_FIELDS})
"""What a record may hold that batag reads; all else is kept in `Page.extra`."""


def renamed(record: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The record with our names for its columns; one that has such a name itself but is not meant stays, as `title_`."""
    theirs = set(columns.values())
    mapped = {name: record.get(column) for name, column in columns.items()}
    others = {key: value for key, value in record.items() if key not in theirs}
    for name in [key for key in others if key in mapped]:
        free = f"{name}_"
        while free in record or free in mapped:
            free += "_"
        others[free] = others.pop(name)
    return mapped | others


def check_columns(columns: Mapping[str, str], names: Iterable[str], *, where: str) -> None:
    """An error that lists the names if a column that was asked for is none of them."""
    there = list(filter(None, names))
    if (missing := _missing(columns, there)) is not None:
        ours, theirs = missing
        todo = " ".join(filter(None, (meant_columns(columns, there), f"The columns are {', '.join(there) or 'none'}")))
        raise InputError(f"has no column {theirs!r} (wanted as {ours})", where=where, todo=todo)


def meant_columns(columns: Mapping[str, str], names: Iterable[str]) -> str:
    """What to write instead of a mapping that does not fit: turned round, or with the nearest name; empty if none is near."""
    there = [name for name in names if name]
    if (missing := _missing(columns, there)) is None:
        return ""
    ours, theirs = missing
    turned = {field: column for field, column in columns.items() if column not in there}
    if all(field in there for field in turned) and not KNOWN_KEYS.isdisjoint(turned.values()):
        pairs = (f"{column}={field}" if field in turned else f"{field}={column}" for field, column in columns.items())
        return f"Did you mean --columns {','.join(pairs)}? The field comes first, then the file's column."
    if "=" in theirs:
        return "Put commas between the pairs: title=name,description=body."
    near = nearest(theirs, there)
    return f"Did you mean --columns {ours}={near}?" if near else ""


def _missing(columns: Mapping[str, str], names: Iterable[str]) -> tuple[str, str] | None:
    """The first (field, column) whose column is none of the names, or None."""
    there = set(names)
    return next((pair for pair in columns.items() if pair[1] not in there), None)
