"""The Transformer encoder (Vaswani et al., as in TensorFlow's tutorial of 2022), post-norm.

Shapes: B pages, L tokens, D width.
"""

import math
from typing import Unpack

from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import attend, several_linears
from batag.encoders.encoder import Encoder, Sizes


class Transformer(Encoder):
    """`depth` layers without a final norm."""

    def __init__(self, **sizes: Unpack[Sizes]) -> None:
        super().__init__(**sizes)
        self.layers = self.stacked(TransformerLayer)


class TransformerLayer(nn.Module):
    """y = LN(x + MHA(x)); out = LN(y + FFN(y))."""

    def __init__(self, width: int, heads: int, inner: int, *, dropout: float) -> None:
        super().__init__()
        self.heads, self.scale = heads, 1 / math.sqrt(width // heads)
        self.query_key_value = several_linears(width, [width] * 3)
        self.out = several_linears(width, [width])
        self.widen = several_linears(width, [inner])
        self.narrow = several_linears(inner, [width])
        self.attention_norm = nn.LayerNorm(width, eps=1e-6)
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-6)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        q_BLD, k_BLD, v_BLD = self.query_key_value(x_BLD).chunk(3, dim=-1)
        a_BLD = self.out(attend(q_BLD, k_BLD, v_BLD, mask_BL, heads=self.heads, scale=self.scale))
        y_BLD = self.attention_norm(x_BLD + self.dropout(a_BLD))
        return self.feed_forward_norm(y_BLD + self.dropout(self.narrow(F.relu(self.widen(y_BLD)))))
