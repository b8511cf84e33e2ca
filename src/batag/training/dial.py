"""What dev says about the best weights besides their scores: operating points, and what raw scores are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from batag.bundles.description import Description
from batag.encoders.batches import Floats
from batag.encoders.classifier import TokenClassifier
from batag.evaluation.calibration import Calibration, calibrate
from batag.evaluation.dial_chart import dial_report
from batag.evaluation.operating_point import NAMES, Dial, choose_dial, label_offsets, log_probabilities, steps
from batag.evaluation.tags import TagScores
from batag.evaluation.tokens import TokenScores, class_numbers
from batag.labels.scheme import Scheme
from batag.settings import settings
from batag.training.data import Data
from batag.training.examples import Example
from batag.training.loop import probabilities_with


@dataclass(frozen=True)
class DialOfDev:
    """The dial, the calibration, the expected calibration error of each way to calibrate, and scores on dev: of the balanced
    point, which is what a tagger gives unasked, in short of each point, and of the whole dial to be drawn."""

    dial: Dial
    calibration: Calibration
    errors: Mapping[str, float]
    scores: Mapping[str, Any]
    sweep: Mapping[str, Any]

    @property
    def calibrated(self) -> bool:
        """Whether scores were calibrated, on dev or before."""
        return len(self.errors) > 1 or self.calibration.method != "none"

    def facts(self, classes: Sequence[str]) -> dict[str, Any]:
        """As it stands in a bundle."""
        return {
            "operating_points": {"points": self.dial.facts(classes)},
            "calibration": self.calibration.facts() | {"errors": dict(self.errors)},
        }


def measure_dial(
    model: TokenClassifier,
    weights: Mapping[str, Tensor],
    data: Data,
    *,
    betas: Sequence[float],
    before: Description | None = None,
) -> DialOfDev:
    """Choose on dev with these weights; what dev has too few tags for stays as it was `before`, in the bundle of the start or
    of the teacher."""
    found = probabilities_with(model, weights, data.dev)
    pages = {page: number for number, page in enumerate(dict.fromkeys(each.page for each in data.dev))}
    kept = [np.array(example.labels) >= 0 for example in data.dev]
    logits = np.concatenate([log_probabilities(values[known]) for values, known in zip(found, kept, strict=True)])
    labels = np.concatenate([np.array(example.labels)[known] for example, known in zip(data.dev, kept, strict=True)])
    of_page = np.concatenate(
        [np.full(int(known.sum()), pages[example.page]) for example, known in zip(data.dev, kept, strict=True)]
    )
    dial = choose_dial(
        logits,
        class_numbers(data.scheme)[labels],
        of_page,
        data.scheme,
        betas=betas,
        fewest=settings.rare_dev_tags,
        before=_dial_of(before, data.scheme),
    )
    raw, right, groups = _tags(data.dev, found, data.scheme, dial, pages)
    calibration, errors, held = calibrate(raw, right, groups)
    if len(errors) == 1 and before is not None:
        calibration = Calibration.of_facts(before.calibration.model_dump())
        held = calibration(raw)

    def at(richness: float | None) -> TokenScores:
        scores = TokenScores(data.scheme)
        offsets = 0.0 if richness is None else label_offsets(data.scheme, dial.offsets(richness))
        scores.add(labels, (logits + offsets).argmax(1))
        return scores

    points = {"most probable": at(None).in_short()} | {name: at(richness).in_short() for name, richness in NAMES.items()}
    tags = _score_tags(data.dev, found, data.scheme, label_offsets(data.scheme, dial.offsets(NAMES["balanced"])))
    sweep = dial_report(
        [{"richness": richness} | at(richness).in_short() for richness in steps()],
        {"raw": raw, "calibrated": held},
        right,
    )
    scores = {"tokens": at(NAMES["balanced"]).report(), "tags": tags, "points": points}
    return DialOfDev(dial, calibration, errors, scores, sweep)


def _dial_of(bundle: Description | None, scheme: Scheme) -> Dial | None:
    points = bundle.operating_points.points if bundle is not None else []
    return Dial.of_facts([point.model_dump() for point in points], scheme.classes) if points else None


def _score_tags(dev: Sequence[Example], found: Sequence[Floats], scheme: Scheme, offsets: Any) -> dict[str, Any]:
    """The tag level, by borders of tokens."""
    tags = TagScores()
    for example, values in zip(dev, found, strict=True):
        truth, said = np.array(example.labels), (log_probabilities(values) + offsets).argmax(1)
        # Field markers and what another window answers for are none in both.
        both = (np.maximum(truth, 0), np.where(truth >= 0, said, 0))
        tags.add(*([(span[:2], span[2]) for span in scheme.decode(each.tolist())] for each in both))
    return tags.report()


def _tags(
    dev: Sequence[Example], found: Sequence[Floats], scheme: Scheme, dial: Dial, pages: Mapping[str, int]
) -> tuple[Any, Any, Any]:
    """Raw score, whether it is right, and page of every tag that any of the points gives; each place and label once."""
    raw: list[float] = []
    right: list[float] = []
    groups: list[int] = []
    for example, values in zip(dev, found, strict=True):
        truth = np.array(example.labels)
        gold = set(scheme.decode(np.maximum(truth, 0).tolist()))
        logits = log_probabilities(values)
        said = set()
        for point in dial.points:
            chosen = (logits + label_offsets(scheme, point.offsets)).argmax(1)
            said |= set(scheme.decode(np.where(truth >= 0, chosen, 0).tolist()))
        for first, last, name in sorted(said):
            columns = class_numbers(scheme) == scheme.classes.index(name) + 1
            raw.append(float(values[first : last + 1, columns].sum(1).mean()))
            right.append(float((first, last, name) in gold))
            groups.append(pages[example.page])
    return np.array(raw), np.array(right), np.array(groups, dtype=np.int64)
