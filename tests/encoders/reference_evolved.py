"""The Evolved Transformer once more from its equations alone: float64 NumPy, each page by itself and without its padding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tests.encoders.reference import Floats, Layer, attention, convolution, feed_forward, layer_norm, relu


def evolved_drawn(seed: int, *, width: int, inner: int) -> dict[str, Floats]:
    """Random tensors of one layer, all different from what an encoder starts with."""
    half = max(1, width // 2)
    right = min(half, inner)
    square = (width, width)
    shapes: dict[str, tuple[int, ...]] = {
        f"{kind}{place}": (inner if place == 3 else width,) for place in range(1, 6) for kind in "gb"
    }
    shapes |= {"Wvalue": square, "bvalue": (width,), "Wgate": square, "bgate": (width,)}
    shapes |= {"Wleft": (width, inner), "bleft": (inner,), "Kright": (3, width, right), "bright": (right,)}
    shapes |= {"Kdepth": (9, inner), "Kpoint": (inner, half), "bpoint": (half,)}
    shapes |= {"Wq": square, "Wk": square, "Wv": square, "Wo": square}
    shapes |= {"W1": (width, inner), "bf1": (inner,), "W2": (inner, width), "bf2": (width,)}
    random = np.random.default_rng(seed)
    return {
        name: (1.0 if name.startswith("g") else 0.0) + 0.4 * random.standard_normal(shape) for name, shape in shapes.items()
    }


def widened(x: Floats, width: int) -> Floats:
    return np.hstack([x, np.zeros((len(x), width - x.shape[1]))])


def evolved_page(x: Floats, layers: Sequence[Layer], norm: Layer, *, heads: int) -> Floats:
    width = x.shape[1]
    for layer in layers:

        def normal(x: Floats, place: int, layer: Layer = layer) -> Floats:
            return layer_norm(x, layer[f"g{place}"], layer[f"b{place}"], epsilon=1e-6)

        y = normal(x, 1)
        x = x + (y @ layer["Wvalue"] + layer["bvalue"]) / (1 + np.exp(-(y @ layer["Wgate"] + layer["bgate"])))
        y = normal(x, 2)
        left = relu(y @ layer["Wleft"] + layer["bleft"])
        right = relu(convolution(y, layer["Kright"], layer["bright"]))
        mixed = normal(left + widened(right, left.shape[1]), 3)
        kernel = np.stack([np.diag(tap) for tap in layer["Kdepth"]])
        separate = convolution(mixed, kernel, np.zeros(left.shape[1]))
        x = x + widened(separate @ layer["Kpoint"] + layer["bpoint"], width)
        no_biases = {"b" + name: np.zeros(width) for name in "qkvo"}
        scale = 1 / math.sqrt(width / heads)
        x = x + attention(normal(x, 4), {**layer, **no_biases}, heads=heads, scale=scale, keys=len(x))
        x = x + feed_forward(normal(x, 5), layer)
    return layer_norm(x, norm["ge"], norm["be"], epsilon=1e-6)
