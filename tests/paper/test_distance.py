"""The losses on embeddings against loops that follow the paper's equations word by word."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from batag.paper.distance import pairwise_loss, triplet_loss, tuplet_loss


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("margin", [0.5, 3.0])
def test_the_triplet_loss_is_equation_one(margin: float) -> None:
    x, near, far = drawn(6, 4), drawn(6, 4, seed=1), drawn(6, 4, seed=2)
    each = [
        max(0.0, np.sum((a - p) ** 2) - np.sum((a - n) ** 2) + margin)
        for a, p, n in zip(x.numpy(), near.numpy(), far.numpy(), strict=True)
    ]
    assert triplet_loss(x, near, far, margin=margin).item() == pytest.approx(np.mean(each), abs=1e-12)


@pytest.mark.parametrize("margin", [0.5, 9.0])
def test_the_pairwise_loss_is_equation_two_over_all_pairs(margin: float) -> None:
    x, labels = drawn(7, 3), torch.tensor([0, 1, 0, -1, 2, 1, -1])
    each = []
    for i, j in combinations([0, 1, 2, 4, 5], 2):
        squared = float(((x[i] - x[j]) ** 2).sum())
        each.append(squared if labels[i] == labels[j] else max(0.0, margin - squared))
    assert pairwise_loss(x, labels, margin=margin).item() == pytest.approx(np.mean(each), abs=1e-12)


def test_with_one_negative_the_tuplet_loss_is_the_triplet_loss() -> None:
    x, near, far = drawn(6, 4), drawn(6, 4, seed=1), drawn(6, 4, seed=2)
    torch.testing.assert_close(tuplet_loss(x, near, far[:, None], margin=2), triplet_loss(x, near, far, margin=2))


def test_more_negatives_are_averaged() -> None:
    x, near, far = drawn(6, 4), drawn(6, 4, seed=1), drawn(6, 5, 4, seed=2)
    each = torch.stack([triplet_loss(x, near, far[:, k], margin=2) for k in range(5)])
    torch.testing.assert_close(tuplet_loss(x, near, far, margin=2), each.mean())


def test_gradients_are_derivatives() -> None:
    x, near, far = (drawn(3, 4, seed=seed).requires_grad_() for seed in range(3))
    assert gradcheck(triplet_loss, (x, near, far))
    assert gradcheck(lambda *vectors: tuplet_loss(vectors[0], vectors[1], torch.stack(vectors[2:], 1)), (x, near, far))
    assert gradcheck(lambda vectors: pairwise_loss(vectors, torch.tensor([0, 1, 0])), (x,))


@pytest.mark.parametrize("labels", [[], [1], [-1, -1, 0], [-1]])
def test_too_few_labelled_samples_give_zero_and_train_nothing(labels: list[int]) -> None:
    x = drawn(len(labels), 3).requires_grad_()
    loss = pairwise_loss(x, torch.tensor(labels, dtype=torch.long))
    assert loss.item() == 0
    loss.backward()
    assert x.grad is None or not x.grad.any()


def test_it_pulls_equals_together_and_pushes_others_apart() -> None:
    x = torch.tensor([[0.0, 0.0], [0.5, 0.0], [0.0, 0.9]]).requires_grad_()
    pairwise_loss(x, torch.tensor([0, 0, 1]), margin=1.0).backward()
    assert x.grad is not None
    assert x.grad[1, 0] > 0  # a step against it moves towards the equal one at 0
    assert x.grad[2, 1] < 0
