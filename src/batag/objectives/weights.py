"""Class weights from the numbers of training tokens N_1..N_C of the classes (N is their sum).

A class without tokens counts as one with a single token, to avoid a division by zero.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def class_weights(weighting: str, counts: Sequence[int]) -> tuple[Tensor, Tensor]:
    """`positive_weights` [C] (alpha, for the true class) and `negative_weights` [C,C] (beta; row: true class, column: other
    class)."""
    n_C = torch.tensor([max(count, 1) for count in counts], dtype=torch.float64)
    total, classes = n_C.sum(), len(counts)
    ones = torch.ones(classes, dtype=torch.float64)
    if weighting == "none":
        positive, negative = ones, ones.expand(classes, classes)
    elif weighting == "positive":
        positive, negative = total / n_C, torch.zeros(classes, classes, dtype=torch.float64)
    elif weighting == "ee":  # equal expectation
        positive, negative = total / n_C, (total / (total - n_C)).expand(classes, classes)
    elif weighting == "standard":
        positive, negative = (total - n_C) / total, (n_C / total).expand(classes, classes)
    else:  # array: column c of A for the true class c
        positive = total / n_C
        negative = (positive / (classes - 1))[:, None].expand(classes, classes)
    return positive, negative.clone()
