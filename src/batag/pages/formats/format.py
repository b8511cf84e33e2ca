"""The table of formats: their names, file suffixes and modules."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from batag.errors import unknown_name


@dataclass(frozen=True)
class Format:
    """A format: its module, its file suffixes, and its kind. Rows of a `table` and JSON `records` keep all their values when
    they are tagged; of other files only the `pages` are kept."""

    module: str
    suffixes: tuple[str, ...] = ()
    writes: bool = True
    kind: str = "pages"
    reading: tuple[tuple[str, Any], ...] = ()
    writing: tuple[tuple[str, Any], ...] = ()


_TABS = (("separator", "\t"),)
FORMATS = {
    "jsonl": Format("jsonl", (".jsonl", ".ndjson"), kind="records"),
    "csv": Format("delimited", (".csv",), kind="table"),
    "tsv": Format("delimited", (".tsv",), kind="table", reading=_TABS, writing=_TABS),
    "parquet": Format("parquet", (".parquet", ".pq"), kind="table"),
    "xlsx": Format("xlsx", (".xlsx", ".xlsm"), kind="table"),
    "conll": Format("columns", (".conll", ".bio", ".iob")),
    "words": Format("columns", (".words",), writing=(("flat", True),)),
    "label-studio": Format("label_studio"),
    "doccano": Format("doccano"),
    "spans": Format("spans", writes=False),
}
NEEDS_TOKENS = frozenset({"conll", "words"})
"""Formats with one token per line; they cannot store the source of a tag or whether a page was reviewed."""
PACKED_INSIDE = frozenset({"parquet", "xlsx"})
"""Formats with internal compression."""


def check_format(name: str) -> str:
    """Return the name if it is a format, else raise an error that suggests the nearest one."""
    if name not in FORMATS:
        raise unknown_name(name, FORMATS, "a format")
    return name


def format_of_name(path: Path | str) -> str | None:
    """The format that a file's name suggests, ignoring compression; None if unknown."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() not in (".gz", ".zst")]
    last = suffixes[-1] if suffixes else ""
    return next((name for name, each in FORMATS.items() if last in each.suffixes), None)


def format_module(name: str) -> Any:
    """Import the module of a format."""
    return import_module(f"batag.pages.formats.{FORMATS[name].module}")
