"""A tagger against pages that people labelled (or, if there are none, machines)."""

from __future__ import annotations

from collections.abc import Iterable

from batag.evaluation.assessment import Assessment, Wrong
from batag.evaluation.decoding import Richness
from batag.evaluation.report import Report
from batag.labels.provenance import Measuring
from batag.pages.page import Page
from batag.tagging.tagger import Tagger


def assess(tagger: Tagger, pages: Iterable[Page], *, richness: Richness = None, wrong: Wrong | None = None) -> Assessment:
    """Score a tagger; `wrong` gets each page with a missed or needless tag, with gold and predicted tags."""
    found, measuring = Assessment(Report(tagger.scheme)), Measuring(pages)
    for prediction in tagger.predict(measuring):
        found.add(prediction, tagger.decoding, richness=richness, wrong=wrong)
    found.not_labelled, found.not_reviewed, found.measured_by = measuring.not_labelled, measuring.not_reviewed, measuring.by
    return found
