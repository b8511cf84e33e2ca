"""The forms of the tags of many pages: how often each occurs, as which texts, on which pages, beside which column values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from batag.pages.page import Page
from batag.terms.meaning import Meaning, kind_of_label
from batag.terms.terms import Terms

_BATCH = 1_000
_REMEMBERED_PAGES = 1_000
_LONGEST_VALUE = 100


@dataclass
class Form:
    """All tags of one label and canonical form."""

    label: str
    meaning: Meaning
    count: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    pages: set[int] = field(default_factory=set)
    values: dict[str, Counter[str]] = field(default_factory=dict)
    """How many pages have each value of a column that may say the same as the label."""

    @property
    def text(self) -> str:
        """Its most frequent text."""
        return min(self.texts, key=lambda text: (-self.texts[text], text))


def collect_forms(pages: Iterable[Page], terms: Terms) -> dict[tuple[str, str], Form]:
    """The forms of the tags of pages by label and canonical form; tags of advertising are left out."""
    found: dict[tuple[str, str], Form] = {}
    number = 0
    for some in _batches(pages):
        asked = dict.fromkeys((tag.text, tag.label, page.language) for page in some for tag in page.tags)
        meanings = dict(zip(asked, terms.meanings(list(asked)), strict=True))
        for page in some:
            number += 1
            values = {column.strip().casefold(): text for column, value in page.extra.items() if (text := _value(value))}
            seen = set()
            for tag in page.tags:
                meaning = meanings[tag.text, tag.label, page.language]
                if meaning.canonical is None:
                    continue
                form = found.setdefault((tag.label, meaning.canonical), Form(tag.label, meaning))
                form.count += 1
                form.texts[tag.text] += 1
                if form.meaning.canonical in seen:
                    continue
                seen.add(form.meaning.canonical)
                if len(form.pages) < _REMEMBERED_PAGES:
                    form.pages.add(number)
                    for column, value in values.items():
                        if column == tag.label.casefold() or (kind_of_label(column) or "") == kind_of_label(tag.label):
                            form.values.setdefault(column, Counter())[value] += 1
    return found


def _value(value: Any) -> str:
    return value.strip() if isinstance(value, str) and len(value) <= _LONGEST_VALUE else ""


def _batches(pages: Iterable[Page]) -> Iterator[list[Page]]:
    some: list[Page] = []
    for page in pages:
        some.append(page)
        if len(some) == _BATCH:
            yield some
            some = []
    yield some
