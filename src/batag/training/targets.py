"""What a batch should say: its labels and weights as tensors, and the loss that counts each token by its weight."""

from collections.abc import Sequence

import torch
from torch import Tensor

from batag.labels.scheme import IGNORED
from batag.objectives.objective import Objective
from batag.training.examples import Example


def padded_labels(batch: Sequence[Example], length: int) -> Tensor:
    """The labels of a batch [B,L], -1 at padding."""
    labels = torch.full((len(batch), length), IGNORED, dtype=torch.long)
    for row, example in zip(labels, batch, strict=True):
        row[: len(example.labels)] = torch.tensor(example.labels)
    return labels


def padded_weights(batch: Sequence[Example], targets: Tensor) -> Tensor:
    """The weights of a batch [B,L], on the device of its targets."""
    weights = torch.ones(targets.shape)
    for row, example in zip(weights, batch, strict=True):
        if example.weights is not None:
            row[: len(example.weights)] = torch.tensor(example.weights)
    return weights.to(targets.device)


def weighted_loss(objective: Objective, logits: Tensor, targets: Tensor, weights_BL: Tensor) -> Tensor:
    """The mean loss with each token multiplied by its weight; a batch of low-weight tokens has a small loss."""
    weights_N, known_N = weights_BL.flatten(), targets.flatten() != IGNORED
    share = weights_N[known_N].sum() / known_N.sum().clamp(min=1)
    loss: Tensor = objective(logits.flatten(0, 1), targets.flatten(), weights_N) * share
    return loss
