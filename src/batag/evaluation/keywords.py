"""Scores of ranked phrases against tags, labels ignored: the same for keywords, lists and taggers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from batag.evaluation.tags import TagScores
from batag.keywords.extractor import LABEL, Keyword
from batag.pages.page import Tag
from batag.pages.stopwords import fold

AT = (5, 10, 15)
"""The numbers of keywords of a page at which scores are taken."""


@dataclass
class KeywordScores:
    """Scores at 5, 10 and 15 keywords: by texts, averaged over pages, and by exact spans, over all tags as taggers are scored.
    A page without a true keyword does not count."""

    pages: int = 0
    right: dict[int, TagScores] = field(default_factory=lambda: {top: TagScores() for top in AT})
    sums: dict[int, list[float]] = field(default_factory=lambda: {top: [0.0] * 4 for top in AT})

    def add(self, texts: Iterable[str], spans: Iterable[tuple[str, int, int]], found: Sequence[Keyword]) -> None:
        """Add one page: the true texts and spans, and the keywords that were found, best first."""
        true = {each for text in texts if (each := fold(text))}
        if not true:
            return
        self.pages += 1
        truth = [(place, LABEL) for place in spans]
        for top in AT:
            predicted = {fold(each.text) for each in found[:top]}
            self.sums[top] = list(map(float.__add__, self.sums[top], _scores(true, predicted)))
            self.right[top].add(truth, ((place, LABEL) for each in found[:top] for place in each.places))

    def report(self) -> dict[str, Any]:
        """All scores as a JSON object."""
        names = ("precision", "recall", "f1", "f2")
        means = {top: [each / max(self.pages, 1) for each in own] for top, own in self.sums.items()}
        texts = {str(top): dict(zip(names, means[top], strict=True)) for top in AT}
        spans = {str(top): {name: self.right[top].report()["micro"][name] for name in names} for top in AT}
        return {"pages": self.pages, "texts": texts, "spans": spans}


def ranked(tags: Iterable[Tag]) -> list[Keyword]:
    """The distinct texts of a page's tags as keywords: highest score first, then in the order of the page."""
    found: dict[str, list[Tag]] = {}
    for tag in tags:
        found.setdefault(fold(tag.text), []).append(tag)
    keywords = [
        Keyword(own[0].text, max(tag.score or 0.0 for tag in own), tuple((tag.field, tag.start, tag.end) for tag in own))
        for own in found.values()
    ]
    return sorted(keywords, key=lambda each: -each.score)


def _scores(true: set[str], predicted: set[str]) -> tuple[float, float, float, float]:
    both = len(true & predicted)
    precision, recall = both / len(predicted) if predicted else 0.0, both / len(true)
    f1, f2 = ((1 + beta) * both / (beta * len(true) + len(predicted)) for beta in (1, 4))
    return precision, recall, f1, f2
