"""Choose the pages where a person's label buys most: uncertain, unlike each other, from all categories and languages."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path

from batag.pages.duplicates import Groups, fingerprint, text_hash
from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag
from batag.start.out.rows import TaggedRow
from batag.terms.lexicon import BRAND, GOODS
from batag.terms.meaning import kind_of_label

TO_REVIEW = "to_review.jsonl"
_CANDIDATES = 20
_MOST_STRATA = 200
_LONGEST = 20_000
_LIKELY_MISSED = {BRAND: 0.3, GOODS: 0.5}
"""How many tags a page without any of a kind is expected to miss: nearly every product is some kind of goods."""
_READING = 1_000
_AGAIN = 0.5
_SURE = 0.95
_DIGITS = re.compile(r"\d+")
Form = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may be asked for, the expected number of wrong tags by form, and its stratum (category and language)."""

    page: Page
    doubts: tuple[tuple[Form, float], ...]
    stratum: str

    @property
    def cost(self) -> float:
        """A person's time: a page of a thousand characters takes twice as long as a title."""
        return 1 + self.page.characters / _READING

    def worth(self, asked: Counter[Form]) -> float:
        """The wrong tags that a person would mend, in relation to the time; what was asked before counts less each time."""
        return sum(doubt * _AGAIN ** asked[form] for form, doubt in self.doubts) / self.cost


class ReviewChooser:
    """Sees all pages once and keeps the best of each stratum; `chosen` picks among these. `reviewed` are pages that a person
    has labelled before: these and their near-duplicates are not asked for."""

    def __init__(self, labels: Sequence[str], *, number: int = 100, reviewed: Iterable[Page] = ()) -> None:
        self._kinds = {label: kind_of_label(label) for label in labels}
        self._number, self._reviewed = number, list(reviewed)
        self._best: dict[str, list[tuple[float, int, int, int, Candidate]]] = {}
        self._kept = {_sameness(page) for page in self._reviewed}
        self._sizes: Counter[str] = Counter()
        self._seen = 0

    def add(self, row: TaggedRow, *, category: str = "", language: str = "") -> None:
        """Consider a row."""
        page = row.page
        if page is None or page.characters > _LONGEST or not self._number:
            return
        self._seen += 1
        stratum = f"{category}\n{language}"
        if stratum not in self._sizes and len(self._sizes) >= _MOST_STRATA:
            stratum = f"\n{language}"
        self._sizes[stratum] += 1
        doubts = self._doubts(page)
        worth = sum(doubt for _, doubt in doubts) / (1 + page.characters / _READING)
        best = self._best.setdefault(stratum, [])
        # The number settles equal worth, by the text: not always the first pages of the file.
        entry = worth, text_hash(page.id) ^ self._seen
        room = max(_CANDIDATES * self._number // len(self._sizes), _CANDIDATES)
        if len(best) < room or entry > best[0][:2]:
            # Sizes of one product must not take all places.
            if (same := _sameness(page)) in self._kept:
                return
            self._kept.add(same)
            heapq.heappush(best, (*entry, self._seen, same, Candidate(replace(page, extra={}), doubts, stratum)))
            while len(best) > room:
                self._kept.discard(heapq.heappop(best)[3])

    def _doubts(self, page: Page) -> tuple[tuple[Form, float], ...]:
        best: dict[Form, float] = {}
        for tag in page.tags:
            form = tag.label, tag.canonical or tag.text
            best[form] = max(best.get(form, 0.0), _score(tag))
        found = [(form, 1 - score) for form, score in best.items()]
        there = {self._kinds.get(label) for label, _ in best}
        missing = [kind for kind in _LIKELY_MISSED if kind in self._kinds.values() and kind not in there]
        return (*found, *(((kind, ""), _LIKELY_MISSED[kind]) for kind in missing))

    def chosen(self) -> list[Page]:
        """The pages to label first, the best first, each with the machine's tags and not reviewed."""
        waiting = [entry[-1] for best in self._best.values() for entry in sorted(best, key=lambda entry: (-entry[0], entry[1]))]
        groups = Groups()
        for page in self._reviewed:
            groups.add(fingerprint(page))
        for each in waiting:
            groups.add(fingerprint(each.page))
        of = groups.of()
        taken = {*of[: len(self._reviewed)]}
        # Of each group of near-duplicates the best one stays.
        firsts: dict[int, Candidate] = {}
        for each, group in zip(waiting, of[len(self._reviewed) :], strict=True):
            if group not in taken and (group not in firsts or each.worth(Counter()) > firsts[group].worth(Counter())):
                firsts[group] = each
        return [_to_label(each) for each in self._picked(list(firsts.values()))]

    def _picked(self, waiting: list[Candidate]) -> list[Candidate]:
        """The best page, then the best after that, until there are enough."""
        asked: Counter[Form] = Counter()
        had: Counter[str] = Counter()
        roots = {stratum: sqrt(size) for stratum, size in self._sizes.items()}
        whole = sum(roots.values()) or 1.0

        def worth(each: Candidate) -> float:
            # A stratum that has had its share counts half, one that has had it twice a third.
            share = max(self._number * roots[each.stratum] / whole, 1.0)
            return each.worth(asked) / (1 + had[each.stratum] / share)

        # A page's worth only falls: one that is still the best after it was counted again is the best of all.
        heap = [(-worth(each), number) for number, each in enumerate(waiting)]
        heapq.heapify(heap)
        picked: list[Candidate] = []
        while heap and len(picked) < self._number:
            _, number = heapq.heappop(heap)
            now = -worth(waiting[number])
            if heap and now > heap[0][0]:
                heapq.heappush(heap, (now, number))
                continue
            each = waiting[number]
            picked.append(each)
            asked.update(form for form, doubt in each.doubts if doubt > 1 - _SURE)
            had[each.stratum] += 1
        return picked


def unsure(page: Page, *, most: int = 5) -> list[Tag]:
    """The tags of a page that are least certain, each form once."""
    best: dict[Form, Tag] = {}
    for tag in page.tags:
        form = tag.label, tag.canonical or tag.text
        if form not in best or _score(tag) > _score(best[form]):
            best[form] = tag
    return sorted((tag for tag in best.values() if _score(tag) < _SURE), key=_score)[:most]


def write_review(pages: Iterable[Page], path: Path) -> None:
    """Write pages to label in batag's own format."""
    write_pages(pages, path, format="jsonl")


def _to_label(candidate: Candidate) -> Page:
    page = candidate.page
    extra = {"unsure": [f"{tag.label}: {tag.text[:80]} ({_score(tag):.2f})" for tag in unsure(page)]}
    return replace(page, language=page.language or page.usual_language, extra=extra, labelled=True, reviewed=False)


def _sameness(page: Page) -> int:
    """A number that pages share which differ in digits, spaces and punctuation only."""
    return text_hash(_DIGITS.sub("0", fingerprint(page)))


def _score(tag: Tag) -> float:
    return 1.0 if tag.score is None else tag.score
