"""Writing pages from the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from batag.cli.terminal import console, counted
from batag.pages.formats import NEEDS_TOKENS, write_pages
from batag.pages.page import PERSON, Page
from batag.pages.problems import Problems
from batag.segmentation.segmentation import Segmentation, bring_tokens


def save(
    pages: Iterable[Page],
    path: str | Path,
    *,
    source: str,
    format: str,
    segmentation: Segmentation,
    problems: Problems,
    **options: Any,
) -> int:
    """Write pages and count them; column formats get tokens first, and what is lost of tags is printed."""
    count = unseen = 0
    lost: Counter[str] = Counter()

    def passing() -> Iterable[Page]:
        nonlocal count, unseen
        for page in pages:
            count += 1
            if format in NEEDS_TOKENS and page.reviewed is False:
                unseen += 1
                lost.update(tag.source for tag in page.tags if tag.source != PERSON)
            yield bring_tokens(page, segmentation) if format in NEEDS_TOKENS else page
        if not count:
            # Before the file gets its name: an empty result replaces nothing.
            raise problems.no_page(source)

    write_pages(passing(), path, format=format, **options)
    if unseen:
        note_lost_sources(format, lost, pages=unseen)
    return count


def note_lost_sources(format: str, tags: Mapping[str, int], *, pages: int) -> None:
    """Print that a format cannot say who set tags (of which there are so many by each source) on pages that nobody has seen."""
    named = [f"{counted(number, 'tag')} by {name}" for name, number in Counter(tags).most_common() if number]
    note = f"{format} cannot say who set a tag, nor that no person has seen a page: "
    note += f"{' and '.join(named) or 'no tag by a machine'} on {counted(pages, 'unseen page')} "
    note += "will count as people's when the file is read again"
    console(error=True).print(note, style="bold yellow", markup=False)
