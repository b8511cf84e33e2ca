"""BAT's layers for tagging alone: the same numbers with fewer and larger products, written over instead of copied.

Shapes: B pages, L tokens, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.bat import BRANCHES, Bat, BatLayer
from batag.encoders.blocks import attend
from batag.encoders.encoder import Encoder

_KEYS = 16
_FEW_LEFT = 6
_FEW_PAGES = 8


def lean(encoder: Encoder) -> Encoder:
    """The encoder with lean layers, if it is the paper's BAT; else as it is."""
    if isinstance(encoder, Bat) and not encoder.pre:
        for place, layer in enumerate(encoder.layers):
            if isinstance(layer, BatLayer) and layer.weighted and set(layer.branches) == set(BRANCHES):
                encoder.layers[place] = LeanLayer(layer)
    return encoder


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
            _linear(*parts) for parts in zip(weight.split([layer.inner, width]), bias.split([layer.inner, width]), strict=True)
        )
        self.mixed_norm, self.attention_norm, self.feed_forward_norm = (
            layer.mixed_norm,
            layer.attention_norm,
            layer.feed_forward_norm,
        )

    def forward(self, z_BLD: Tensor, mask_BL: Tensor, real_BL1: Tensor) -> Tensor:
        q, k, v, own, before, here, after = self.inward(z_BLD).split(self.width, dim=-1)
        m_BLD = self.out(attend(q, *_in_blocks(k, v, mask_BL), heads=self.heads, scale=self.scale))
        m_BLD += own.relu_()
        here[:, 1:].addcmul_(before[:, :-1], real_BL1[:, :-1])
        here[:, :-1].addcmul_(after[:, 1:], real_BL1[:, 1:])
        m_BLD += here.relu_()
        u_BLD = self.attention_norm(self.mixed_norm(m_BLD).add_(z_BLD))
        out_BLD = self.narrow(self.widen(u_BLD).relu_())
        out_BLD += self.residual(u_BLD).relu_()
        found: Tensor = self.feed_forward_norm(out_BLD)
        return found


def _in_blocks(k_BLD: Tensor, v_BLD: Tensor, mask_BL: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Keys and values padded to whole blocks where torch's attention would be up to three times slower with the rest of one."""
    pages, length = mask_BL.shape
    if pages < _FEW_PAGES or length % _KEYS < _FEW_LEFT:
        return k_BLD, v_BLD, mask_BL
    more = -length % _KEYS
    return F.pad(k_BLD, (0, 0, 0, more)), F.pad(v_BLD, (0, 0, 0, more)), F.pad(mask_BL, (0, more))


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    linear = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    linear.weight, linear.bias = (nn.Parameter(each.detach().clone(), requires_grad=False) for each in (weight, bias))
    return linear
