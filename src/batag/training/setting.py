"""A setting as it is typed, `--set encoder.depth=6`, and as it was called before."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from batag.errors import UsageError
from batag.pages.page import has_surrogates

OLD_NAMES: Mapping[str, str] = {"training.weak": "sources.terms"}
"""What settings were called before, and are today. A setting that is renamed comes in here."""


def parse_setting(text: str) -> dict[str, Any]:
    """`encoder.depth=6` as a change of a recipe; what is not a TOML value is text."""
    key, equals, value = text.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not equals or len(parts) < 2 or not all(parts):
        raise UsageError(f"--set {text!r} is not TABLE.KEY=VALUE", todo="Write it like --set encoder.depth=6")
    if len(text.splitlines()) > 1 or has_surrogates(text):
        raise UsageError(f"--set {text!r} is not one line of text", todo="Write one --set a value")
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    change: Any = parsed
    for part in reversed(parts):
        change = {part: change}
    return dict(change)


def renamed(change: Mapping[str, Any]) -> dict[str, Any]:
    """A change of a recipe by today's names: recipes, runs and bundles of before still say what they said."""
    found = {table: dict(values) if isinstance(values, Mapping) else values for table, values in change.items()}
    for old, today in OLD_NAMES.items():
        (table, key), (new_table, new_key) = old.split("."), today.split(".")
        if isinstance(found.get(table), dict) and key in found[table] and isinstance(found.setdefault(new_table, {}), dict):
            found[new_table].setdefault(new_key, found[table].pop(key))
    return found
