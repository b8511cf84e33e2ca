"""Admin once more from its equations alone: float64 NumPy, each page by itself; only the variances look at all pages."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tests.encoders.reference import Floats, Layer, attention, feed_forward, layer_norm

Shortcuts = Sequence[Floats | float]
"""One for each sublayer: attention and feed-forward of layer 1, of layer 2, ..."""


def admin_page(x: Floats, layers: Sequence[Layer], shortcuts: Shortcuts, *, heads: int) -> Floats:
    scale = 1 / math.sqrt(x.shape[1] / heads)
    for place, layer in enumerate(layers):
        attended = attention(x, layer, heads=heads, scale=scale, keys=len(x))
        y = layer_norm(attended + x * shortcuts[2 * place], layer["g1"], layer["b1"], epsilon=1e-5)
        x = layer_norm(feed_forward(y, layer) + y * shortcuts[2 * place + 1], layer["g2"], layer["b2"], epsilon=1e-5)
    return x


def admin_profile(
    pages: Sequence[Floats], layers: Sequence[Layer], *, heads: int, keys: int | None = None
) -> tuple[list[float], list[Floats]]:
    """The shortcuts that a batch gives and the pages' outputs with them; `keys` below a page's length makes the rest
    padding as the authors' code has it: in the variances."""
    omegas, size = [], 1.0
    states = list(pages)
    scale = 1 / math.sqrt(states[0].shape[1] / heads)
    for layer in layers:
        for part in (1, 2):
            if part == 1:
                branches = [attention(x, layer, heads=heads, scale=scale, keys=keys or len(x)) for x in states]
            else:
                branches = [feed_forward(x, layer) for x in states]
            omegas.append(size)
            kept = [size * x for x in states]
            states = [
                layer_norm(branch + x, layer[f"g{part}"], layer[f"b{part}"], epsilon=1e-5)
                for branch, x in zip(branches, kept, strict=True)
            ]
            size = math.sqrt(np.vstack(kept).var() + np.vstack(branches).var())
    return omegas, states
