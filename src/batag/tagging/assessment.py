"""A tagger against pages that people labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batag.evaluation.report import Report, ScoredField
from batag.labels.alignment import align
from batag.labels.scheme import Scheme
from batag.labels.weak import by_people
from batag.objectives.objective import IGNORED
from batag.pages.page import Page, Tag
from batag.pages.record import own_fields, tag_record
from batag.segmentation.segmentation import TokenizedField, language_of
from batag.tagging.tagger import Richness, Tagger


@dataclass
class Assessment:
    """What was found: `report` is ready for JSON."""

    scores: Report
    pages: int = 0
    right: int = 0
    not_labelled: int = 0
    weak: int = 0
    unknown_classes: set[str] = field(default_factory=set)

    def report(self) -> dict[str, Any]:
        counts = {"pages": self.pages, "pages_all_right": self.right}
        counts |= {"pages_not_labelled": self.not_labelled, "pages_weak": self.weak}
        return counts | {"unknown_classes": sorted(self.unknown_classes)} | self.scores.report()


def assess(
    tagger: Tagger,
    pages: Iterable[Page],
    *,
    richness: Richness = None,
    wrong: Callable[[dict[str, Any]], object] | None = None,
) -> Assessment:
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
        page, tags = prediction.page, tagger.tags_of(prediction, richness)
        found.pages += 1
        found.unknown_classes |= {tag.label for tag in page.tags} - set(tagger.labels)
        for each, labels in zip(prediction.fields, tagger.labels_of(prediction, richness), strict=True):
            found.scores.add(
                ScoredField(
                    language_of(page),
                    each.name,
                    page.shop or "",
                    true_labels(page, each, tagger.scheme),
                    labels,
                    [tag for tag in page.tags if tag.field == each.name],
                    [tag for tag in tags if tag.field == each.name],
                )
            )
        gold, said = _places(page.tags), _places(tags)
        if gold == said:
            found.right += 1
        elif wrong is not None:
            wrong(
                {"id": page.id}
                | own_fields(page)
                | {
                    "gold": [tag_record(tag) for tag in page.tags],
                    "predicted": [tag_record(tag) for tag in tags],
                    "missed": [tag_record(tag) for tag in page.tags if _place(tag) not in said],
                    "needless": [tag_record(tag) for tag in tags if _place(tag) not in gold],
                }
            )
    return found


def true_labels(page: Page, field: TokenizedField, scheme: Scheme) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The label of each token as people gave it; -1 for a class that the tagger does not know."""
    spans, _ = align(page, field)
    known = set(scheme.classes)
    labels = np.array(scheme.encode((span for span in spans if span[2] in known), length=len(field.tokens)), dtype=np.int64)
    for first, last, name in spans:
        if name not in known:
            labels[first : last + 1] = IGNORED
    return labels


def _place(tag: Tag) -> tuple[str, int, int, str]:
    return tag.field, tag.start, tag.end, tag.label


def _places(tags: Iterable[Tag]) -> set[tuple[str, int, int, str]]:
    return set(map(_place, tags))
