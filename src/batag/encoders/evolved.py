"""The encoder of the Evolved Transformer (So et al. 2019, as in tensor2tensor), pre-norm.

Shapes: B pages, L tokens, D width, F inner width.
"""

import math
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import attend, neighbours, several_linears
from batag.encoders.encoder import Encoder, Sizes

TAPS = 9


class Evolved(Encoder):
    """`depth` layers, then a norm."""

    def __init__(self, **sizes: Unpack[Sizes]) -> None:
        super().__init__(**sizes)
        self.layers = self.stacked(EvolvedLayer)
        self.norm = nn.LayerNorm(self.width, eps=1e-6)

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        real_BL1 = mask_BL.unsqueeze(-1).to(x_BLD.dtype)
        for layer in self.layers:
            x_BLD = layer(x_BLD, mask_BL, real_BL1)
        return self.norm(x_BLD)


class EvolvedLayer(nn.Module):
    """x + block(LN(x)) four times: a gated linear unit, two branches and a separable convolution, MHA, FFN."""

    def __init__(self, width: int, heads: int, inner: int, *, dropout: float) -> None:
        super().__init__()
        self.heads, self.scale = heads, 1 / math.sqrt(width // heads)
        half = max(1, width // 2)
        self.gate_norm = nn.LayerNorm(width, eps=1e-6)
        self.value_gate = several_linears(width, [width, width])
        self.branch_norm = nn.LayerNorm(width, eps=1e-6)
        self.left = several_linears(width, [inner])
        # The 3x1 convolution as a product with three neighbours; its start counts every tap in both fans, as Keras does.
        self.right = several_linears(3 * width, [min(half, inner)])
        uniform_(self.right.weight, 3 * (width + self.right.out_features))
        self.mixed_norm = nn.LayerNorm(inner, eps=1e-6)
        # Keras reads a depthwise kernel [taps, channels, 1] as all channels in and one out: a smaller start than its fan of 9.
        self.depthwise = nn.Parameter(torch.empty(inner, 1, 1, TAPS))
        uniform_(self.depthwise, TAPS * (inner + 1))
        self.pointwise = several_linears(inner, [half])
        self.attention_norm = nn.LayerNorm(width, eps=1e-6)
        self.query_key_value = several_linears(width, [width] * 3, bias=False)
        self.out = several_linears(width, [width], bias=False)
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-6)
        self.widen = several_linears(width, [inner])
        self.narrow = several_linears(inner, [width])
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BLD: Tensor, mask_BL: Tensor, real_BL1: Tensor) -> Tensor:
        x_BLD = x_BLD + self.dropout(F.glu(self.value_gate(self.gate_norm(x_BLD))))
        x_BLD = x_BLD + self.dropout(self._convolutions(self.branch_norm(x_BLD), real_BL1))
        x_BLD = x_BLD + self.dropout(self._attention(self.attention_norm(x_BLD), mask_BL))
        h_BLF = self.dropout(F.relu(self.widen(self.feed_forward_norm(x_BLD))))
        return x_BLD + self.dropout(self.narrow(h_BLF))

    def _convolutions(self, y_BLD: Tensor, real_BL1: Tensor) -> Tensor:
        """The two convolution branches and the separable convolution; the narrower branch is padded with zeros on the right."""
        y_BLD = y_BLD * real_BL1
        left_BLF = self.dropout(F.relu(self.left(y_BLD)))
        right_BLR = self.dropout(F.relu(self.right(neighbours(y_BLD))))
        mixed_BLF = self.mixed_norm(left_BLF + F.pad(right_BLR, (0, left_BLF.shape[-1] - right_BLR.shape[-1])))
        separate_BLF = depthwise(mixed_BLF * real_BL1, self.depthwise)
        return F.pad(self.pointwise(separate_BLF), (0, y_BLD.shape[-1] - self.pointwise.out_features))

    def _attention(self, y_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        q_BLD, k_BLD, v_BLD = self.query_key_value(y_BLD).chunk(3, dim=-1)
        return self.out(attend(q_BLD, k_BLD, v_BLD, mask_BL, heads=self.heads, scale=self.scale))


def depthwise(s_BLF: Tensor, kernel_F11T: Tensor) -> Tensor:
    """A depthwise convolution along the page, with zero padding at its ends."""
    # In two dimensions: on a processor torch takes half the time that its conv1d takes.
    s_BF1L = s_BLF.transpose(1, 2).unsqueeze(2)
    c_BF1L = F.conv2d(s_BF1L, kernel_F11T, padding=(0, TAPS // 2), groups=kernel_F11T.shape[0])
    return c_BF1L.squeeze(2).transpose(1, 2)


def uniform_(weight: Tensor, fans: int) -> None:
    """Glorot initialisation, given the sum of fan-in and fan-out."""
    limit = math.sqrt(6 / fans)
    nn.init.uniform_(weight, -limit, limit)
