"""How many tags the pages have at each setting of the dial, counted on a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from batag.evaluation.operating_point import NAMES
from batag.pages.page import Page
from batag.tagging.tagger import Tagger

_BATCH = 100
_SHORT, _LONG = 20, 300


@dataclass(frozen=True)
class DialPoint:
    """A setting of the dial, the mean number of different tags a page by label, and an example tagged so."""

    name: str
    a_page: dict[str, float]
    example: Page | None = None


def count_dial(tagger: Tagger, pages: Sequence[Page]) -> tuple[DialPoint, ...]:
    """The tags of some pages at clean, balanced and rich, with a page on which these differ; nothing if the bundle has no
    dial."""
    if tagger.dial is None or not pages:
        return ()
    counts: dict[str, Counter[str]] = {name: Counter() for name in NAMES}
    best, shown = -1, dict[str, Page]()
    for start in range(0, len(pages), _BATCH):
        some = pages[start : start + _BATCH]
        predictions = tagger.predict_all(some)
        tagged = {name: tagger.tags_of_all(predictions, name) for name in NAMES}
        for number, page in enumerate(some):
            forms = {name: {(tag.label, tag.canonical or tag.text) for tag in own[number]} for name, own in tagged.items()}
            for name, own in forms.items():
                counts[name].update(label for label, _ in own)
            differing = len({frozenset(own) for own in forms.values()}) * 10 - abs(len(forms["rich"]) - 8)
            if forms["clean"] and _SHORT <= page.characters <= _LONG and differing > best:
                best = differing
                shown = {name: replace(page, tags=tuple(own[number]), reviewed=False) for name, own in tagged.items()}
    return tuple(
        DialPoint(name, {label: counts[name][label] / len(pages) for label in tagger.labels}, shown.get(name)) for name in NAMES
    )
