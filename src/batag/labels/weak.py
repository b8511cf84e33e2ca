"""Labels that nobody gave by hand: terms that a shop has anyway (brands, categories, search words), marked where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from batag.labels.alignment import cut_tags
from batag.labels.scheme import TokenSpan
from batag.pages.cleaning import Cleaner
from batag.pages.mentions import lower
from batag.pages.page import Page, Tag
from batag.segmentation.segmentation import Segmentation, TokenizedField

_fold_width = Cleaner(["width"])
WEAK = "weak"
"""Stands in a page's `extra` if its tags were not given by people."""


def is_weak(page: Page) -> bool:
    """Whether the labels of a page were not given by people; a file that is not JSON may say it in words."""
    return page.extra.get(WEAK) in (True, "true", "True", "1")


class Terms:
    """Terms and the label of each, in any case and width; one that stands in two lists has the label of the first."""

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        self.labels: dict[str, str] = {}
        self.in_two_lists: list[tuple[str, str]] = []
        self._forms: dict[str, str] = {}
        for label, terms in lists.items():
            for written in terms:
                folded = lower(_fold_width(written).text.strip())
                if folded and self.labels.setdefault(folded, label) != label:
                    self.in_two_lists.append((folded, label))
                elif folded:
                    # As written too: cleaning may be told to leave width alone.
                    self._forms |= {lower(written.strip()): folded, folded: folded}
        self._written = list(self._forms)
        self._matcher: Any = None

    def __len__(self) -> int:
        return len(self.labels)

    def spans(self, tokenized: TokenizedField) -> Iterator[tuple[TokenSpan, str]]:
        """Where terms stand, the longest first, each from a border of tokens to another; and which term it is."""
        if not self._written:
            return
        if self._matcher is None:
            from ahocorasick_rs import AhoCorasick, MatchKind

            self._matcher = AhoCorasick(self._written, matchkind=MatchKind.Standard)
        starts = {start: number for number, (start, _) in enumerate(tokenized.tokens)}
        ends = {end: number for number, (_, end) in enumerate(tokenized.tokens)}
        matches = self._matcher.find_matches_as_indexes(lower(tokenized.cleaned.text), overlapping=True)
        fitting = [(start, end, which) for which, start, end in matches if start in starts and end in ends]
        taken: set[int] = set()
        found = []
        for start, end, which in sorted(fitting, key=lambda match: (match[0] - match[1], match[0])):
            first, last = starts[start], ends[end]
            if taken.isdisjoint(range(first, last + 1)):
                taken.update(range(first, last + 1))
                term = self._forms[self._written[which]]
                found.append(((first, last, self.labels[term]), term))
        yield from sorted(found)


@dataclass
class Marking:
    """Pages to weakly labelled pages, and what was found on the way."""

    terms: Terms
    segmentation: Segmentation = field(default_factory=Segmentation)
    pages: int = 0
    left_alone: int = 0
    marked_before: int = 0
    without: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)

    def __call__(self, pages: Iterable[Page]) -> Iterator[Page]:
        """Each page; what people labelled stays theirs, what was marked before stays beside what is new, and a page without a
        term stays without labels."""
        for page, fields in self.segmentation.many(pages):
            self.pages += 1
            before = page.tags if page.labelled else ()
            if page.labelled and not is_weak(page):
                self.left_alone += 1
                yield page
                continue
            self.marked_before += bool(before)
            tags: list[Tag] = []
            for tokenized in fields:
                matches = list(self.terms.spans(tokenized))
                self.found.update(term for _, term in matches)
                tags += cut_tags(page, tokenized, [span for span, _ in matches])
            tags = [tag for tag in tags if not any(_meet(tag, other) for other in before)]
            self.tags.update(tag.label for tag in tags)
            self.without += not (tags or before)
            both = sorted((*before, *tags), key=lambda tag: (list(page.fields).index(tag.field), tag.start))
            yield replace(page, tags=tuple(both), extra={**page.extra, WEAK: True}) if both else page

    def report(self) -> dict[str, Any]:
        """Counts; of each label its terms, how many of them stand on some page, and the tags they made."""
        labels = list(dict.fromkeys(self.terms.labels.values()))
        terms = Counter(self.terms.labels.values())
        seen = Counter(self.terms.labels[term] for term in self.found)
        rows = {label: {"terms": terms[label], "found": seen[label], "tags": self.tags[label]} for label in labels}
        pages = {"pages": self.pages, "labelled_by_people": self.left_alone, "marked_before": self.marked_before}
        pages["without_a_term"] = self.without
        return pages | {"labels": rows, "in_two_lists": len(self.terms.in_two_lists)}


def _meet(one: Tag, other: Tag) -> bool:
    return one.field == other.field and one.start < other.end and other.start < one.end
