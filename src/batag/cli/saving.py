"""Writing pages from the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.pages.formats import NEEDS_TOKENS, write_pages
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation, bring_tokens


def save(
    pages: Iterable[Page], path: str | Path, *, source: str, format: str, segmentation: Segmentation, **options: Any
) -> int:
    """Write pages and count them; column formats get tokens first."""
    count = 0

    def counted() -> Iterable[Page]:
        nonlocal count
        for page in pages:
            count += 1
            yield bring_tokens(page, segmentation) if format in NEEDS_TOKENS else page
        if not count:
            # Before the file gets its name: an empty result replaces nothing.
            raise InputError("no page could be read", where=source, todo="The file is empty, or see the problems listed")

    write_pages(counted(), path, format=format, **options)
    return count
