"""MUSE once more from its equations alone: float64 NumPy, each page by itself and without its padding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tests.encoders.reference import Floats, Layer, feed_forward, layer_norm, made_up, softmax


def muse_shapes(*, width: int, inner: int, heads: int, kernels: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The tensors of one layer but for the gate, in the order in which the sheet's vectors number them."""
    square, vector = (width, width), (width,)
    shapes: dict[str, tuple[int, ...]] = {}
    for name in "qkv":
        shapes |= {f"W{name}": square, f"b{name}": vector}
    for place, kernel in enumerate(kernels):
        shapes[f"D{place}"] = (width, heads * kernel)
    shapes |= {"Wo": (2 * width if kernels else width, width), "bo": vector}
    shapes |= {"W1": (width, inner), "bf1": (inner,), "W2": (inner, width), "bf2": vector}
    return shapes | {"g1": vector, "b1": vector}


def muse_drawn(seed: int, *, kernels: Sequence[int], width: int, inner: int, heads: int) -> dict[str, Floats]:
    """Random tensors, all different from what an encoder starts with."""
    random = np.random.default_rng(seed)
    shapes = muse_shapes(width=width, inner=inner, heads=heads, kernels=kernels) | {"gate": (len(kernels),)}
    return {
        name: (1.0 if name.startswith("g") else 0.0) + 0.4 * random.standard_normal(shape) for name, shape in shapes.items()
    }


def muse_made_up(gate: Sequence[float], *, kernels: Sequence[int], width: int, inner: int, heads: int) -> dict[str, Floats]:
    """The sheet's numbers."""
    shapes = muse_shapes(width=width, inner=inner, heads=heads, kernels=kernels)
    layer = {name: made_up(name, shape, start) for start, (name, shape) in enumerate(shapes.items(), 1)}
    return layer | {"gate": np.array(gate)}


def dynamic_convolution(values: Floats, predict: Floats, *, heads: int) -> Floats:
    """Filters of every row and head from the row itself; tap by tap, zeros beyond the ends."""
    length, width = values.shape
    taps, each = predict.shape[1] // heads, width // heads
    out = np.zeros_like(values)
    for place in range(length):
        logits = (values[place] @ predict).reshape(heads, taps)
        for channel in range(width):
            weights = softmax(logits[channel // each])
            for tap in range(taps):
                other = place + tap - taps // 2
                if 0 <= other < length:
                    out[place, channel] += weights[tap] * values[other, channel]
    return out


def muse_page(
    x: Floats, layers: Sequence[Layer], *, kernels: Sequence[int], heads: int, keys: int | None = None, seen: bool = False
) -> Floats:
    """One page; `keys` below its length makes the rest padding, which the convolution sees in the authors' code (`seen`)."""
    keys = len(x) if keys is None else keys
    each = x.shape[1] // heads
    for layer in layers:
        queries, every_key, values = (x @ layer["W" + name] + layer["b" + name] for name in "qkv")
        parts = []
        for head in range(heads):
            part = slice(head * each, (head + 1) * each)
            weights = softmax(queries[:, part] / math.sqrt(each) @ every_key[:keys, part].T)
            parts.append(weights @ values[:keys, part])
        if kernels:
            shown = values.copy()
            if not seen:
                shown[keys:] = 0
            gate = softmax(layer["gate"])
            parts.append(
                sum(gate[place] * dynamic_convolution(shown, layer[f"D{place}"], heads=heads) for place in range(len(kernels)))
            )
        mixed = np.hstack(parts) @ layer["Wo"] + layer["bo"]
        x = layer_norm(x + mixed + feed_forward(x, layer), layer["g1"], layer["b1"], epsilon=1e-5)
    return x
