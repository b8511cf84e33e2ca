"""BAT (section 3 of the paper, figure 3): attention and feed-forward tournament sublayers.

Shapes: B pages, L tokens, D width, F inner width.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import DeviationNorm, attend, glorot_, neighbours, several_linears
from batag.encoders.encoder import Encoder, Sizes, one_of

ATTENTION_SCALES = ("model", "head")
NORMS = ("post", "pre")
RESIDUALS = ("weighted", "identity")
BRANCHES = ("attention", "conv1", "conv3")


class Bat(Encoder):
    """A norm after the embedding, then `depth` layers. `attention_scale` divides the attention logits by sqrt(width) (`model`,
    as in the authors' code) or by sqrt(width / heads) (`head`, as in the Transformer). The other options are the paper's
    ablations."""

    def __init__(
        self,
        *,
        attention_scale: str = "model",
        norm: str = "post",
        residual: str = "weighted",
        branches: str = "attention,conv1,conv3",
        **sizes: Unpack[Sizes],
    ) -> None:
        super().__init__(**sizes)
        kept = [branch.strip() for branch in branches.split(",")]
        one_of("an attention scale", attention_scale, ATTENTION_SCALES)
        one_of("a place of norms", norm, NORMS)
        one_of("a residual", residual, RESIDUALS)
        for branch in kept:
            one_of("a branch", branch, BRANCHES)
        scale = 1 / math.sqrt(self.width if attention_scale == "model" else self.width // self.heads)
        self.norm = DeviationNorm(self.width)
        self.pre = norm == "pre"
        self.layers = self.stacked(BatLayer, scale=scale, pre=self.pre, residual=residual, branches=kept)

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        real_BL1 = mask_BL.unsqueeze(-1).to(x_BLD.dtype)
        # With norms in front of the sublayers the stream itself has none, so that the model's norm is its last.
        z_BLD = x_BLD if self.pre else self.norm(x_BLD)
        for layer in self.layers:
            z_BLD = layer(z_BLD, mask_BL, real_BL1)
        return self.norm(z_BLD) if self.pre else z_BLD


class BatLayer(nn.Module):
    """ATS: m = LN(ReLU(conv1 z) + MHA(z) + ReLU(conv3 z)), u = LN(m + z). FFTS: LN(FFN(u) + ReLU(conv1 u))."""

    def __init__(
        self,
        width: int,
        heads: int,
        inner: int,
        *,
        scale: float,
        dropout: float,
        pre: bool = False,
        residual: str = "weighted",
        branches: Sequence[str] = BRANCHES,
    ) -> None:
        super().__init__()
        self.width, self.heads, self.inner, self.scale, self.branches = width, heads, inner, scale, branches
        self.pre, self.weighted = pre, residual == "weighted"
        if products := 3 * ("attention" in branches) + ("conv1" in branches):
            self.query_key_value_conv1 = several_linears(width, [width] * products)
        if "attention" in branches:
            self.out = several_linears(width, [width])
        if "conv3" in branches:
            # A product with three neighbours; its start ignores the kernel's width, as the authors' does.
            self.conv3 = nn.Linear(3 * width, width)
            glorot_(*self.conv3.weight.split(width, dim=1))
            nn.init.zeros_(self.conv3.bias)
        self.mixed_norm, self.attention_norm = DeviationNorm(width), DeviationNorm(width)
        self.widen_and_residual = several_linears(width, [inner, width] if self.weighted else [inner])
        self.narrow = several_linears(inner, [width])
        self.feed_forward_norm = DeviationNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, z_BLD: Tensor, mask_BL: Tensor, real_BL1: Tensor) -> Tensor:
        if self.pre:
            u_BLD = self.mixed_norm(self.features(self.attention_norm(z_BLD), mask_BL, real_BL1)) + z_BLD
            return self.feed_forward(self.feed_forward_norm(u_BLD), u_BLD)
        u_BLD = self.attention_norm(self.mixed_norm(self.features(z_BLD, mask_BL, real_BL1)) + z_BLD)
        return self.feed_forward_norm(self.feed_forward(u_BLD, u_BLD))

    def features(self, z_BLD: Tensor, mask_BL: Tensor, real_BL1: Tensor) -> Tensor:
        """MFSA: the sum of the branches."""
        sums: list[Tensor] = []
        if "attention" in self.branches or "conv1" in self.branches:
            parts = self.query_key_value_conv1(z_BLD).split(self.width, dim=-1)
            if "conv1" in self.branches:
                sums.append(F.relu(parts[-1]))
            if "attention" in self.branches:
                a_BLD = attend(parts[0], parts[1], parts[2], mask_BL, heads=self.heads, scale=self.scale)
                sums.append(self.dropout(self.out(a_BLD)))
        if "conv3" in self.branches:
            sums.append(F.relu(self.conv3(neighbours(z_BLD * real_BL1))))
        return reduce(torch.add, sums)

    def feed_forward(self, u_BLD: Tensor, stream_BLD: Tensor) -> Tensor:
        """FFN(u) plus the residual, which is ReLU(conv1 u) (`weighted`) or the unchanged stream (`identity`)."""
        if not self.weighted:
            return self.dropout(self.narrow(F.relu(self.widen_and_residual(u_BLD)))) + stream_BLD
        h_BLF, w_BLD = F.relu(self.widen_and_residual(u_BLD)).split([self.inner, self.width], dim=-1)
        return self.dropout(self.narrow(h_BLF)) + w_BLD
