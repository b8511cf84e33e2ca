"""The counts that the report shows, collected row by row in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from batag.pages.page import Page, Tag
from batag.start.out.frequent import Drawn, Frequent
from batag.start.out.rows import TaggedRow
from batag.tagging.top import is_shown
from batag.terms.key import both_keys, match_keys
from batag.terms.lexicon import BRAND, read_lexicon
from batag.terms.meaning import kind_of_label

SAMPLE = 300
"""Pages drawn at random: twenty of them are shown, the dial is counted on all."""
_MOST_PROBLEMS = 20
_MOST_REASONS = _LONGEST_REASON = 200
_REMEMBERED = 200_000
_LONGEST_SHOWN = 20_000
_AROUND = 40


@dataclass
class NewBrand:
    """A brand that is in no list, no column and not in the lexicon: its text, the pages that have it, the sum of its scores and
    an example: the id of a page, and what stands before and after the brand."""

    text: str
    page: str = ""
    before: str = ""
    after: str = ""
    best: float = -1.0
    pages: int = 0
    scores: float = 0.0

    @property
    def score(self) -> float:
        """The mean score."""
        return self.scores / max(self.pages, 1)


@dataclass
class Survey:
    """The counts of a tagged export. `with_label` are the pages with at least one tag of a label, `lengths` the pages by number
    of different tags."""

    labels: tuple[str, ...]
    rows: int = 0
    pages: int = 0
    variants: int = 0
    errors: int = 0
    tagless: int = 0
    with_label: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    forms: dict[str, Frequent] = field(default_factory=dict)
    brands: dict[str, NewBrand] = field(default_factory=dict)
    brands_dropped: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The counts as a JSON object."""
        return {
            "rows": self.rows,
            "pages": self.pages,
            "variants": self.variants,
            "errors": self.errors,
            "pages_without_tags": self.tagless,
            "pages_with": {label: self.with_label[label] for label in self.labels},
            "tags": {label: self.tags[label] for label in self.labels},
            "tags_a_page": round(self.mean_length, 3),
            "forms": {label: len(self.forms[label].counts) for label in self.labels},
            "new_brands": len(self.brands),
        }

    @property
    def mean_length(self) -> float:
        """The mean number of different tags a page."""
        return sum(length * pages for length, pages in self.lengths.items()) / max(self.pages, 1)

    @property
    def median_length(self) -> int:
        """The number of different tags that half of the pages have at most."""
        seen = 0
        for length in sorted(self.lengths):
            seen += self.lengths[length]
            if 2 * seen >= self.pages:
                return length
        return 0

    def new_brands(self, number: int) -> list[NewBrand]:
        """The brands in no list by the number of their pages."""
        return sorted(self.brands.values(), key=lambda each: (-each.pages, -each.score, each.text))[:number]


class Surveyor:
    """Collects a survey and draws a sample of pages. `listed` are all brand texts of the shop's lists and columns."""

    def __init__(self, labels: Sequence[str], *, listed: Collection[str] = (), brands: int = 50_000) -> None:
        self.survey = Survey(tuple(labels), forms={label: Frequent() for label in labels})
        self.drawn: Drawn[Page] = Drawn(SAMPLE)
        self._brand_labels = {label for label in labels if kind_of_label(label) == BRAND}
        self._listed = {*match_keys(listed, plural=False)}
        self._known: dict[str, str | None] = {}
        self._most_brands = brands

    def add(self, row: TaggedRow) -> None:
        """Count a row; variants and rows that are no page are only counted as such."""
        survey = self.survey
        survey.rows += 1
        if row.error is not None:
            survey.errors += 1
            reason = row.error[:_LONGEST_REASON]
            if reason in survey.reasons or len(survey.reasons) < _MOST_REASONS:
                survey.reasons[reason] += 1
            if len(survey.problems) < _MOST_PROBLEMS:
                survey.problems.append((row.where, reason))
        if row.variant:
            survey.variants += 1
        if row.page is None:
            return
        self._count(row.page, row.tags)
        if row.page.characters <= _LONGEST_SHOWN:
            self.drawn.add(row.page)

    def _count(self, page: Page, tags: Sequence[Tag]) -> None:
        survey = self.survey
        survey.pages += 1
        forms: dict[str, set[str]] = {}
        for tag in tags:
            survey.tags[tag.label] += 1
            survey.sources[tag.source] += 1
            if is_shown(tag):
                forms.setdefault(tag.label, set()).add(tag.canonical or tag.text)
        survey.with_label.update(forms.keys())
        survey.tagless += not forms
        survey.lengths[sum(map(len, forms.values()))] += 1
        for label, own in forms.items():
            if label in survey.forms:
                survey.forms[label].add(own)
        if self._brand_labels & forms.keys():
            self._find_new(page, [tag for tag in tags if tag.label in self._brand_labels])

    def _find_new(self, page: Page, tags: Sequence[Tag]) -> None:
        """Count the brands that nothing lists, each once a page with its best score."""
        unknown = [tag.text for tag in tags if tag.text not in self._known]
        if len(self._known) + len(unknown) > _REMEMBERED:
            self._known.clear()
            unknown = [tag.text for tag in tags]
        if unknown:
            self._known.update(zip(unknown, map(self._new_key, *both_keys(unknown)), strict=True))
        best: dict[str, Tag] = {}
        for tag in tags:
            key = self._known[tag.text]
            if key is None or tag.canonical is None:
                continue
            if key not in best or (tag.score or 0.0) > (best[key].score or 0.0):
                best[key] = tag
        found = self.survey.brands
        for key, tag in best.items():
            entry = found.get(key)
            if entry is None:
                if len(found) >= self._most_brands:
                    self._drop()
                    found = self.survey.brands
                entry = found.setdefault(key, NewBrand(tag.text[:_AROUND]))
            score = tag.score or 0.0
            entry.pages += 1
            entry.scores += score
            if score > entry.best:
                text = page[tag.field]
                entry.text, entry.page, entry.best = tag.text[:_AROUND], page.id[:_AROUND], score
                entry.before, entry.after = text[max(tag.start - _AROUND, 0) : tag.start], text[tag.end : tag.end + _AROUND]

    def _new_key(self, key: str, close: str) -> str | None:
        """The key of a brand that no list has; None for one that is listed, or a word of the lexicon."""
        if not close or close in self._listed or read_lexicon().knows(key, close):
            return None
        return close

    def _drop(self) -> None:
        """Keep the half of the new brands that more pages have."""
        survey = self.survey
        kept = {id(each) for each in survey.new_brands(self._most_brands // 2)}
        survey.brands = {key: each for key, each in survey.brands.items() if id(each) in kept}
        survey.brands_dropped = True
