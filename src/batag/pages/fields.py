"""The text fields of a page (add a standard field to `STANDARD_FIELDS`), and the mapping of fields to columns of a file
(`--columns title=name`)."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from batag.errors import EmptyTableError, InputError, nearest
from batag.pages.layout import KEY

STANDARD_FIELDS = ("title", "description")
"""Fields that are read from every file under their own names, in this order. Pages may have others, under `fields` or mapped
with `--columns`."""
MAIN_FIELD = STANDARD_FIELDS[0]
"""The field of a bare text. In the words of a page, every other field is preceded by `<name>`."""
KNOWN_KEYS = frozenset({"id", "language", "shop", "fields", "tags", "labels", "reviewed", "tokens", *STANDARD_FIELDS})
"""The keys of a record that batag reads; all others are kept in `Page.extra`."""
_EXAMPLE = dict(zip(STANDARD_FIELDS, ("name", "body"), strict=False))
EXAMPLE = ",".join(f"{field}={column}" for field, column in _EXAMPLE.items())
"""How `--columns` is written, for messages."""
_TEXTS = frozenset({*STANDARD_FIELDS, "fields", "more", KEY})


def renamed(record: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The record with its mapped columns under the names of the fields. A different column that already has such a name is kept
    with an underscore (`title_`)."""
    theirs = set(columns.values())
    mapped = {name: record.get(column) for name, column in columns.items()}
    others = {key: value for key, value in record.items() if key not in theirs}
    for name in [key for key in others if key in mapped]:
        free = f"{name}_"
        while free in record or free in mapped:
            free += "_"
        others[free] = others.pop(name)
    return mapped | others


def columns_in(names: Iterable[str], *, columns: Mapping[str, str], usual: Mapping[str, str]) -> dict[str, str]:
    """The columns to read a file with these names by: `columns` and, for other fields, the `usual` ones that exist in the
    file."""
    there = {*names} - {*columns.values()}
    return {**columns, **{field: column for field, column in usual.items() if field not in columns and column in there}}


def check_header(names: Iterable[str], *, where: str) -> None:
    """Raise an error if a table has no column at all."""
    if not any(names):
        what = f"is empty: a table begins with the names of its columns, such as {MAIN_FIELD}"
        raise EmptyTableError(what, where=where, todo="Leave the file out, or export it again")


def check_text_column(columns: Mapping[str, str], names: Iterable[str], *, usual: Mapping[str, str], where: str) -> None:
    """Raise an error that lists the columns if none of them can be read as a text field."""
    there = list(filter(None, names))
    if _TEXTS & {*columns, *map(str.lower, there)} or not columns.keys() <= {*KNOWN_KEYS, "error"}:
        return
    own = {column: f"{column} (as {field})" for field, column in usual.items() if field in STANDARD_FIELDS}
    own |= {column: column for field, column in usual.items() if field not in KNOWN_KEYS}
    *most, last = (own | dict(zip(STANDARD_FIELDS, STANDARD_FIELDS, strict=True))).values()
    todo, python = (f"Map one with {each}" for each in (f"--columns {MAIN_FIELD}=NAME", f'columns={{"{MAIN_FIELD}": "NAME"}}'))
    listed = f"; the columns are {', '.join(there) or 'none'}"
    raise InputError(f"has no column {', '.join(most)} or {last}", where=where, todo=todo + listed, python=python + listed)


def check_columns(columns: Mapping[str, str], names: Iterable[str], *, where: str) -> None:
    """Raise an error that lists the columns of the file if a mapped column is not one of them."""
    there = list(filter(None, names))
    if (missing := _missing(columns, there)) is not None:
        ours, theirs = missing
        listed = f"The columns are {', '.join(there) or 'none'}"
        meant = (meant_columns(columns, there, written=each) for each in (_on_command_line, _in_python))
        todo, python = (" ".join(filter(None, (each, listed))) for each in meant)
        raise InputError(f"has no column {theirs!r} (for the field {ours})", where=where, todo=todo, python=python)


def _on_command_line(columns: Mapping[str, str]) -> str:
    return f"--columns {','.join(f'{field}={column}' for field, column in columns.items())}"


def _in_python(columns: Mapping[str, str]) -> str:
    return f"columns={json.dumps(dict(columns), ensure_ascii=False)}"


def meant_columns(
    columns: Mapping[str, str], names: Iterable[str], *, written: Callable[[Mapping[str, str]], str] = _on_command_line
) -> str:
    """A correction of a wrong mapping: the other way round, or with the nearest column; empty if there is none."""
    there = [name for name in names if name]
    if (missing := _missing(columns, there)) is None:
        return ""
    ours, theirs = missing
    turned = {field: column for field, column in columns.items() if column not in there}
    if all(field in there for field in turned) and not KNOWN_KEYS.isdisjoint(turned.values()):
        meant = {(ours if field in turned else field): (field if field in turned else ours) for field, ours in columns.items()}
        return f"Did you mean {written(meant)}? The field comes first, then the file's column."
    if "=" in theirs:
        return f"Put commas between the pairs: {EXAMPLE if written is _on_command_line else written(_EXAMPLE)}."
    near = nearest(theirs, there)
    return f"Did you mean {written({ours: near})}?" if near else ""


def _missing(columns: Mapping[str, str], names: Iterable[str]) -> tuple[str, str] | None:
    """The first (field, column) whose column does not exist, or None."""
    there = set(names)
    return next((pair for pair in columns.items() if pair[1] not in there), None)
