"""Building blocks of the encoders. Shapes: B pages, L tokens, D width, H heads, K width of a head."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

_ADDED = 1e-4
_TINY = 1e-24  # for rows of equal values, whose deviation is 0


def glorot_(*weights: Tensor) -> None:
    """Initialise matrices [out, in] uniformly within sqrt(6 / (in + out))."""
    with torch.no_grad():
        for weight in weights:
            weight.uniform_(-1, 1).mul_(math.sqrt(6 / (weight.shape[0] + weight.shape[1])))


def several_linears(width: int, outs: Iterable[int], *, bias: bool = True) -> nn.Linear:
    """Several linear maps of the same input as one matrix product, each with its own Glorot initialisation and zero biases."""
    sizes = list(outs)
    linear = nn.Linear(width, sum(sizes), bias=bias)
    glorot_(*linear.weight.split(sizes))
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


def attend(q_BLD: Tensor, k_BLD: Tensor, v_BLD: Tensor, mask_BL: Tensor | None, *, heads: int, scale: float) -> Tensor:
    """Multi-head attention softmax(scale Q K^T) V with concatenated heads. `mask` excludes padded keys, or is a tensor that is
    added to the logits."""
    q_BHLK, k_BHLK, v_BHLK = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q_BLD, k_BLD, v_BLD))
    mask = None if mask_BL is None else mask_BL[:, None, None, :]
    out_BHLK = F.scaled_dot_product_attention(q_BHLK, k_BHLK, v_BHLK, attn_mask=mask, scale=scale)
    return out_BHLK.transpose(1, 2).flatten(2)


def neighbours(x_BLD: Tensor) -> Tensor:
    """Each token with the one before and the one after it, zeros beyond the ends: [B, L, 3D]."""
    padded = F.pad(x_BLD, (0, 0, 1, 1))
    return torch.cat((padded[:, :-2], x_BLD, padded[:, 2:]), dim=-1)


class DeviationNorm(nn.Module):
    """BAT's layer norm: (x - mean) / (std + 1e-4) * gain + bias; the epsilon is added to the standard deviation, not to the
    variance."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x_BLD: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            return _DeviationNorm.apply(x_BLD, self.weight, self.bias)  # type: ignore[no-untyped-call]
        # The same as `_deviation_norm`, written over: a third faster on a single page.
        scaled, _, inverse = torch.native_layer_norm(x_BLD, [x_BLD.shape[-1]], self.weight, None, _TINY)
        return scaled.mul_(inverse.mul_(_ADDED).add_(1).reciprocal_()).add_(self.bias)


def _deviation_norm(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The norm, computed as torch's layer norm times std / (std + 1e-4), and the tensors that its gradient needs."""
    scaled, mean, inverse = torch.native_layer_norm(x, [x.shape[-1]], weight, None, _TINY)
    shrink = 1 / (1 + _ADDED * inverse)
    return torch.addcmul(bias, scaled, shrink), mean, inverse, shrink


class _DeviationNorm(torch.autograd.Function):
    """The same with an explicit gradient, which takes far fewer operations than autograd's."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        out, *kept = _deviation_norm(x, weight, bias)
        ctx.save_for_backward(x, weight, bias, *kept)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight, bias, mean, inverse, shrink = ctx.saved_tensors
        grad = grads[0].contiguous()
        # Half of the shrinking in the gradient and half in 1 / std: what torch makes of these two is the exact gradient.
        half = shrink.sqrt()
        to_x, to_weight, _ = torch.ops.aten.native_layer_norm_backward(
            grad * half, x, [x.shape[-1]], mean, inverse * half, weight, None, [True, True, False]
        )
        return to_x, to_weight, grad.sum_to_size(bias.shape)
