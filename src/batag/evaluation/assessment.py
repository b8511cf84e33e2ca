"""Compare predicted tags with gold tags; training, evaluation and benchmarks all count this way.

Gold tags are taken as people set them: adjacent tags are separate, and a tag that does not fit the tokens counts as missed.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batag.evaluation.decoding import Decoding, Prediction, Richness
from batag.evaluation.report import Report, ScoredField
from batag.labels.alignment import align
from batag.labels.scheme import IGNORED, Scheme
from batag.pages.page import PERSON, Page, Tag
from batag.pages.record import own_fields
from batag.pages.tags import tag_record
from batag.segmentation.segmentation import TokenizedField, language_of

Place = tuple[str, int, int, str]
Wrong = Callable[[dict[str, Any]], object]


@dataclass
class StopWordCounts:
    """What the stop words removed: predicted tags, how many of these were correct, and gold tags that they make impossible."""

    removed: int = 0
    removed_right: int = 0
    forbidden: int = 0

    def report(self) -> dict[str, int]:
        return {"removed": self.removed, "removed_right": self.removed_right, "forbidden": self.forbidden}


@dataclass
class Assessment:
    """Collects the scores of pages; `report` returns them as a JSON object."""

    scores: Report
    pages: int = 0
    right: int = 0
    not_labelled: int = 0
    not_reviewed: int = 0
    measured_by: str = PERSON
    unknown_classes: set[str] = field(default_factory=set)
    stop_words: StopWordCounts = field(default_factory=StopWordCounts)
    languages_by_file: Counter[str] = field(default_factory=Counter)

    def report(self) -> dict[str, Any]:
        counts: dict[str, Any] = {"pages": self.pages, "pages_all_right": self.right}
        counts |= {"pages_not_labelled": self.not_labelled, "pages_not_reviewed": self.not_reviewed}
        counts["measured_by"] = self.measured_by
        rest = {"unknown_classes": sorted(self.unknown_classes), "stop_words": self.stop_words.report()}
        return counts | rest | self.scores.report()

    def add(self, prediction: Prediction, decoding: Decoding, *, richness: Richness = None, wrong: Wrong | None = None) -> None:
        """Score one page; if it has a missed or wrong tag, `wrong` is called with its gold and predicted tags."""
        page, tags = prediction.page, decoding.tags_of(prediction, richness)
        scheme = decoding.scheme
        self.pages += 1
        self.languages_by_file[prediction.language] += prediction.by_file
        self.unknown_classes |= {tag.label for tag in page.tags} - set(scheme.classes)
        for each, labels in zip(prediction.fields, decoding.labels_of(prediction, richness), strict=True):
            self.scores.add(
                ScoredField(
                    language_of(page),
                    each.name,
                    page.shop or "",
                    true_labels(page, each, scheme),
                    labels,
                    [tag for tag in page.tags if tag.field == each.name],
                    [tag for tag in tags if tag.field == each.name],
                )
            )
        gold, found = places(page.tags), places(tags)
        self._count_stop_words(prediction, decoding, richness, gold, found)
        if gold == found:
            self.right += 1
        elif wrong is not None:
            wrong(
                {"id": page.id}
                | own_fields(page)
                | {
                    "gold": [tag_record(tag) for tag in page.tags],
                    "predicted": [tag_record(tag) for tag in tags],
                    "missed": [tag_record(tag) for tag in page.tags if place(tag) not in found],
                    "needless": [tag_record(tag) for tag in tags if place(tag) not in gold],
                }
            )

    def _count_stop_words(
        self, prediction: Prediction, decoding: Decoding, richness: Richness, gold: set[Place], found: set[Place]
    ) -> None:
        rule = decoding.stop_words.get(prediction.language)
        if rule is None:
            return
        removed = places(decoding.without_stop_words.tags_of(prediction, richness)) - found
        forbidden = {place(tag) for tag in prediction.page.tags if rule.only_stop_words(tag.text)}
        self.stop_words.removed += len(removed)
        self.stop_words.removed_right += len(removed & gold)
        self.stop_words.forbidden += len(forbidden | removed & gold)


def true_labels(page: Page, field: TokenizedField, scheme: Scheme) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The gold label number of each token; -1 for a class that the tagger does not know."""
    spans, _ = align(page, field)
    known = set(scheme.classes)
    labels = np.array(scheme.encode((span for span in spans if span[2] in known), length=len(field.tokens)), dtype=np.int64)
    for first, last, name in spans:
        if name not in known:
            labels[first : last + 1] = IGNORED
    return labels


def place(tag: Tag) -> Place:
    """The key by which tags are compared."""
    return tag.field, tag.start, tag.end, tag.label


def places(tags: Iterable[Tag]) -> set[Place]:
    """The keys of all these tags."""
    return set(map(place, tags))
