"""BAT's layers for tagging alone: the same numbers with fewer and larger products, written over instead of copied.

Shapes: B pages, L tokens, D width.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.bat import BRANCHES, Bat, BatLayer
from batag.encoders.blocks import attend
from batag.encoders.encoder import Encoder

_KEYS = 16
_FEW_LEFT = 6
_FEW_PAGES = 8


def lean(encoder: Encoder) -> nn.Module:
    """The encoder with lean layers, if it is the paper's BAT; else as it is."""
    if isinstance(encoder, Bat) and not encoder.pre:
        layers = [layer for layer in encoder.layers if isinstance(layer, BatLayer)]
        if all(layer.weighted and set(layer.branches) == set(BRANCHES) for layer in layers):
            return LeanBat(encoder, layers)
    return encoder


class LeanBat(nn.Module):
    """BAT with lean layers; of pages without padding (one alone, or of one length) no mask is made."""

    def __init__(self, encoder: Bat, layers: Iterable[BatLayer]) -> None:
        super().__init__()
        self.position, self.norm = encoder.position, encoder.norm
        self.layers = nn.ModuleList(map(LeanLayer, layers))

    def forward(self, vectors_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        if mask_BL.all():
            return self._read(vectors_BLD, None, None)
        real_BL1 = mask_BL.unsqueeze(-1)
        # Filled, not multiplied: what stands at padding may be anything, even NaN.
        vectors_BLD = vectors_BLD.masked_fill(~real_BL1, 0.0)
        # What attention adds to its logits; of a mask of bools it would make this in every layer.
        added_BL = torch.zeros_like(vectors_BLD[..., 0]).masked_fill_(~mask_BL, -torch.inf)
        return self._read(vectors_BLD, added_BL, real_BL1.to(vectors_BLD.dtype)).masked_fill_(~real_BL1, 0.0)

    def _read(self, vectors_BLD: Tensor, added_BL: Tensor | None, real_BL1: Tensor | None) -> Tensor:
        z_BLD: Tensor = self.norm(self.position(vectors_BLD))
        for layer in self.layers:
            z_BLD = layer(z_BLD, added_BL, real_BL1)
        return z_BLD


class RectifiedLinear(nn.Linear):
    """A linear map and ReLU of it."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).relu_()


class LeanLayer(nn.Module):
    """Attention, both convolutions' products in one; the parts of the feed-forward apart, so that none has to be copied out."""

    def __init__(self, layer: BatLayer) -> None:
        super().__init__()
        width = self.width = layer.width
        self.heads, self.scale = layer.heads, layer.scale
        # A convolution is a product for each of its three places, added up after a step to the side.
        nothing = torch.zeros(width)
        self.inward = _linear(
            torch.cat((layer.query_key_value_conv1.weight, *layer.conv3.weight.split(width, dim=1))),
            torch.cat((layer.query_key_value_conv1.bias, nothing, layer.conv3.bias, nothing)),
        )
        self.out, self.narrow = layer.out, layer.narrow
        weight, bias = layer.widen_and_residual.weight, layer.widen_and_residual.bias
        self.widen, self.residual = (
            _linear(*parts, kind=RectifiedLinear)
            for parts in zip(weight.split([layer.inner, width]), bias.split([layer.inner, width]), strict=True)
        )
        self.mixed_norm, self.attention_norm, self.feed_forward_norm = (
            layer.mixed_norm,
            layer.attention_norm,
            layer.feed_forward_norm,
        )

    def forward(self, z_BLD: Tensor, added_BL: Tensor | None, real_BL1: Tensor | None) -> Tensor:
        if real_BL1 is not None:
            # Padding gives nothing to its neighbours; what it becomes itself nobody looks at.
            z_BLD.mul_(real_BL1)
        q, k, v, own, before, here, after = self.inward(z_BLD).split(self.width, dim=-1)
        m_BLD = self.out(attend(q, *in_blocks(k, v, added_BL), heads=self.heads, scale=self.scale))
        m_BLD += own.relu_()
        here[:, 1:] += before[:, :-1]
        here[:, :-1] += after[:, 1:]
        m_BLD += here.relu_()
        u_BLD = self.attention_norm(self.mixed_norm(m_BLD).add_(z_BLD))
        out_BLD = self.narrow(self.widen(u_BLD))
        out_BLD += self.residual(u_BLD)
        found: Tensor = self.feed_forward_norm(out_BLD)
        return found


def in_blocks(k_BLD: Tensor, v_BLD: Tensor, added_BL: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Keys and values padded to whole blocks where torch's attention would be up to three times slower with the rest of one."""
    pages, length, _ = k_BLD.shape
    if pages < _FEW_PAGES or length % _KEYS < _FEW_LEFT:
        return k_BLD, v_BLD, added_BL
    more = -length % _KEYS
    added_BL = k_BLD.new_zeros((pages, length)) if added_BL is None else added_BL
    return F.pad(k_BLD, (0, 0, 0, more)), F.pad(v_BLD, (0, 0, 0, more)), F.pad(added_BL, (0, more), value=-torch.inf)


def _linear(weight: Tensor, bias: Tensor, kind: type[nn.Linear] = nn.Linear) -> nn.Linear:
    linear = kind(weight.shape[1], weight.shape[0], device="meta")
    linear.weight, linear.bias = (nn.Parameter(each.detach().clone(), requires_grad=False) for each in (weight, bias))
    return linear
