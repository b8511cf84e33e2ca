"""Why an objective tags more: from which probability on a perfect learner would call a token a class instead of none.

A token that truly is of class k with probability q and none otherwise costs q l(k) + (1 - q) l(none); the learner that
makes this smallest says k once the p that does so is above one half. CE does so at q = 1/2; weights move that point, the
more the rarer k is.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from batag.objectives import build_objective

_STEPS = 8_000
_REACH = 12.0
_FAR = -40.0


def best_probabilities(name: str, counts: Sequence[int], label: int, truth: Tensor) -> Tensor:
    """The p of class `label` (against none alone) that makes the expected loss smallest, for each true probability."""
    objective = build_objective(name, counts)
    logit = torch.linspace(-_REACH, _REACH, _STEPS, dtype=torch.float64)
    logits = torch.full((_STEPS, len(counts)), _FAR, dtype=torch.float64)
    logits[:, 0], logits[:, label] = 0.0, logit
    logp = torch.log_softmax(logits, dim=-1)
    of_label, of_none = (objective.of_tokens(logp, torch.full((_STEPS,), each)) for each in (label, 0))
    expected = truth[:, None] * of_label + (1 - truth[:, None]) * of_none
    return torch.sigmoid(logit)[expected.argmin(1)]


def switching_point(name: str, counts: Sequence[int], label: int) -> float:
    """The true probability from which on the class is said rather than none."""
    low, high = 0.0, 1.0
    for _ in range(30):  # the best p never falls as the truth rises
        middle = (low + high) / 2
        if best_probabilities(name, counts, label, torch.tensor([middle], dtype=torch.float64)).item() > 0.5:
            high = middle
        else:
            low = middle
    return (low + high) / 2
