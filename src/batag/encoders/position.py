"""Position encoding: the interleaved sinusoid, added as it is or in a learned linear combination."""

import math

import torch
from torch import Tensor, nn

from batag.errors import unknown_name

POSITIONS = ("sinusoid", "none", "linear", "affine")


class Position(nn.Module):
    """x + PE (`sinusoid`), x (`none`), a x + b PE (`linear`) or a x + b PE + c (`affine`), with a, b, c learned."""

    def __init__(self, width: int, *, kind: str) -> None:
        super().__init__()
        if kind not in POSITIONS:
            raise unknown_name(kind, POSITIONS, "a position")
        self.width, self.kind = width, kind
        # Not a buffer: it is no part of the weights, and follows the vectors to their device by itself.
        self._table = torch.zeros(0, width, device="cpu")
        if kind in ("linear", "affine"):
            self.scale = nn.Parameter(torch.ones(2))
        if kind == "affine":
            self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, x_BLD: Tensor) -> Tensor:
        if self.kind == "none":
            return x_BLD
        pe_LD = self._rows(x_BLD)
        if self.kind == "sinusoid":
            return x_BLD + pe_LD
        mixed = self.scale[0] * x_BLD + self.scale[1] * pe_LD
        return mixed + self.shift if self.kind == "affine" else mixed

    def _rows(self, x_BLD: Tensor) -> Tensor:
        length = x_BLD.shape[1]
        if length > len(self._table) or self._table.device != x_BLD.device or self._table.dtype != x_BLD.dtype:
            # It outlives this call, which may be one of inference.
            with torch.inference_mode(False):
                self._table = sinusoid(max(length, 256), self.width).to(device=x_BLD.device, dtype=x_BLD.dtype)
        return self._table[:length]


def sinusoid(length: int, width: int) -> Tensor:
    """PE[p, 2i] = sin(p / 10000^(2i/width)), PE[p, 2i+1] = cos of the same; p from 0, in float64."""
    places = torch.arange(length, dtype=torch.float64)[:, None]
    rates = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width, dtype=torch.float64)
    table[:, 0::2] = torch.sin(places * rates)
    table[:, 1::2] = torch.cos(places * rates[: width // 2])
    return table
