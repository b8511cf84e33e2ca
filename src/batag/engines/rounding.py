"""Numbers as bytes: inputs of a product by a range that was seen on pages, weights by their rows.

Weights have 7 bits: processors without instructions of their own for this add two products in 16 bits, which 8 would overflow.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

_LARGEST = 64
_TINY = 1e-12


class Rounding:
    """Numbers of a range as bytes; a number outside counts as its border."""

    def __init__(self, least: float, most: float) -> None:
        self.scale = max(most - least, _TINY) / 255
        self.zero = round(-least / self.scale)

    def __call__(self, x: Tensor) -> Tensor:
        rounded = torch.quantize_per_tensor(x, self.scale, self.zero, torch.quint8)
        # The bytes as they lie there: `int_repr` copies them one by one.
        return x.new_empty(0, dtype=torch.uint8).set_(rounded.untyped_storage(), 0, rounded.shape, rounded.stride())


def row_scales(weight: Tensor) -> Tensor:
    """What one step of a row's whole numbers stands for."""
    return (weight.abs().amax(1) / _LARGEST).clamp(min=_TINY)


def rounded_rows(weight: Tensor, scales: Tensor) -> Tensor:
    """Weights as whole numbers, in torch's own form."""
    zeros = torch.zeros(len(scales), dtype=torch.long)
    with warnings.catch_warnings():
        # A later torch may not have them; ours is pinned, and a bundle without int8 runs all the same.
        warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*")
        return torch.quantize_per_channel(weight, scales.double(), zeros, 0, torch.qint8)
