"""A tagger at every richness, on pages that people labelled: what the dial does, and what its scores are worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batag.evaluation.dial_chart import dial_report
from batag.evaluation.operating_point import steps
from batag.evaluation.tags import TagScores
from batag.evaluation.tokens import TokenScores
from batag.labels.weak import by_people
from batag.pages.page import Page
from batag.tagging.assessment import true_labels
from batag.tagging.tagger import Tagger


@dataclass
class Sweep:
    """Collects predictions; each richness is then only another choice of labels."""

    tagger: Tagger
    tokens: dict[float, TokenScores] = field(default_factory=dict)
    tags: dict[float, TagScores] = field(default_factory=dict)
    scores: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        for richness in steps():
            self.tokens[richness], self.tags[richness] = TokenScores(self.tagger.scheme), TagScores()

    def add(self, pages: Iterable[Page]) -> None:
        """Pages that nobody labelled do not count."""
        for prediction in self.tagger.predict(filter(by_people, pages)):
            page = prediction.page
            truth = [true_labels(page, each, self.tagger.scheme) for each in prediction.fields]
            gold = {((tag.field, tag.start, tag.end), tag.label) for tag in page.tags}
            seen: set[tuple[Any, str]] = set()
            for richness, scores in self.tokens.items():
                for true, said in zip(truth, self.tagger.labels_of(prediction, richness), strict=True):
                    scores.add(true, said)
                tags = self.tagger.tags_of(prediction, richness)
                places = [((tag.field, tag.start, tag.end), tag.label) for tag in tags]
                self.tags[richness].add(gold, places)
                for tag, place in zip(tags, places, strict=True):
                    if place not in seen:
                        seen.add(place)
                        self.scores.append(tag.score or 0.0)
                        self.raw.append(self.tagger.raw_score(prediction, tag))
                        self.right.append(place in gold)

    def report(self) -> dict[str, Any]:
        """A row a richness, and the reliability of scores before and after calibration."""
        rows = []
        for richness, scores in self.tokens.items():
            micro = self.tags[richness].report()["micro"]
            rows.append({"richness": richness} | scores.in_short() | {f"tag_{key}": micro[key] for key in ("f1", "f2")})
        found = {"raw": np.array(self.raw), "calibrated": np.array(self.scores)}
        return dial_report(rows, found, np.array(self.right, dtype=np.float64))
