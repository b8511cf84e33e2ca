"""The language of most pages of each input, decided once from its beginning, so that no part depends on where it was cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, groupby

from batag.catalogue.part import Part
from batag.catalogue.rows import read_rows
from batag.pages.page import Page
from batag.segmentation.majority import HEAD_PAGES, usual_language


def with_usual_language(parts: Iterator[Part]) -> Iterator[Part]:
    """The same parts, each with the usual language of its file; nothing is looked at if the language was said."""
    for _, own in groupby(parts, key=lambda part: part.file):
        ahead: list[Part] = []
        language = usual_language(_first_pages(own, ahead))
        for part in chain(ahead, own):
            yield replace(part, usual_language=language)


def _first_pages(parts: Iterator[Part], ahead: list[Part]) -> Iterator[Page]:
    """The pages at the beginning of a file; the parts that they stand in are kept in `ahead`."""
    for part in parts:
        ahead.append(part)
        if part.language is not None:
            return
        few = replace(part, rows=min(part.rows, HEAD_PAGES), entries=part.entries[:HEAD_PAGES])
        yield from (page for page in read_rows(few, whole=False).pages if isinstance(page, Page))
