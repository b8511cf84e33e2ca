"""Adversarial training: what is perturbed, how far, and that every encoder learns with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny import QUICK, catalogue
from torch import Tensor

from batag.encoders import ENCODERS
from batag.pages.formats import write_pages
from batag.training.data import DataFiles
from batag.training.gradients import adversarial_loss
from batag.training.recipe import read_recipe
from batag.training.run import Run

EPSILON = 0.25


def batch(pages: int, length: int, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Vectors, weights of a linear loss and a mask: the last token of each page but the first is padding."""
    rng = torch.Generator().manual_seed(seed)
    vectors, weights = (torch.randn(pages, length, 3, generator=rng, dtype=torch.float64) for _ in range(2))
    mask = torch.ones(pages, length, dtype=torch.bool)
    mask[1:, -1] = False
    return vectors.requires_grad_(), weights * mask[..., None], mask


@given(st.integers(1, 4), st.integers(2, 6), st.integers(0, 99))
def test_each_page_is_pushed_up_its_slope_by_a_share_of_its_own_length(pages: int, length: int, seed: int) -> None:
    vectors, weights, mask = batch(pages, length, seed=seed)
    asked: list[Tensor] = []

    def loss_of(x: Tensor) -> Tensor:
        asked.append(x.detach())
        return (x * weights).sum() / pages

    found = adversarial_loss(loss_of, vectors, mask, epsilon=EPSILON).item()
    x, w, real = vectors.detach().numpy(), weights.numpy(), mask.numpy()[..., None]
    pushes = [EPSILON * np.linalg.norm(own * here) / np.linalg.norm(up) * up for own, here, up in zip(x, real, w, strict=True)]
    np.testing.assert_allclose(asked[1] - asked[0], np.array(pushes), atol=1e-12)
    expected = ((x * w).sum() + ((x + pushes) * w).sum()) / 2 / pages
    assert found == pytest.approx(expected, abs=1e-9)


def test_what_stands_at_padding_does_not_matter() -> None:
    vectors, weights, mask = batch(3, 4)
    other = vectors.detach().masked_fill(~mask[..., None], 1e6).requires_grad_()
    one, two = (adversarial_loss(lambda x: (x * weights).sum(), each, mask, epsilon=EPSILON) for each in (vectors, other))
    assert one.item() == pytest.approx(two.item())


def test_without_an_epsilon_the_loss_is_asked_for_once() -> None:
    vectors, weights, mask = batch(2, 3)
    asked = []
    adversarial_loss(lambda x: asked.append(x) or (x * weights).sum(), vectors, mask, epsilon=0.0)  # type: ignore[func-returns-value]
    assert len(asked) == 1


def test_a_page_that_nothing_can_make_harder_stays_where_it_is() -> None:
    vectors, weights, mask = batch(2, 3)
    weights[1] = 0
    seen = []
    adversarial_loss(lambda x: seen.append(x) or (x * weights).sum(), vectors, mask, epsilon=EPSILON)  # type: ignore[func-returns-value]
    assert torch.equal(seen[1][1], vectors[1])
    assert not torch.equal(seen[1][0], vectors[0])


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_encoder_learns_beside_it_and_otherwise_than_without(encoder: str, tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    write_pages(catalogue(6), pages)
    losses = []
    for share in (0.0, 0.2):
        settings = [
            *QUICK,
            "training.epochs=2",
            f"encoder.name={encoder}",
            "head.window_crf=0",
            f"training.adversarial_epsilon={share}",
        ]
        run = Run.create(tmp_path / f"{share}", read_recipe(None, settings=settings), DataFiles((pages,), (pages,)))
        run = run.prepare(device="cpu")
        steps = run.train()
        losses.append([next(steps).loss for _ in range(2)])
    # The same start and the same dropout: what is harder has a higher loss.
    assert losses[1][0] > losses[0][0]
    assert np.isfinite(losses).all()
