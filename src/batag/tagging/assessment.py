"""A tagger against pages that people labelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from batag.evaluation.assessment import Assessment, Wrong
from batag.evaluation.decoding import Richness
from batag.evaluation.report import Report
from batag.labels.weak import by_people
from batag.pages.page import Page
from batag.tagging.tagger import Tagger


def assess(tagger: Tagger, pages: Iterable[Page], *, richness: Richness = None, wrong: Wrong | None = None) -> Assessment:
    """Score a tagger; `wrong` gets each page with a missed or needless tag, with gold and predicted tags."""
    found = Assessment(Report(tagger.scheme))

    def labelled() -> Iterator[Page]:
        for page in pages:
            if by_people(page):
                yield page
            elif page.labelled:
                found.weak += 1
            else:
                found.not_labelled += 1

    for prediction in tagger.predict(labelled()):
        found.add(prediction, tagger.decoding, richness=richness, wrong=wrong)
    return found
