"""The language of most pages of a file, for its pages whose language cannot be detected."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from batag.pages.formats import PageReader, read_pages
from batag.pages.page import Page
from batag.segmentation.segmentation import languages_of
from batag.settings import settings

HEAD_PAGES = 2_000
"""Number of pages at the beginning of a file that are examined; fewer if they are long (settings.sniff_bytes)."""


def usual_language(pages: Iterable[Page]) -> str | None:
    """The language of more than half of a file's first pages. A page that may be in two languages counts half for the likelier
    one, one that may be in more does not count. None if there is no such language, or if every page names its own."""
    found: Counter[str] = Counter()
    characters, named = 0, True
    for number, page in enumerate(pages, 1):
        first, *others = languages_of(page)
        found[first] += max(2 - len(others), 0)
        named = named and page.language is not None
        characters += page.characters
        if number >= HEAD_PAGES or characters >= settings.sniff_bytes:
            break
    language, votes = found.most_common(1)[0] if found else (None, 0)
    return language if 2 * votes > found.total() and not named else None


def read_with_language(path: Path | str, **reading: Any) -> PageReader:
    """Read pages as `read_pages` does, each with the usual language of the file."""
    reader = read_pages(path, **reading)
    if reading.get("language") is None:
        reader.usual_language = usual_language(reader.ahead())
    return reader
