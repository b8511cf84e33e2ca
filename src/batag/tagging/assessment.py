"""Evaluate a tagger on labelled pages."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.evaluation.assessment import Assessment, Wrong
from batag.evaluation.decoding import Richness
from batag.evaluation.report import Report
from batag.labels.provenance import Measuring
from batag.pages.page import Page
from batag.segmentation.majority import read_with_language
from batag.tagging.tagger import Tagger


def assess(tagger: Tagger, pages: Iterable[Page], *, richness: Richness = None, wrong: Wrong | None = None) -> Assessment:
    """Score a tagger; `wrong` is called with each page that has a missed or wrong tag, with its gold and predicted tags."""
    found, measuring = Assessment(Report(tagger.scheme)), Measuring(pages)
    for prediction in tagger.predict(measuring):
        found.add(prediction, tagger.decoding, richness=richness, wrong=wrong)
    found.not_labelled, found.not_reviewed, found.measured_by = measuring.not_labelled, measuring.not_reviewed, measuring.by
    return found


def evaluate_pages(
    tagger: Tagger | Path | str,
    pages: Path | str | Iterable[Page] | Iterable[Path | str],
    *,
    richness: Richness = None,
    columns: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The report of `assess` on files or on pages in memory."""
    tagger = tagger if isinstance(tagger, Tagger) else Tagger.load(tagger)
    found = assess(tagger, _read(pages, columns, tagger.usual_columns), richness=richness)
    if not found.pages:
        what = "no labelled page to score on" if found.not_labelled + found.not_reviewed else "no page could be read"
        raise InputError(what, todo="Give labelled pages (see docs/labelling.md)")
    return found.report()


def _read(
    pages: Path | str | Iterable[Page] | Iterable[Path | str], columns: Mapping[str, str] | None, usual: Mapping[str, str]
) -> Iterator[Page]:
    given = [pages] if isinstance(pages, (str, Path)) else pages
    return chain.from_iterable(
        [each] if isinstance(each, Page) else read_with_language(each, columns=columns, usual_columns=usual) for each in given
    )
