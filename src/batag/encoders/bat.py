"""BAT (section 3 of the paper, figure 1): attention and feed-forward tournament sublayers, post-norm.

Shapes: B pages, L tokens, D width, F inner width.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import DeviationNorm, attend, glorot_, several_linears
from batag.encoders.encoder import Encoder
from batag.errors import UsageError

ATTENTION_SCALES = ("model", "head")


class Bat(Encoder):
    """A norm after the embedding, then `depth` layers; `attention_scale` divides the logits by sqrt(width) (`model`, as
    the authors' code does) or by sqrt(width / heads) (`head`, the Transformer's)."""

    def __init__(
        self,
        *,
        width: int,
        depth: int,
        heads: int,
        inner: int,
        position: str = "sinusoid",
        dropout: float = 0.0,
        attention_scale: str = "model",
    ) -> None:
        super().__init__(width=width, depth=depth, heads=heads, inner=inner, position=position, dropout=dropout)
        if attention_scale not in ATTENTION_SCALES:
            raise UsageError(f"{attention_scale!r} is not an attention scale", todo=f"There are {', '.join(ATTENTION_SCALES)}")
        scale = 1 / math.sqrt(width if attention_scale == "model" else width // heads)
        self.norm = DeviationNorm(width)
        self.layers = nn.ModuleList(BatLayer(width, heads, inner, scale=scale, dropout=dropout) for _ in range(depth))

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        z_BLD = self.norm(x_BLD)
        real_BL1 = mask_BL.unsqueeze(-1).to(z_BLD.dtype)
        for layer in self.layers:
            z_BLD = layer(z_BLD, mask_BL, real_BL1)
        return z_BLD


class BatLayer(nn.Module):
    """ATS: m = LN(ReLU(conv1 z) + MHA(z) + ReLU(conv3 z)), u = LN(m + z). FFTS: LN(FFN(u) + ReLU(conv1 u))."""

    def __init__(self, width: int, heads: int, inner: int, *, scale: float, dropout: float) -> None:
        super().__init__()
        self.width, self.heads, self.inner, self.scale = width, heads, inner, scale
        self.query_key_value_conv1 = several_linears(width, [width] * 4)
        self.out = several_linears(width, [width])
        # The 3x1 convolution as a product with three neighbours; its start ignores the kernel's width, as the authors' does.
        self.conv3 = nn.Linear(3 * width, width)
        glorot_(*self.conv3.weight.split(width, dim=1))
        nn.init.zeros_(self.conv3.bias)
        self.mixed_norm, self.attention_norm = DeviationNorm(width), DeviationNorm(width)
        self.widen_and_residual = several_linears(width, [inner, width])
        self.narrow = several_linears(inner, [width])
        self.feed_forward_norm = DeviationNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, z_BLD: Tensor, mask_BL: Tensor, real_BL1: Tensor) -> Tensor:
        q_BLD, k_BLD, v_BLD, c1_BLD = self.query_key_value_conv1(z_BLD).split(self.width, dim=-1)
        a_BLD = self.out(attend(q_BLD, k_BLD, v_BLD, mask_BL, heads=self.heads, scale=self.scale))
        c3_BLD = self.conv3(neighbours(z_BLD * real_BL1))
        m_BLD = self.mixed_norm(F.relu(c1_BLD) + self.dropout(a_BLD) + F.relu(c3_BLD))
        u_BLD = self.attention_norm(m_BLD + z_BLD)
        h_BLF, w_BLD = F.relu(self.widen_and_residual(u_BLD)).split([self.inner, self.width], dim=-1)
        return self.feed_forward_norm(self.dropout(self.narrow(h_BLF)) + w_BLD)


def neighbours(z_BLD: Tensor) -> Tensor:
    """Each token with the one before and the one after it, zeros beyond the ends: [B, L, 3D]."""
    padded = F.pad(z_BLD, (0, 0, 1, 1))
    return torch.cat((padded[:, :-2], z_BLD, padded[:, 2:]), dim=-1)
