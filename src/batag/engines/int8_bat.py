"""BAT's lean layers in int8 for many tokens on processors without AVX-512: what goes into several products is rounded once,
inner numbers stay bytes, and the wide convolution is one product of neighbouring bytes.

The products are oneDNN's, which take and give bytes. With AVX-512 those of `int8.py` are fast as they are, and oneDNN's die by
an illegal instruction on some machines that announce AMX.

Shapes: B pages, L tokens, D width, N rows of all pages.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import attend
from batag.engines.lean_bat import LeanLayer, in_blocks
from batag.engines.rounding import Rounding, rounded_rows, row_scales

_FEW_TOKENS = 256
_ROWS = 64


def takes_bytes() -> bool:
    """Whether layers of bytes are the faster ones here."""
    return torch.backends.cpu.get_cpu_capability() == "AVX2" and torch.backends.mkldnn.is_available()


def inward_scales(layer: LeanLayer) -> Tensor:
    """What a step of each row of `inward` stands for, the same for few and many tokens and on every processor: the three places
    of the wide convolution share theirs, as their one product has it."""
    own, *wide = layer.inward.weight.detach().split([4 * layer.width, *[layer.width] * 3])
    return torch.cat((row_scales(own), *[row_scales(torch.cat(wide, dim=1))] * 3))


def in_rows(x_BLD: Tensor) -> Tensor:
    """The tokens of all pages one below the other, and whatever it takes to make their number a round one: oneDNN keeps what it
    made for every number of rows that it has seen."""
    rows = x_BLD.flatten(0, 1)
    return F.pad(rows, (0, 0, 0, -len(rows) % _ROWS))


class BytesLinear:
    """A linear map of bytes, and ReLU of it, to numbers or to bytes again."""

    def __init__(
        self, weight: Tensor, bias: Tensor, given: Rounding, *, relu: bool = False, into: Rounding | None = None
    ) -> None:
        weight, self.bias = weight.detach(), bias.detach()
        self.scales, self.zeros = row_scales(weight), torch.zeros(len(weight), dtype=torch.long)
        rows = rounded_rows(weight, self.scales).int_repr()
        self.given, self.packed = (given.scale, given.zero), torch.ops.onednn.qlinear_prepack(rows, None)
        self.after = (1.0, 0, torch.float32) if into is None else (into.scale, into.zero, torch.uint8)
        self.then: tuple[str, list[float], str] = ("relu" if relu else "none", [], "")

    def __call__(self, x: Tensor) -> Tensor:
        found: Tensor = torch.ops.onednn.qlinear_pointwise.default(
            x, *self.given, self.packed, self.scales, self.zeros, self.bias, *self.after, *self.then
        )
        return found


class BytesLayer(nn.Module):
    """A lean layer whose products take bytes; few tokens go to the layer that it was made of, which answers them sooner."""

    ROUNDED = ("inward", "out", "widen", "narrow")

    def __init__(self, layer: LeanLayer, ranges: Mapping[str, tuple[float, float]]) -> None:
        super().__init__()
        self.few = layer
        width = self.width = layer.width
        self.heads, self.scale = layer.heads, layer.scale
        self.given, self.heard, self.mixed, self.inner = (Rounding(*ranges[name]) for name in self.ROUNDED)
        sizes = [4 * width, width, width, width]
        weight, *wide = layer.inward.weight.split(sizes)
        bias, _, wide_bias, _ = layer.inward.bias.split(sizes)
        self.inward = BytesLinear(weight, bias, self.given)
        self.conv3 = BytesLinear(torch.cat(wide, dim=1), wide_bias, self.given, relu=True)
        self.out = BytesLinear(layer.out.weight, layer.out.bias, self.heard)
        self.widen = BytesLinear(layer.widen.weight, layer.widen.bias, self.mixed, relu=True, into=self.inner)
        self.residual = BytesLinear(layer.residual.weight, layer.residual.bias, self.mixed, relu=True)
        self.narrow = BytesLinear(layer.narrow.weight, layer.narrow.bias, self.inner)

    def forward(self, z_BLD: Tensor, added_BL: Tensor | None, real_BL1: Tensor | None) -> Tensor:
        if z_BLD.shape[0] * z_BLD.shape[1] < _FEW_TOKENS:
            return self.few.forward(z_BLD, added_BL, real_BL1)
        if real_BL1 is not None:
            # Padding gives nothing to its neighbours; what it becomes itself nobody looks at.
            z_BLD.mul_(real_BL1)
        pages, length, _ = z_BLD.shape

        def of_pages(rows: Tensor) -> Tensor:
            return rows[: pages * length].view(pages, length, -1)

        rounded_BLD = self.given(z_BLD)
        q, k, v, own = of_pages(self.inward(in_rows(rounded_BLD))).split(self.width, dim=-1)
        heard_BLD = attend(q, *in_blocks(k, v, added_BL), heads=self.heads, scale=self.scale)
        m_BLD = of_pages(self.out(in_rows(self.heard(heard_BLD))))
        m_BLD += own.relu_()
        m_BLD += of_pages(self.conv3(in_rows(self._neighbours(rounded_BLD))))
        u_BLD = self.few.attention_norm(self.few.mixed_norm(m_BLD).add_(z_BLD))
        rounded_ND = in_rows(self.mixed(u_BLD))
        out_ND = self.narrow(self.widen(rounded_ND))
        out_ND += self.residual(rounded_ND)
        found: Tensor = self.few.feed_forward_norm(of_pages(out_ND))
        return found

    def _neighbours(self, rounded_BLD: Tensor) -> Tensor:
        """Each token with the one before and the one after it, which lie side by side in memory already."""
        pages, length, width = rounded_BLD.shape
        padded = F.pad(rounded_BLD, (0, 0, 1, 1), value=self.given.zero)
        return padded.as_strided((pages, length, 3 * width), ((length + 2) * width, width, 1))
