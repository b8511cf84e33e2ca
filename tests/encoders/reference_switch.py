"""Switch once more, written from the sheet's equations alone: float64 NumPy, token by token and without padding."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from tests.encoders.reference import Floats, Layer, attention, layer_norm, relu, softmax

_NAMES = "Wq:DD bq:D Wk:DD bk:D Wv:DD bv:D Wo:DD bo:D Wr:DE br:E W1:EDF bf1:EF W2:EFD bf2:ED g1:D b1:D g2:D b2:D"
SWITCH_LAYER = dict(each.split(":") for each in _NAMES.split())


def drawn(*, width: int, inner: int, experts: int, seed: int) -> dict[str, Floats]:
    """Random tensors, all different from what an encoder starts with."""
    random = np.random.default_rng(seed)
    sizes = {"D": width, "F": inner, "E": experts}
    return {
        name: float(name.startswith("g")) + 0.4 * random.standard_normal([sizes[letter] for letter in letters])
        for name, letters in SWITCH_LAYER.items()
    }


def switch(pages: Sequence[Floats], layer: Layer, *, capacity: float | None, by_page: bool) -> tuple[list[Floats], float]:
    """What the experts add to each page, and E sum f P of the batch; without a capacity no token is dropped."""
    experts = layer["Wr"].shape[1]
    tokens = sum(map(len, pages))
    chosen, probabilities = np.zeros(experts), np.zeros(experts)
    taken: Counter[int] = Counter()
    outs = []
    for page in pages:
        if by_page:
            taken.clear()
        room = math.inf
        if capacity is not None:
            room = max(1, math.ceil(capacity * (len(page) if by_page else tokens) / experts))
        out = np.zeros_like(page)
        for place, y in enumerate(page):
            chances = softmax(y @ layer["Wr"] + layer["br"])
            e = int(chances.argmax())
            chosen[e] += 1
            probabilities += chances
            if taken[e] < room:
                inner = relu(y @ layer["W1"][e] + layer["bf1"][e])
                out[place] = chances[e] * (inner @ layer["W2"][e] + layer["bf2"][e])
            taken[e] += 1
        outs.append(out)
    return outs, float(experts * (chosen / tokens) @ (probabilities / tokens))


def switch_pages(
    pages: Sequence[Floats], layers: Sequence[Layer], *, heads: int, capacity: float | None = None, by_page: bool = False
) -> tuple[list[Floats], float]:
    """All pages of a batch, and the sum of its layers' E sum f P."""
    loss = 0.0
    xs = list(pages)
    for layer in layers:
        scale = 1 / math.sqrt(xs[0].shape[1] / heads)
        attended = [attention(x, layer, heads=heads, scale=scale, keys=len(x)) for x in xs]
        ys = [layer_norm(x + a, layer["g1"], layer["b1"], epsilon=1e-6) for x, a in zip(xs, attended, strict=True)]
        added, imbalance = switch(ys, layer, capacity=capacity, by_page=by_page)
        xs = [layer_norm(y + s, layer["g2"], layer["b2"], epsilon=1e-6) for y, s in zip(ys, added, strict=True)]
        loss += imbalance
    return xs, loss
