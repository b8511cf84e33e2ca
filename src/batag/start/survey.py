"""One pass over an export: how many pages, which brands and categories, and a sample of pages to count in and learn from."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from batag.pages.formats import read_pages as read_file
from batag.pages.formats import write_pages
from batag.pages.formats.reading import PageMaker, read_records
from batag.pages.page import Page
from batag.pages.problems import Problems
from batag.pages.source import open_source
from batag.segmentation.majority import usual_language
from batag.segmentation.segmentation import language_of
from batag.settings import settings
from batag.start.folder import read_json, write_json

BRAND_OF, CATEGORY_OF = "brand_of_row", "category_of_row"
"""The keys in `Page.extra` of a row's own brand and category, in the sample of pages."""
_SEED = 20_000
_LONGEST, MOST_CHARACTERS = 20_000, 50_000_000
"""Longer pages are not learnt from; a sample with more characters is halved, so that memory does not grow with the file."""


@dataclass
class Survey:
    """The counts of an export. `sampled` pages are in the sample; brands and categories are counted by rows."""

    rows: int = 0
    pages: int = 0
    without_text: int = 0
    unreadable: int = 0
    brands: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    sampled: int = 0

    @property
    def language(self) -> str | None:
        """The language of most pages."""
        return self.languages.most_common(1)[0][0] if self.languages else None

    def to_dict(self) -> dict[str, Any]:
        """The survey as a JSON object."""
        counts = {name: getattr(self, name) for name in ("rows", "pages", "without_text", "unreadable", "sampled")}
        return counts | {name: dict(getattr(self, name)) for name in ("brands", "categories", "languages")}

    @classmethod
    def of_dict(cls, record: Mapping[str, Any]) -> Survey:
        """The survey of a JSON object."""
        counters = {name: Counter(record[name]) for name in ("brands", "categories", "languages")}
        return cls(**{**record, **counters})


@dataclass(frozen=True, kw_only=True)
class Rows:
    """How the rows of an export are read."""

    path: str
    format: str
    columns: Mapping[str, str]
    brand: str | None = None
    category: str | None = None
    language: str | None = None
    encoding: str | None = None


def read_rows(rows: Rows, *, problems: Problems, survey: Survey, watch: Any = None) -> Iterator[Page]:
    """Yield the pages of an export with the brand and category of each row; rows are counted in the survey."""
    source = open_source(rows.path, encoding=rows.encoding, columns=rows.columns, language=rows.language)
    try:
        records = read_records(source, rows.format)
        make = PageMaker(rows.format, stem=source.stem, columns=source.columns, language=rows.language, tags=False)
        own = dict(zip(source.header, source.names, strict=True))
        brand, category = (None if name is None else own.get(name, name) for name in (rows.brand, rows.category))
        for record in records if watch is None else watch(records, source.fraction_read):
            page, value, found = make(record)
            survey.rows += 1
            for problem in found:
                if problem.kind == "empty-page":
                    survey.without_text += 1
                else:
                    problems.report(problem)
            if page is None or not isinstance(value, Mapping):
                survey.unreadable += not any(problem.kind == "empty-page" for problem in found)
                continue
            survey.pages += 1
            extra = {BRAND_OF: cell_text(value.get(brand)), CATEGORY_OF: cell_text(value.get(category))}
            yield replace(page, extra={key: text for key, text in extra.items() if text})
    finally:
        source.close()


def cell_text(value: Any) -> str:
    """The text of a cell; a list's with `; ` between."""
    if isinstance(value, (list, tuple)):
        return "; ".join(each.strip() for each in value if isinstance(each, str))
    return value.strip() if isinstance(value, str) else ""


def survey_pages(pages: Iterable[Page], survey: Survey, *, most: int) -> list[Page]:
    """Count brands, categories and languages, and draw a sample of at most so many pages; the same file gives the same one."""
    drawn, sample, characters = random.Random(_SEED), list[Page](), 0
    for number, page in enumerate(pages):
        for counter, key in ((survey.brands, BRAND_OF), (survey.categories, CATEGORY_OF)):
            text = page.extra.get(key, "")
            if text and len(text) <= 200 and (text in counter or len(counter) < settings.start_values):
                counter[text] += 1
        if page.characters > _LONGEST:
            continue
        if len(sample) < most:
            sample.append(page)
            characters += page.characters
        elif (place := drawn.randrange(number + 1)) < most:
            characters += page.characters - sample[place].characters
            sample[place] = page
        if characters > MOST_CHARACTERS:
            sample = drawn.sample(sample, len(sample) // 2)
            most, characters = len(sample), sum(page.characters for page in sample)
    usual = usual_language(sample)
    sample = [replace(page, usual_language=usual) for page in sample]
    survey.languages.update(language_of(page) for page in sample)
    survey.sampled = len(sample)
    return [replace(page, language=language_of(page)) for page in sample]


def save(folder: Path, survey: Survey, sample: Iterable[Page]) -> None:
    """Write the sample, and then the survey: with it the stage is done."""
    write_pages(sample, folder / "pages.jsonl")
    write_json(folder / "survey.json", survey.to_dict())


def load(folder: Path) -> tuple[Survey, list[Page]] | None:
    """What `save` wrote, or None."""
    record = read_json(folder / "survey.json")
    if not record or not (folder / "pages.jsonl").is_file():
        return None
    return Survey.of_dict(record), list(read_file(folder / "pages.jsonl", problems=Problems())) if record["sampled"] else []
