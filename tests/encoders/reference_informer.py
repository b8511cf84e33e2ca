"""Informer once more, written from the sheet's equations alone: float64 NumPy, each page by itself and without its padding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tests.encoders.reference import Floats, Layer, layer_norm, relu, softmax

Table = NDArray[np.int64]


def budget(length: int, factor: int) -> int:
    return min(length, max(1, factor * math.ceil(math.log(length))))


def gelu(x: Floats) -> Floats:
    return np.asarray(x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))))


def measure(q: Floats, k: Floats, table: Table) -> Floats:
    """M of every query by its row of sampled keys."""
    out = np.zeros(len(q))
    for place, row in enumerate(table):
        products = [float(q[place] @ k[key]) for key in row]
        out[place] = max(products) - sum(products) / len(q)
    return out


def prob_sparse(q: Floats, k: Floats, v: Floats, table: Table, *, active: int) -> Floats:
    out = np.tile(v.mean(0), (len(q), 1))
    for place in np.argsort(-measure(q, k, table), kind="stable")[:active]:
        out[place] = softmax(q[place] @ k.T / math.sqrt(q.shape[1])) @ v
    return out


def informer_page(
    x: Floats,
    layers: Sequence[Layer],
    norm: Layer | None,
    tables: Sequence[Table],
    *,
    heads: int,
    factor: int,
    activation: str = "gelu",
) -> Floats:
    """Layers named as the Transformer's are; `norm` None leaves the last norm out."""
    each = x.shape[1] // heads
    act = gelu if activation == "gelu" else relu
    for layer, table in zip(layers, tables, strict=True):
        assert table.shape == (len(x), budget(len(x), factor))
        q, k, v = (x @ layer["W" + name] + layer["b" + name] for name in "qkv")
        results = []
        for head in range(heads):
            part = slice(head * each, (head + 1) * each)
            results.append(prob_sparse(q[:, part], k[:, part], v[:, part], table, active=budget(len(x), factor)))
        attended = np.hstack(results) @ layer["Wo"] + layer["bo"]
        y = layer_norm(x + attended, layer["g1"], layer["b1"], epsilon=1e-5)
        inner = act(y @ layer["W1"] + layer["bf1"]) @ layer["W2"] + layer["bf2"]
        x = layer_norm(y + inner, layer["g2"], layer["b2"], epsilon=1e-5)
    return x if norm is None else layer_norm(x, norm["ge"], norm["be"], epsilon=1e-5)
