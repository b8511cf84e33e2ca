"""The loss of a student that imitates its teacher: its token marginals, and how it continues tags.

Shapes: B pages, L tokens, C labels.
"""

import torch
from torch import Tensor

from batag.heads.classifier import TokenClassifier
from batag.heads.torch_heads import Chain, Scores

_TINY = 1e-6


@torch.no_grad()
def inherit_chain(teacher: TokenClassifier, chain: Chain) -> None:
    """Let a student's chain start as the teacher's, mixed with that of its window CRF."""
    zeros = [torch.zeros_like(value) for value in chain.parameters()]
    own = zeros if teacher.chain is None else list(teacher.chain.parameters())
    crf = teacher.window_crf
    weight, others = (0.0, zeros) if crf is None else (crf.mixing_weight.item(), list(crf.chain.parameters()))
    for value, one, other in zip(chain.parameters(), own, others, strict=True):
        value.copy_((1 - weight) * one + weight * other)


def imitation_loss(scores: Scores, taught: Tensor, mask_BL: Tensor, continuation: tuple[int, ...]) -> Tensor:
    """The cross-entropy with the teacher's rows: of each token's label and, where both have a chain, of whether it continues
    the tag before it, weighted by how probable the teacher finds that tag."""
    labels, rows = 1 + len(continuation), scores.log_probabilities(continuation)
    loss = -(taught[..., :labels] * rows[..., :labels]).sum(-1)
    if rows.shape[-1] > labels and taught.shape[-1] > labels:
        onward = rows[..., labels:].clamp(max=-_TINY)
        parts = taught[..., labels:] * onward + (1 - taught[..., labels:]) * torch.log(-torch.expm1(onward))
        before = torch.nn.functional.pad(taught[:, :-1, 1:labels], (0, 0, 1, 0))
        loss = loss - (before * parts).sum(-1)
    return loss[mask_BL].mean()
