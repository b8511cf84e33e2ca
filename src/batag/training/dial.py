"""Choose operating points and calibration on dev for the best weights, and score them as `batag evaluate` does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from batag.bundles.description import Description
from batag.evaluation.assessment import Assessment
from batag.evaluation.calibration import Calibration, calibrate
from batag.evaluation.decoding import Decoding, Prediction
from batag.evaluation.operating_point import NAMES, Dial
from batag.evaluation.report import Report
from batag.evaluation.sweep import Sweep
from batag.evaluation.tag_points import choose_tag_dial
from batag.evaluation.token_points import choose_token_dial, token_scores
from batag.heads.classifier import TokenClassifier
from batag.labels.scheme import Scheme
from batag.pages.stopwords import stop_words_by_language
from batag.settings import settings
from batag.training.data import Data
from batag.training.loop import probabilities_with
from batag.training.recipe import Recipe

_SAMPLE = 200_000
_KEPT = ("pages", "pages_all_right", "stop_words", "tokens", "tags")


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
    words = stop_words_by_language(allowed=data.allowed)
    judged, other = (new, old) if data.judge is data.new_dev else (old, new)
    tuned = Sweep([*new, *old] if data.tuned_by_both else judged, data.scheme, stop_words=words)
    dial = choose_tag_dial(
        tuned.tags, betas=recipe.dial.betas, fewest=settings.rare_dev_tags, before=_dial_of(before, data.scheme)
    )
    shown = tuned.shown(dial)
    raw = tuned.raw[shown]
    calibration, errors, held = calibrate(raw, tuned.tags.right_N[shown], tuned.tags.pages_N[shown])
    if len(errors) == 1 and before is not None:
        calibration = Calibration.from_dict(before.calibration.model_dump())
        held = calibration(raw)
    decoding = Decoding(data.scheme, dial=dial, calibration=calibration, stop_words=words)
    sweep = Sweep(judged, data.scheme, stop_words=words) if data.tuned_by_both else tuned
    points = {"no offsets": sweep.row(None, 0.5)} | {name: sweep.row(dial, richness) for name, richness in NAMES.items()}
    scores = _scores(judged, decoding) | {"points": points, "tokens_alone": _tokens_alone(sweep, judged, recipe)}
    if judged is new and other:
        scores["old"] = _scores(other, decoding)
    report = sweep.report(dial, calibration, held=held if sweep is tuned else None)
    return DialOfDev(dial, calibration, errors, scores, report)


def _tokens_alone(sweep: Sweep, judged: Sequence[Prediction], recipe: Recipe) -> dict[str, float]:
    """Macro F1 and F2 of tokens at points that were chosen for tokens: what the choice for tags costs."""
    pages = [np.full(sum(map(len, each.probabilities)), number) for number, each in enumerate(judged)]
    points = choose_token_dial(
        sweep.marginals,
        sweep.truth,
        np.concatenate(pages),
        sweep.scheme,
        betas=recipe.dial.betas,
        bags=1,
        most_logits=_SAMPLE,
    )
    return {
        key: token_scores(sweep.marginals, sweep.truth, sweep.scheme, points.offsets(NAMES[name])).summary()[key]
        for name, key in (("balanced", "macro_f1"), ("rich", "macro_f2"))
    }


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
