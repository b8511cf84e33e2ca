"""Which column of a file is which field of ours (`--columns title=name`), and what was meant when one is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


def missing_column(columns: Mapping[str, str], names: Iterable[str]) -> tuple[str, str] | None:
    """The first (field, column) whose column is none of the names, or None."""
    there = set(names)
    return next((pair for pair in columns.items() if pair[1] not in there), None)


def meant_columns(columns: Mapping[str, str], names: Iterable[str]) -> str:
    """What to write instead of a mapping that does not fit: turned round, or with the nearest name; empty if none is near."""
    there = [name for name in names if name]
    if (missing := missing_column(columns, there)) is None:
        return ""
    ours, theirs = missing
    if all(field in there for field, column in columns.items() if column not in there):
        turned = ",".join(f"{field}={column}" if column in there else f"{column}={field}" for field, column in columns.items())
        return f"Did you mean --columns {turned}? The field comes first, then the file's column"
    if "=" in theirs:
        return "Put commas between the pairs: title=name,description=body"
    lower = {name.lower(): name for name in reversed(there)}
    near = difflib.get_close_matches(theirs.lower(), lower, n=1)
    return f"Did you mean --columns {ours}={lower[near[0]]}?" if near else ""
