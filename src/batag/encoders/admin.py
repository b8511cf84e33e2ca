"""Admin (Liu et al. 2020): the post-norm Transformer with residual connections that are rescaled from statistics of the first
batch.

Shapes: B pages, L tokens, D width.
"""

import math
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import attend, several_linears
from batag.encoders.encoder import Encoder, Sizes, one_of

SHORTCUTS = ("profiled", "closed")


class Admin(Encoder):
    """`shortcut` is `profiled` (learned scales of the residual connections, initialised by `prepare`) or `closed`, the later
    constant sqrt((R + 1) / ln(R + 1) - 1) for R = 2 depth."""

    def __init__(self, *, shortcut: str = "profiled", **sizes: Unpack[Sizes]) -> None:
        super().__init__(**sizes)
        one_of("a shortcut", shortcut, SHORTCUTS)
        self.profiled = shortcut == "profiled"
        constant = None if self.profiled else closed_form(self.depth)
        self.layers = self.stacked(AdminLayer, constant=constant)

    @torch.no_grad()
    def prepare(self, vectors: Tensor, mask: Tensor) -> None:
        """Initialise each shortcut with the standard deviation of the sum before it, over real tokens and without dropout. The
        weights are kept, while the authors' second run draws new ones."""
        if not (self.profiled and mask.any()):
            return
        x_BLD = self.position(vectors.masked_fill(~mask.unsqueeze(-1), 0.0))
        size = torch.ones((), dtype=x_BLD.dtype, device=x_BLD.device)
        for module in self.layers:
            assert isinstance(module, AdminLayer)
            x_BLD, size = module.profile(x_BLD, mask, size)


class AdminLayer(nn.Module):
    """y = LN(MHA(x) + x * w); out = LN(FFN(y) + y * v), with vectors w and v."""

    attention_shortcut: Tensor
    feed_forward_shortcut: Tensor

    def __init__(self, width: int, heads: int, inner: int, *, constant: float | None, dropout: float) -> None:
        super().__init__()
        self.heads, self.scale = heads, 1 / math.sqrt(width // heads)
        # One matrix to its start too, as in the authors' code: within sqrt(6 / 4D), not sqrt(6 / 2D).
        self.query_key_value = several_linears(width, [3 * width])
        self.out = several_linears(width, [width])
        self.widen = several_linears(width, [inner])
        self.narrow = several_linears(inner, [width])
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        for name in ("attention_shortcut", "feed_forward_shortcut"):
            if constant is None:
                self.register_parameter(name, nn.Parameter(torch.ones(width)))
            else:
                self.register_buffer(name, torch.full((width,), constant))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        a_BLD = self.dropout(self._attention(x_BLD, mask_BL))
        y_BLD = self.attention_norm(torch.addcmul(a_BLD, x_BLD, self.attention_shortcut))
        h_BLD = self.dropout(self._feed_forward(y_BLD))
        return self.feed_forward_norm(torch.addcmul(h_BLD, y_BLD, self.feed_forward_shortcut))

    def profile(self, x_BLD: Tensor, mask_BL: Tensor, size: Tensor) -> tuple[Tensor, Tensor]:
        """The forward pass while the scales are initialised: `size` sets the first one; also returns the size for the next
        layer."""
        self.attention_shortcut.fill_(size)
        a_BLD, kept_BLD = self._attention(x_BLD, mask_BL), x_BLD * self.attention_shortcut
        y_BLD, size = self.attention_norm(a_BLD + kept_BLD), deviation(a_BLD[mask_BL], kept_BLD[mask_BL])
        self.feed_forward_shortcut.fill_(size)
        h_BLD, kept_BLD = self._feed_forward(y_BLD), y_BLD * self.feed_forward_shortcut
        return self.feed_forward_norm(h_BLD + kept_BLD), deviation(h_BLD[mask_BL], kept_BLD[mask_BL])

    def _attention(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        q_BLD, k_BLD, v_BLD = self.query_key_value(x_BLD).chunk(3, dim=-1)
        return self.out(attend(q_BLD, k_BLD, v_BLD, mask_BL, heads=self.heads, scale=self.scale))

    def _feed_forward(self, y_BLD: Tensor) -> Tensor:
        return self.narrow(F.relu(self.widen(y_BLD)))


def deviation(*summands: Tensor) -> Tensor:
    """The standard deviation of a sum of independent tensors."""
    return torch.stack([each.var(correction=0) for each in summands]).sum().sqrt()


def closed_form(depth: int) -> float:
    branches = 2 * depth
    return math.sqrt((branches + 1) / math.log(branches + 1) - 1)
