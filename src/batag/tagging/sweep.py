"""Evaluate a tagger at every richness on labelled pages, and the reliability of its scores."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from batag.evaluation.assessment import Place, place, places, true_labels
from batag.evaluation.calibration import AS_IT_IS
from batag.evaluation.operating_point import dial_report, steps
from batag.evaluation.tags import TagScores
from batag.evaluation.tokens import TokenScores
from batag.labels.provenance import Measuring
from batag.pages.page import Page
from batag.tagging.tagger import Tagger


@dataclass
class Sweep:
    """Collects predictions once; each richness then only changes the choice of labels."""

    tagger: Tagger
    tokens: dict[float, TokenScores] = field(default_factory=dict)
    tags: dict[float, TagScores] = field(default_factory=dict)
    raw: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        for richness in steps():
            self.tokens[richness], self.tags[richness] = TokenScores(self.tagger.scheme), TagScores()

    def add(self, pages: Iterable[Page]) -> None:
        """Add pages: those that a person has reviewed or, if there are none, those labelled by machines."""
        raw = replace(self.tagger.decoding, calibration=AS_IT_IS)
        for prediction in self.tagger.predict(Measuring(pages)):
            page = prediction.page
            truth = [true_labels(page, each, self.tagger.scheme) for each in prediction.fields]
            gold = places(page.tags)
            seen: set[Place] = set()
            for richness, scores in self.tokens.items():
                for true, predicted in zip(truth, self.tagger.labels_of(prediction, richness), strict=True):
                    scores.add(true, predicted)
                tags = raw.tags_of(prediction, richness)
                self.tags[richness].add(*(((each[:3], each[3]) for each in some) for some in (gold, places(tags))))
                for tag in tags:
                    if (at := place(tag)) not in seen:
                        seen.add(at)
                        self.raw.append(tag.score or 0.0)
                        self.right.append(at in gold)

    def report(self) -> dict[str, Any]:
        """One row of scores per richness, and the reliability of tag scores before and after calibration."""
        rows = []
        for richness, scores in self.tokens.items():
            micro = self.tags[richness].report()["micro"]
            rows.append({"richness": richness} | scores.in_short() | {f"tag_{key}": micro[key] for key in ("f1", "f2")})
        raw = np.array(self.raw)
        found = {"raw": raw, "calibrated": self.tagger.calibration(raw)}
        return dial_report(rows, found, np.array(self.right, dtype=np.float64))
