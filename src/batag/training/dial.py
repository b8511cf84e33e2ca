"""Choose operating points and calibration on dev for the best weights, and score them as `batag evaluate` does."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor

from batag.bundles.description import Description
from batag.evaluation.assessment import Assessment, Place, place, places, true_labels
from batag.evaluation.calibration import AS_IT_IS, Calibration, calibrate
from batag.evaluation.decoding import Decoding, Prediction
from batag.evaluation.operating_point import NAMES, Dial, choose_dial, dial_report, log_probabilities, steps
from batag.evaluation.report import Report
from batag.evaluation.tokens import TokenScores, class_numbers
from batag.features.batches import Floats
from batag.heads.classifier import TokenClassifier
from batag.labels.scheme import Scheme
from batag.pages.stopwords import stop_words_by_language
from batag.settings import settings
from batag.training.data import Data
from batag.training.examples import Example
from batag.training.loop import probabilities_with
from batag.training.recipe import Recipe

_KEPT = ("pages", "pages_all_right", "stop_words", "tokens", "tags")
_BETAS = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class DialOfDev:
    """The dial, the calibration, the calibration error of each method, and dev scores: full ones at the balanced point (the
    default of a tagger), short ones at each point, and those of the whole dial for the chart."""

    dial: Dial
    calibration: Calibration
    errors: Mapping[str, float]
    scores: Mapping[str, Any]
    sweep: Mapping[str, Any]

    @property
    def calibrated(self) -> bool:
        """Whether scores are calibrated, on dev or in the base bundle."""
        return len(self.errors) > 1 or self.calibration.method != "none"

    def to_dict(self, classes: Sequence[str]) -> dict[str, Any]:
        """The dial and calibration as they are stored in a bundle."""
        return {
            "dial": self.dial.to_dicts(classes),
            "calibration": self.calibration.to_dict() | {"errors": dict(self.errors)},
        }


def measure_dial(
    model: TokenClassifier,
    weights: Mapping[str, Tensor],
    data: Data,
    *,
    recipe: Recipe,
    before: Description | None = None,
) -> DialOfDev:
    """Choose dial and calibration on dev with these weights. Where dev has too few tags, they stay as in `before`, the base
    bundle or the teacher."""
    found = probabilities_with(model, weights, data.dev)
    size = {"window": recipe.training.window, "overlap": recipe.training.overlap, "labels": len(data.scheme.labels)}
    own = len(data.new_dev.examples)
    new = list(data.new_dev.predictions(found[:own], data.segmentation, **size))
    old = list(data.old_dev.predictions(found[own:], data.segmentation, **size))
    tuned = slice(None) if data.tuned_by_both or not data.new_dev else slice(own)
    dial = dial_on_dev(
        data.dev[tuned], found[tuned], data.scheme, betas=recipe.dial.betas, before=_dial_of(before, data.scheme)
    )
    words = stop_words_by_language(allowed=data.allowed)
    decoding = Decoding(data.scheme, dial=dial, stop_words=words)
    raw, right, groups = _tags([*new, *old] if tuned == slice(None) else new, decoding)
    calibration, errors, held = calibrate(raw, right, groups)
    if len(errors) == 1 and before is not None:
        calibration = Calibration.from_dict(before.calibration.model_dump())
        held = calibration(raw)
    judged = new if data.judge is data.new_dev else old
    decoding = replace(decoding, calibration=calibration)
    at = _token_scores(judged, decoding)
    points = {"most probable": at(None).in_short()} | {name: at(richness).in_short() for name, richness in NAMES.items()}
    scores = _scores(judged, decoding) | {"points": points}
    if judged is new and old:
        scores["old"] = _scores(old, decoding)
    rows = [{"richness": richness} | at(richness).in_short() for richness in steps()]
    return DialOfDev(dial, calibration, errors, scores, dial_report(rows, {"raw": raw, "calibrated": held}, right))


def dial_on_dev(
    dev: Sequence[Example],
    found: Sequence[Floats],
    scheme: Scheme,
    *,
    betas: Sequence[float] = _BETAS,
    before: Dial | None = None,
) -> Dial:
    """Choose the operating points from the probabilities of dev pages; a class with fewer than `rare_dev_tokens` tokens keeps
    its offset of `before`."""
    pages = {page: number for number, page in enumerate(dict.fromkeys(each.page for each in dev))}
    kept = [np.array(example.labels, dtype=np.int64) >= 0 for example in dev]
    labels = [np.array(example.labels, dtype=np.int64)[known] for example, known in zip(dev, kept, strict=True)]
    of_page = [np.full(len(own), pages[example.page]) for example, own in zip(dev, labels, strict=True)]
    logits = [log_probabilities(np.asarray(values)[known]) for values, known in zip(found, kept, strict=True)]
    return choose_dial(
        np.concatenate(logits),
        class_numbers(scheme)[np.concatenate(labels)],
        np.concatenate(of_page),
        scheme,
        betas=betas,
        fewest=settings.rare_dev_tokens,
        before=before,
    )


def _dial_of(bundle: Description | None, scheme: Scheme) -> Dial | None:
    points = bundle.dial if bundle is not None else []
    return Dial.from_dicts([point.model_dump() for point in points], scheme.classes) if points else None


def _scores(predictions: Iterable[Prediction], decoding: Decoding) -> dict[str, Any]:
    """The scores of `batag evaluate` on the same pages, without groups."""
    found = Assessment(Report(decoding.scheme))
    for prediction in predictions:
        found.add(prediction, decoding)
    report = found.report()
    return {key: report[key] for key in _KEPT}


def _token_scores(predictions: Sequence[Prediction], decoding: Decoding) -> Callable[[float | None], TokenScores]:
    """A function that returns the token scores at a richness; None for the most probable labels."""
    logits = log_probabilities(np.concatenate([values for each in predictions for values in each.probabilities]))
    truth = np.concatenate([true_labels(each.page, field, decoding.scheme) for each in predictions for field in each.fields])

    def at(richness: float | None) -> TokenScores:
        scores = TokenScores(decoding.scheme)
        offsets = None if richness is None else decoding.offsets(richness)
        scores.add(truth, (logits if offsets is None else logits + offsets).argmax(1))
        return scores

    return at


def _tags(predictions: Iterable[Prediction], decoding: Decoding) -> tuple[Any, Any, Any]:
    """Raw score, correctness and page of every distinct tag that is predicted at any operating point."""
    decoding = replace(decoding, calibration=AS_IT_IS)
    raw: list[float] = []
    right: list[bool] = []
    groups: list[int] = []
    pages: dict[str, int] = {}
    for prediction in predictions:
        page, gold = prediction.page, places(prediction.page.tags)
        scored: dict[Place, float] = {}
        for name in NAMES:
            scored |= {place(tag): tag.score or 0.0 for tag in decoding.tags_of(prediction, name)}
        for each, score in sorted(scored.items()):
            raw.append(score)
            right.append(each in gold)
            groups.append(pages.setdefault(page.id, len(pages)))
    return np.array(raw), np.array(right, dtype=np.float64), np.array(groups, dtype=np.int64)
