"""Performer once more, written from the sheet's equations alone: float64 NumPy, each page by itself and without its padding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tests.encoders.reference import Floats, Layer, feed_forward, layer_norm, relu

_NAMES = "Wq:DD Wk:DD Wv:DD Wo:DD W1:DF bf1:F W2:FD bf2:D g1:D b1:D g2:D b2:D"
PERFORMER_LAYER = dict(each.split(":") for each in _NAMES.split())


def features(u: Floats, omega: Floats | None, *, kernel: str, largest: str) -> Floats:
    """phi of every row; c is the largest value of each row ("row") or of all rows ("all")."""
    if kernel == "relu":
        return relu(u if omega is None else u @ omega.T / math.sqrt(len(omega))) + 1e-3
    assert omega is not None
    out = np.zeros((len(u), len(omega)))
    shrunk = u / u.shape[1] ** 0.25
    products = shrunk @ omega.T
    for row in range(len(u)):
        c = products[row].max() if largest == "row" else products.max()
        out[row] = np.exp(products[row] - shrunk[row] @ shrunk[row] / 2 - c) + 1e-6
    return out / math.sqrt(len(omega))


def attention(q: Floats, k: Floats, v: Floats, omega: Floats | None, *, kernel: str) -> Floats:
    """By the weights of every query and key, which the encoder never makes."""
    weights = features(q, omega, kernel=kernel, largest="row") @ features(k, omega, kernel=kernel, largest="all").T
    return np.asarray(weights / weights.sum(1, keepdims=True) @ v)


def performer_page(
    x: Floats, layers: Sequence[Layer], omegas: Sequence[Floats | None], *, heads: int, kernel: str = "softmax"
) -> Floats:
    each = x.shape[1] // heads
    for layer, omega in zip(layers, omegas, strict=True):
        q, k, v = (x @ layer[name] for name in ("Wq", "Wk", "Wv"))
        parts = [slice(head * each, (head + 1) * each) for head in range(heads)]
        attended = np.hstack([attention(q[:, part], k[:, part], v[:, part], omega, kernel=kernel) for part in parts])
        y = layer_norm(x + attended @ layer["Wo"], layer["g1"], layer["b1"], epsilon=1e-6)
        x = layer_norm(y + feed_forward(y, layer), layer["g2"], layer["b2"], epsilon=1e-6)
    return x
