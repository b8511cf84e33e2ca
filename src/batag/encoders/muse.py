"""MUSE (Zhao et al. 2019, the authors' "Prime"): attention, dynamic convolution and feed-forward in parallel, followed by one
norm.

Shapes: B pages, L tokens, D width, F inner width, H heads, K width of a head, T taps; N blocks of S tokens, which see W.
"""

import math
from collections.abc import Sequence
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import attend
from batag.encoders.encoder import Encoder, Sizes
from batag.errors import UsageError

BLOCK = 32
"""Number of tokens whose filters form one matrix of the convolution."""


class Muse(Encoder):
    """`depth` layers; `kernels` are the odd kernel widths of the convolution, comma-separated; empty for MUSE-simple."""

    def __init__(self, *, kernels: str = "3,15", **sizes: Unpack[Sizes]) -> None:
        super().__init__(**sizes)
        self.layers = self.stacked(MuseLayer, kernels=kernel_widths(kernels))

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        padded_BL1 = ~mask_BL.unsqueeze(-1)
        for layer in self.layers:
            x_BLD = layer(x_BLD, mask_BL, padded_BL1)
        return x_BLD


class MuseLayer(nn.Module):
    """LN(x + [MHA(x), conv(x)] W + FFN(x)), where attention and convolution read the same values."""

    def __init__(self, width: int, heads: int, inner: int, *, kernels: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.width, self.heads, self.inner, self.kernels = width, heads, inner, list(kernels)
        self.scale = 1 / math.sqrt(width // heads)
        self.query_key_value_widen = linear_within(1 / math.sqrt(width), width, 3 * width + inner)
        read = 2 * width if kernels else width
        self.out = linear_within(math.sqrt(3 / read), read, width)
        self.narrow = linear_within(1 / math.sqrt(inner), inner, width)
        if kernels:
            self.filters = linear_within(1 / math.sqrt(width), width, heads * sum(kernels), bias=False)
            self.gate = nn.Parameter(torch.full((len(kernels),), 0.5))
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BLD: Tensor, mask_BL: Tensor, padded_BL1: Tensor) -> Tensor:
        sizes = [self.width, self.width, self.width, self.inner]
        q_BLD, k_BLD, v_BLD, h_BLF = self.query_key_value_widen(x_BLD).split(sizes, dim=-1)
        s_BLD = attend(q_BLD, k_BLD, v_BLD, mask_BL, heads=self.heads, scale=self.scale)
        if self.kernels:
            # The authors' default lets padding into the convolution; they have a switch for this.
            v_BLD = v_BLD.masked_fill(padded_BL1, 0.0)
            s_BLD = torch.cat((s_BLD, convolved(v_BLD, self._filters(v_BLD))), dim=-1)
        return self.norm(x_BLD + self.dropout(self.out(s_BLD)) + self.dropout(self.narrow(F.relu(h_BLF))))

    def _filters(self, v_BLD: Tensor) -> Tensor:
        """One filter per token and head: the filters of all kernels, centred and mixed by the gate."""
        logits = self.filters(v_BLD).split([self.heads * kernel for kernel in self.kernels], dim=-1)
        widest = max(self.kernels)
        each_BLHT = (
            F.pad(self.dropout(one.unflatten(-1, (self.heads, kernel)).softmax(-1)), ((widest - kernel) // 2,) * 2)
            for one, kernel in zip(logits, self.kernels, strict=True)
        )
        return torch.tensordot(self.gate.softmax(0), torch.stack(list(each_BLHT)), dims=1)


def convolved(v_BLD: Tensor, w_BLHT: Tensor) -> Tensor:
    """The sum over taps of w[t, head, tap] v[t + tap - T // 2], with zero padding, computed as one matrix product per block."""
    length, heads, taps = w_BLHT.shape[1:]
    blocks = math.ceil(length / BLOCK)
    block = math.ceil(length / blocks)
    seen, more = block + taps - 1, blocks * block - length
    # Rows of taps and `block` zeros, read as rows one shorter: each begins one place further right, as its token does.
    w_BNHSW = F.pad(w_BLHT, (0, block, 0, 0, 0, more)).unflatten(1, (blocks, block)).transpose(2, 3)
    band_BNHSW = w_BNHSW.flatten(3)[..., : block * seen].unflatten(3, (block, seen))
    v_BLD = F.pad(v_BLD, (0, 0, taps // 2, taps // 2 + more))
    v_BNWD = torch.stack([v_BLD[:, start : start + seen] for start in range(0, blocks * block, block)], dim=1)
    c_BNHSK = band_BNHSW @ v_BNWD.unflatten(-1, (heads, -1)).transpose(2, 3)
    return c_BNHSK.transpose(2, 3).flatten(3).flatten(1, 2)[:, :length]


def linear_within(limit: float, ins: int, outs: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer that is initialised uniformly within `limit`, with zero bias."""
    linear = nn.Linear(ins, outs, bias=bias)
    nn.init.uniform_(linear.weight, -limit, limit)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


def kernel_widths(text: str) -> list[int]:
    """Parse comma-separated odd numbers; an empty text means no convolution."""
    parts = text.split(",") if text.strip() else []
    try:
        widths = [int(part) for part in parts]
    except ValueError:
        widths = [0]
    if any(width < 1 or width % 2 == 0 for width in widths):
        raise UsageError(f"{text!r} is not a list of kernels", todo="Write odd widths like '3,15', or '' for no convolution")
    return widths
