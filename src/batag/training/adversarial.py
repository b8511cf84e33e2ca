"""Adversarial training: a page is learnt also with its vectors moved to where its labels are least likely.

Shapes: B pages, L tokens, D width.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

_TINY = 1e-12


def adversarial_loss(loss_of: Callable[[Tensor], Tensor], vectors_BLD: Tensor, mask_BL: Tensor, *, epsilon: float) -> Tensor:
    """The mean loss of vectors as they are and perturbed; `epsilon` is the norm of the perturbation by that of the page's
    vectors."""
    loss = loss_of(vectors_BLD)
    if not epsilon:
        return loss
    (gradient_BLD,) = torch.autograd.grad(loss, vectors_BLD, retain_graph=True)
    factor_B = epsilon * _norms(vectors_BLD.detach() * mask_BL[..., None]) / _norms(gradient_BLD).clamp(min=_TINY)
    return (loss + loss_of(vectors_BLD + factor_B * gradient_BLD)) / 2


def _norms(vectors_BLD: Tensor) -> Tensor:
    found: Tensor = torch.linalg.vector_norm(vectors_BLD, dim=(1, 2), keepdim=True)
    return found
