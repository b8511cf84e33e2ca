"""Labels without a person: the row's own brand, the shop's lists, and what the base bundle is sure of; each says which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from batag.pages.page import Page
from batag.start.evidence import Evidence
from batag.tagging.tagger import Tagger

SURE = 0.5
"""The base bundle's own tags count as labels from this score on (a calibrated probability)."""
MOST_REPEATS, SHARE_OF_PEOPLE = 8, 1.5
"""People's pages are learnt several times, so that they are this many times the others, but none more often than this."""


def label_pages(
    sample: Sequence[Page], tagger: Tagger, evidence: Evidence, *, sure: float = SURE, watch: Any = iter
) -> Iterator[Page]:
    """Yield the pages with labels and their sources; nobody has reviewed them."""
    for prediction in watch(tagger.predict(sample)):
        own = [tag for tag in tagger.tags_of(prediction) if (tag.score or 0.0) >= sure]
        page, tags = prediction.page, evidence(prediction, own)
        plain = (replace(tag, normal=None, canonical=None, category=None) for tag in tags)
        yield replace(page, tags=tuple(plain), labelled=True, reviewed=False)


def repeated(people: Sequence[Page], *, others: int) -> Iterator[Page]:
    """Yield people's pages as often as they should be learnt beside so many others; repeats have ids of their own."""
    times = max(1, min(MOST_REPEATS, round(SHARE_OF_PEOPLE * others / max(len(people), 1))))
    for turn in range(times):
        yield from (replace(page, id=f"{page.id}#{turn}") if turn else page for page in people)


def by_source(pages: Iterable[Page]) -> dict[str, int]:
    """The number of tags of each source."""
    return dict(Counter(tag.source for page in pages for tag in page.tags).most_common())
