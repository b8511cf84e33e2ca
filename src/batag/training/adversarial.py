"""Learning against an adversary: a page is learnt also with its vectors pushed to where its labels are least likely.

Shapes: B pages, L tokens, D width.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

_TINY = 1e-12


def against(loss_of: Callable[[Tensor], Tensor], vectors_BLD: Tensor, mask_BL: Tensor, *, share: float) -> Tensor:
    """The mean loss of vectors as they are and pushed; `share` is the length of the push by that of the page's vectors."""
    loss = loss_of(vectors_BLD)
    if not share:
        return loss
    (slope_BLD,) = torch.autograd.grad(loss, vectors_BLD, retain_graph=True)
    reach_B = share * _lengths(vectors_BLD.detach() * mask_BL[..., None]) / _lengths(slope_BLD).clamp(min=_TINY)
    return (loss + loss_of(vectors_BLD + reach_B * slope_BLD)) / 2


def _lengths(vectors_BLD: Tensor) -> Tensor:
    found: Tensor = torch.linalg.vector_norm(vectors_BLD, dim=(1, 2), keepdim=True)
    return found
