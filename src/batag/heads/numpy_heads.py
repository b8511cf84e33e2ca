"""The heads in NumPy, for tagging without torch: they compute the marginals of each token.

Shapes: B pages, L tokens, C labels, N chains, K places of a window; 2 stands for the two directions.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from batag.errors import InputError
from batag.features.batches import Floats

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
_LEAST = 1e-300
_NORMED = 4


class NumpyHeads:
    """Everything after the encoder's logits: the chain and the mixed-in window CRF, as far as the bundle has them."""

    def __init__(self, arrays: Mapping[str, Floats], *, labels: int, chain: bool, window_crf: bool) -> None:
        self.chain = ChainWeights(arrays, "chain.", labels=labels) if chain else None
        self.window_crf = ChainWeights(arrays, "window_crf.chain.", labels=labels) if window_crf else None
        self.mixing_weight = float(weight_of(arrays, "window_crf.mixing_weight")) if window_crf else 0.0

    def __call__(self, logits_BLC: Floats, scores_BLC: Floats, mask_BL: Mask) -> Floats:
        """The label probabilities of each token; `scores` are those of the window CRF."""
        pairs = ((self.chain, logits_BLC), (self.window_crf, scores_BLC))
        chains = [(chain, scores) for chain, scores in pairs if chain is not None]
        found = chain_marginals([chain for chain, _ in chains], [scores for _, scores in chains], mask_BL) if chains else []
        own = found[0] if self.chain is not None else softmax(logits_BLC.astype(np.float64))
        if self.window_crf is None:
            return own.astype(np.float32)
        logs = (np.log(np.maximum(each, _LEAST)) for each in (own, found[-1]))
        weights = (1 - self.mixing_weight, self.mixing_weight)
        mixed = sum((weight * each for weight, each in zip(weights, logs, strict=True)), np.zeros(()))
        return softmax(mixed).astype(np.float32)


class ChainWeights:
    """The transition, start and end scores of a chain as factors, named as in `torch_heads.Chain`."""

    def __init__(self, arrays: Mapping[str, Floats], prefix: str = "", *, labels: int) -> None:
        shapes = {"transitions": (labels, labels), "starts": (labels,), "ends": (labels,)}
        transitions, starts, ends = (
            weight_of(arrays, f"{prefix}{name}", *shape).astype(np.float64) for name, shape in shapes.items()
        )
        self.transitions_2CC = _factors(np.stack((transitions, transitions.T)))
        self.first_2C = _factors(np.stack((starts, ends)))


def chain_marginals(chains: Sequence[ChainWeights], scores: Sequence[Floats], mask_BL: Mask) -> list[Doubles]:
    """The marginals [B,L,C] of each chain over its scores; all chains and both directions are computed together."""
    (pages, length), labels = mask_BL.shape, scores[0].shape[-1]
    steps = np.empty((length, len(chains), 2, pages, labels))
    for number, values_BLC in enumerate(scores):
        own_LBC = values_BLC.astype(np.float64).transpose(1, 0, 2)
        np.exp(own_LBC - own_LBC.max(-1, keepdims=True), out=steps[:, number, 0])
    # From the right it is the same recursion on the page turned round.
    steps[:, :, 1] = steps[::-1, :, 0]
    transitions = np.array([each.transitions_2CC for each in chains])
    first = np.array([each.first_2C for each in chains])[:, :, None]
    padded = np.flatnonzero(~mask_BL.all(0)).tolist()
    begin_later = {length - 1 - place: ~mask_BL[:, place] for place in padded}
    before = np.empty_like(steps)
    before[0] = first
    for place in range(1, length):
        sums = steps[place - 1] * before[place - 1]
        if place % _NORMED == 0:
            sums /= np.maximum(sums.sum(-1, keepdims=True), _LEAST)
        np.matmul(sums, transitions, out=before[place])
        # A page that is shorter than its batch begins, from the right, after the padding.
        if place - 1 in begin_later:
            before[place, :, 1, begin_later[place - 1]] = first[:, 1, 0]
    together = before[:, :, 0] * before[::-1, :, 1] * steps[:, :, 0]
    together /= np.maximum(together.sum(-1, keepdims=True), _LEAST)
    return list(together.transpose(1, 2, 0, 3))


def window_scores(rows_BL: Ints, table_NKC: Floats) -> Floats:
    """The window CRF's scores [B,L,C], from each word's row in a table of scores per place of the window; row 0 stands for
    places outside the page."""
    (pages, length), (places, labels) = rows_BL.shape, table_NKC.shape[1:]
    beyond = np.zeros((pages, places // 2), dtype=np.int64)
    wide = np.concatenate((beyond, rows_BL, beyond), axis=1)
    scores: Floats = np.zeros((pages, length, labels), dtype=np.float32)
    for place in range(places):
        scores += table_NKC[wide[:, place : place + length], place]
    return scores


def softmax(logits: Doubles) -> Doubles:
    """The marginals of the linear head: a softmax for each token."""
    factors = np.exp(logits - logits.max(-1, keepdims=True))
    found: Doubles = factors / factors.sum(-1, keepdims=True)
    return found


def weight_of(arrays: Mapping[str, Floats], name: str, *shape: int) -> Floats:
    """A weight of a bundle; another shape than the given one is an error."""
    found = arrays.get(name)
    if found is None or found.shape != shape:
        what = f"does not fit bundle.json: {name} is not {'x'.join(map(str, shape)) or 'a number'}"
        raise InputError(what, where="model.safetensors", todo="Copy the bundle again, or train it again")
    return found


def _factors(logs: Doubles) -> Doubles:
    factors: Doubles = np.exp(logs - logs.max())
    return factors
