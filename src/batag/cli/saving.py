"""Writing pages from the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from batag.errors import UsageError
from batag.pages.formats import FORMATS, NEEDS_TOKENS, check_format, format_of_name, write_pages
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation, bring_tokens


def target_format(path: str | Path, said: str | None) -> str:
    """The format to write: as said, or by the file's name; JSON lines on standard output."""
    name = check_format(said) if said else "jsonl" if str(path) == "-" else format_of_name(path)
    if name == "tsv":
        name = "words"
    if name is None or not FORMATS[name].writes:
        writable = ", ".join(each for each, format in FORMATS.items() if format.writes)
        raise UsageError(f"cannot tell which format to write to {path}", todo=f"Say --to with one of {writable}")
    return name


def save(pages: Iterable[Page], path: str | Path, *, format: str, segmentation: Segmentation, **options: Any) -> int:
    """Write pages and count them; column formats get tokens first."""
    count = 0

    def counted() -> Iterable[Page]:
        nonlocal count
        for page in pages:
            count += 1
            yield bring_tokens(page, segmentation) if format in NEEDS_TOKENS else page

    write_pages(counted(), path, format=format, **options)
    return count
