"""Why an objective predicts more tags: the probability from which a perfect learner predicts a class instead of none.

A token that is of class k with probability q, and none otherwise, costs q l(k) + (1 - q) l(none). The learner that minimises
this predicts k once the minimising p is above one half: for CE at q = 1/2; class weights move that point, the more the rarer k
is.
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from batag.labels.scheme import NONE
from batag.objectives import PAPER, build_objective
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation
from batag.training.examples import choose_scheme, label_words

_STEPS = 8_000
_REACH = 12.0
_FAR = -40.0


def losses(name: str, counts: Sequence[int], label: int) -> tuple[Tensor, Tensor, Tensor]:
    """p of class `label` (against none alone), and the losses of a token of that class and of a token of none at that p."""
    objective = build_objective(name, counts)
    logit = torch.linspace(-_REACH, _REACH, _STEPS, dtype=torch.float64)
    logits = torch.full((_STEPS, len(counts)), _FAR, dtype=torch.float64)
    logits[:, 0], logits[:, label] = 0.0, logit
    logp = torch.log_softmax(logits, dim=-1)
    of_label, of_none = (objective.of_tokens(logp, torch.full((_STEPS,), each)) for each in (label, 0))
    return torch.sigmoid(logit), of_label, of_none


def best_probabilities(name: str, counts: Sequence[int], label: int, truth: Tensor) -> Tensor:
    """The p that minimises the expected loss, for each true probability."""
    p, of_label, of_none = losses(name, counts, label)
    return p[(truth[:, None] * of_label + (1 - truth[:, None]) * of_none).argmin(1)]


def pulls(name: str, counts: Sequence[int], label: int) -> tuple[Tensor, Tensor, Tensor]:
    """p, and the mean gradients with which the tokens of the class raise its logit and those of none lower it."""
    p, of_label, of_none = losses(name, counts, label)
    step = 2 * _REACH / (_STEPS - 1)
    # Between neighbouring logits: the derivative, except where a prediction changes and PBP's loss jumps.
    up, down = -of_label.diff() / step, of_none.diff() / step
    calm = (p[1:] - 0.5).abs() > 2e-3
    total = sum(counts)
    return p[1:][calm], up[calm] * counts[label] / total, down[calm] * counts[0] / total


def switching_point(name: str, counts: Sequence[int], label: int) -> float:
    """The true probability from which the class is predicted instead of none."""
    p, of_label, of_none = losses(name, counts, label)
    low, high = 0.0, 1.0
    for _ in range(30):  # the best p never falls as the truth rises
        truth = (low + high) / 2
        if p[(truth * of_label + (1 - truth) * of_none).argmin()] > 0.5:
            high = truth
        else:
            low = truth
    return (low + high) / 2


def class_counts(pages: Iterable[Page], *, where: str) -> dict[str, int]:
    """The number of tokens of none and of each class on labelled pages."""
    found = label_words(pages, Segmentation())
    return {name: found.class_tokens[name] for name in (NONE, *choose_scheme("flat", found, where=where).classes)}


def switching_points(counts: dict[str, int]) -> dict[str, dict[str, float]]:
    """The switching point of each class, for each of the paper's objectives."""
    numbers, classes = list(counts.values()), list(counts)[1:]
    return {name: {label: switching_point(name, numbers, at) for at, label in enumerate(classes, 1)} for name in PAPER}
