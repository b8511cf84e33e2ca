"""From logits to probabilities without torch: labels of neighbours decided together, and the second reader's say.

Shapes: B pages, L tokens, C labels, R readers; 2 stands for the two directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from batag.bundles.description import AGAIN, Description
from batag.errors import InputError
from batag.features.batches import Floats

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]
_LEAST = 1e-300
_NORMED = 4


class Answer:
    """What the head of a classifier does after its logits, as the weights of a bundle say it."""

    def __init__(self, description: Description, arrays: Mapping[str, Floats]) -> None:
        labels = len(description.labels)
        self.chain = _Links(arrays, "chain.", labels) if description.head.chain else None
        self.second = _Links(arrays, "neighbours.chain.", labels) if description.head.neighbours else None
        self.share = float(_table(arrays, "neighbours.share")) if self.second is not None else 0.0

    def __call__(self, logits_BLC: Floats, scores_BLC: Floats, mask_BL: Mask) -> Floats:
        """Probabilities of the labels; `scores` are the second reader's."""
        chains = [(links, values) for links, values in ((self.chain, logits_BLC), (self.second, scores_BLC)) if links]
        read = marginals([links for links, _ in chains], [values for _, values in chains], mask_BL) if chains else []
        first: Doubles = read[0] if self.chain is not None else _softmax(logits_BLC.astype(np.float64))
        if self.second is None:
            return first.astype(np.float32)
        logs = (np.log(np.maximum(each, _LEAST)) for each in (first, read[-1]))
        both = _softmax(sum((part * each for part, each in zip((1 - self.share, self.share), logs, strict=True)), np.zeros(())))
        return both.astype(np.float32)


class _Links:
    """What follows what, begins and ends in a chain, as factors."""

    def __init__(self, arrays: Mapping[str, Floats], name: str, labels: int) -> None:
        shapes = {"follows": (labels, labels), "begins": (labels,), "ends": (labels,)}
        follows, begins, ends = (_table(arrays, f"{name}{part}", *shape).astype(np.float64) for part, shape in shapes.items())
        self.follows_2CC = _factors(np.stack((follows, follows.T)))
        self.first_2C = _factors(np.stack((begins, ends)))


def marginals(links: Sequence[_Links], scores: Sequence[Floats], mask_BL: Mask) -> list[Doubles]:
    """The marginals of each token, one array a chain; all chains and both directions go through the page together."""
    (pages, length), labels = mask_BL.shape, scores[0].shape[-1]
    steps = np.empty((length, len(links), 2, pages, labels))
    for reader, values_BLC in enumerate(scores):
        own_LBC = values_BLC.astype(np.float64).transpose(1, 0, 2)
        np.exp(own_LBC - own_LBC.max(-1, keepdims=True), out=steps[:, reader, 0])
    # From the right it is the same recursion on the page turned round.
    steps[:, :, 1] = steps[::-1, :, 0]
    follows = np.array([each.follows_2CC for each in links])
    first = np.array([each.first_2C for each in links])[:, :, None]
    padded = np.flatnonzero(~mask_BL.all(0)).tolist()
    begin_later = {length - 1 - place: ~mask_BL[:, place] for place in padded}
    before = np.empty_like(steps)
    before[0] = first
    for place in range(1, length):
        sums = steps[place - 1] * before[place - 1]
        if place % _NORMED == 0:
            sums /= np.maximum(sums.sum(-1, keepdims=True), _LEAST)
        np.matmul(sums, follows, out=before[place])
        # A page that is shorter than its batch begins, from the right, after the padding.
        if place - 1 in begin_later:
            before[place, :, 1, begin_later[place - 1]] = first[:, 1, 0]
    together = before[:, :, 0] * before[::-1, :, 1] * steps[:, :, 0]
    together /= np.maximum(together.sum(-1, keepdims=True), _LEAST)
    return list(together.transpose(1, 2, 0, 3))


def _table(arrays: Mapping[str, Floats], name: str, *shape: int) -> Floats:
    found = arrays.get(name)
    if found is None or found.shape != shape:
        what = f"does not fit bundle.json: {name} is not {'x'.join(map(str, shape)) or 'a number'}"
        raise InputError(what, where="model.safetensors", todo=AGAIN)
    return found


def _factors(logs: Doubles) -> Doubles:
    factors: Doubles = np.exp(logs - logs.max())
    return factors


def _softmax(x: Doubles) -> Doubles:
    e = np.exp(x - x.max(-1, keepdims=True))
    found: Doubles = e / e.sum(-1, keepdims=True)
    return found
