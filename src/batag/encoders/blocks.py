"""Parts that encoders share. Shapes: B pages, L tokens, D width, H heads, K width of a head."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def glorot_(*weights: Tensor) -> None:
    """Fill matrices [out, in] uniformly within sqrt(6 / (in + out))."""
    with torch.no_grad():
        for weight in weights:
            weight.uniform_(-1, 1).mul_(math.sqrt(6 / (weight.shape[0] + weight.shape[1])))


def several_linears(width: int, outs: Iterable[int]) -> nn.Linear:
    """Linear maps of one input as one matrix product: each with its own Glorot start, biases zero."""
    sizes = list(outs)
    linear = nn.Linear(width, sum(sizes))
    glorot_(*linear.weight.split(sizes))
    nn.init.zeros_(linear.bias)
    return linear


def attend(q_BLD: Tensor, k_BLD: Tensor, v_BLD: Tensor, mask_BL: Tensor, *, heads: int, scale: float) -> Tensor:
    """softmax(scale Q K^T) V in each head, padded keys left out; heads side by side."""
    q_BHLK, k_BHLK, v_BHLK = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q_BLD, k_BLD, v_BLD))
    out_BHLK = F.scaled_dot_product_attention(q_BHLK, k_BHLK, v_BHLK, attn_mask=mask_BL[:, None, None, :], scale=scale)
    return out_BHLK.transpose(1, 2).flatten(2)


class DeviationNorm(nn.Module):
    """BAT's layer norm: (x - mean) / (std + 1e-4) * gain + bias; the epsilon is added to the deviation, not the variance."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x_BLD: Tensor) -> Tensor:
        centred = x_BLD - x_BLD.mean(-1, keepdim=True)
        # A norm, not the square root of a variance: its gradient is 0, not NaN, where all values are equal.
        deviation = torch.linalg.vector_norm(centred, dim=-1, keepdim=True) / math.sqrt(x_BLD.shape[-1])
        return torch.addcmul(self.bias, centred / (deviation + 1e-4), self.weight)
