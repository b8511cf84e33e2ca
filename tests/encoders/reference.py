"""The encoders once more, written from the equations alone: float64 NumPy, each page by itself and without its padding.

A linear map is y = x W + b with W [in, out], a convolution has a kernel [taps, in, out], tap 0 being the left-most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Layer = Mapping[str, Floats]

# The tensors of one layer in the order in which the sheet's vectors number them; D width, F inner width.
_ATTENTION = "Wq:DD bq:D Wk:DD bk:D Wv:DD bv:D Wo:DD bo:D "
_BAT = _ATTENTION + "K1:1DD bK1:D K3:3DD bK3:D g1:D b1:D g2:D b2:D W1:DF bf1:F W2:FD bf2:D Kr:1DD bKr:D g3:D b3:D"
_TRANSFORMER = _ATTENTION + "W1:DF bf1:F W2:FD bf2:D g1:D b1:D g2:D b2:D"
BAT_LAYER, TRANSFORMER_LAYER = (dict(each.split(":") for each in names.split()) for names in (_BAT, _TRANSFORMER))
NORM = {"ge": "D", "be": "D"}


def shape_of(letters: str, *, width: int, inner: int) -> tuple[int, ...]:
    sizes = {"D": width, "F": inner}
    return tuple(sizes[letter] if letter in sizes else int(letter) for letter in letters)


def waves(shape: Sequence[int], start: float, size: float) -> Floats:
    """The sheet's made-up numbers: size * sin(0.7 k + start) for k = 0, 1, 2 ... in C order."""
    return (size * np.sin(0.7 * np.arange(math.prod(shape)) + start)).reshape(shape)


def made_up(name: str, shape: Sequence[int], start: int) -> Floats:
    """A tensor of the sheet's vectors: weights of size 0.5, biases 0.1, gains 1 and a little."""
    if name.startswith("g"):
        return 1 + waves(shape, start, 0.1)
    return waves(shape, start, 0.1 if name.startswith("b") else 0.5)


def drawn(names: Mapping[str, str], *, width: int, inner: int, seed: int) -> dict[str, Floats]:
    """Random tensors of those shapes, all different from what an encoder starts with."""
    random = np.random.default_rng(seed)
    return {
        name: (1.0 if name.startswith("g") else 0.0) + 0.4 * random.standard_normal(shape_of(letters, width=width, inner=inner))
        for name, letters in names.items()
    }


def sinusoid(length: int, width: int) -> Floats:
    table = np.zeros((length, width))
    for place in range(length):
        for column in range(width):
            angle = place / 10000 ** (2 * (column // 2) / width)
            table[place, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def deviation_norm(x: Floats, gain: Floats, bias: Floats) -> Floats:
    """BAT's: 1e-4 is added to the standard deviation."""
    return (x - x.mean(1, keepdims=True)) / (x.std(1, keepdims=True) + 1e-4) * gain + bias


def layer_norm(x: Floats, gain: Floats, bias: Floats, *, epsilon: float) -> Floats:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon) * gain + bias


def softmax(x: Floats) -> Floats:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def attention(x: Floats, layer: Layer, *, heads: int, scale: float, keys: int) -> Floats:
    """Multi-head attention of every row to the first `keys` rows."""
    queries, every_key, values = (x @ layer["W" + name] + layer["b" + name] for name in "qkv")
    each = x.shape[1] // heads
    results = []
    for head in range(heads):
        part = slice(head * each, (head + 1) * each)
        weights = softmax(scale * queries[:, part] @ every_key[:keys, part].T)
        results.append(weights @ values[:keys, part])
    return np.asarray(np.hstack(results) @ layer["Wo"] + layer["bo"])


def convolution(x: Floats, kernel: Floats, bias: Floats) -> Floats:
    """Cross-correlation along the page, zeros beyond its ends."""
    taps = len(kernel)
    out = np.tile(bias, (len(x), 1))
    for place in range(len(x)):
        for tap in range(taps):
            other = place + tap - (taps - 1) // 2
            if 0 <= other < len(x):
                out[place] += x[other] @ kernel[tap]
    return out


def relu(x: Floats) -> Floats:
    return np.maximum(x, 0)


def feed_forward(x: Floats, layer: Layer) -> Floats:
    return np.asarray(relu(x @ layer["W1"] + layer["bf1"]) @ layer["W2"] + layer["bf2"])


def bat_page(x: Floats, layers: Sequence[Layer], norm: Layer, *, heads: int, scale: float, keys: int | None = None) -> Floats:
    """One page. `keys` below its length makes the rest padding as the authors' code has it: seen by the convolutions."""
    z = deviation_norm(x, norm["ge"], norm["be"])
    for layer in layers:
        attended = attention(z, layer, heads=heads, scale=scale, keys=len(z) if keys is None else keys)
        own = relu(convolution(z, layer["K1"], layer["bK1"]))
        near = relu(convolution(z, layer["K3"], layer["bK3"]))
        mixed = deviation_norm(own + attended + near, layer["g1"], layer["b1"])
        u = deviation_norm(mixed + z, layer["g2"], layer["b2"])
        weighted = relu(convolution(u, layer["Kr"], layer["bKr"]))
        z = deviation_norm(feed_forward(u, layer) + weighted, layer["g3"], layer["b3"])
    return z


def transformer_page(x: Floats, layers: Sequence[Layer], *, heads: int, keys: int | None = None) -> Floats:
    """One page; `keys` below its length makes the rest padding."""
    scale = 1 / math.sqrt(x.shape[1] / heads)
    for layer in layers:
        attended = attention(x, layer, heads=heads, scale=scale, keys=len(x) if keys is None else keys)
        y = layer_norm(x + attended, layer["g1"], layer["b1"], epsilon=1e-6)
        x = layer_norm(y + feed_forward(y, layer), layer["g2"], layer["b2"], epsilon=1e-6)
    return x
