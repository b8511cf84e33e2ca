"""The heads in NumPy, for tagging without torch: they compute the rows of probabilities of each token.

Shapes: B pages, L tokens, C labels, N words of a table, K places of a window; 2 stands for the two directions.
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
    """Everything after the encoder's logits: the chain and the mixed-in window CRF, as far as the bundle has them.
    `continuation` is the label that continues each label but none."""

    def __init__(self, arrays: Mapping[str, Floats], *, continuation: Sequence[int], chain: bool, window_crf: bool) -> None:
        labels = 1 + len(continuation)
        self.continuation = list(continuation)
        self.mixing_weight = float(weight_of(arrays, "window_crf.mixing_weight")) if window_crf else 0.0
        own = ChainWeights.of(arrays, "chain.", labels=labels) if chain else ChainWeights.zeros(labels)
        other = ChainWeights.of(arrays, "window_crf.chain.", labels=labels) if window_crf else ChainWeights.zeros(labels)
        self.chain = own.mix(other, self.mixing_weight) if chain or window_crf else None

    def __call__(self, logits_BLC: Floats, scores_BLC: Floats, mask_BL: Mask) -> Floats:
        """The rows of each token; `scores` are those of the window CRF."""
        if self.chain is None:
            return softmax(logits_BLC.astype(np.float64)).astype(np.float32)
        mixed_BLC = (1 - self.mixing_weight) * logits_BLC.astype(np.float64)
        if self.mixing_weight:
            mixed_BLC += self.mixing_weight * scores_BLC
        return self.chain.rows(mixed_BLC, mask_BL, self.continuation).astype(np.float32)


class ChainWeights:
    """The transition, start and end scores of a chain, named as in `torch_heads.Chain`."""

    def __init__(self, transitions_CC: Doubles, starts_C: Doubles, ends_C: Doubles) -> None:
        self.scores = transitions_CC, starts_C, ends_C
        self.transitions_2CC = _factors(np.stack((transitions_CC, transitions_CC.T)))
        self.first_2C = _factors(np.stack((starts_C, ends_C)))

    @classmethod
    def of(cls, arrays: Mapping[str, Floats], prefix: str = "", *, labels: int) -> "ChainWeights":
        """Those of a bundle."""
        shapes = {"transitions": (labels, labels), "starts": (labels,), "ends": (labels,)}
        return cls(*(weight_of(arrays, f"{prefix}{name}", *shape).astype(np.float64) for name, shape in shapes.items()))

    @classmethod
    def zeros(cls, labels: int) -> "ChainWeights":
        """Those of independent tokens."""
        return cls(np.zeros((labels, labels)), np.zeros(labels), np.zeros(labels))

    def mix(self, other: "ChainWeights", weight: float) -> "ChainWeights":
        """The weighted mean of two chains."""
        return ChainWeights(*((1 - weight) * a + weight * b for a, b in zip(self.scores, other.scores, strict=True)))

    def rows(self, scores_BLC: Doubles, mask_BL: Mask, continuation: Sequence[int]) -> Doubles:
        """The rows [B,L,2C-1] of pages with these scores: marginals, and the probabilities of continuing each label."""
        length = mask_BL.shape[1]
        steps = np.empty((length, 2, *scores_BLC.shape[::2]))
        np.exp((scores_BLC - scores_BLC.max(-1, keepdims=True)).transpose(1, 0, 2), out=steps[:, 0])
        # From the right it is the same recursion on the page turned round.
        steps[:, 1] = steps[::-1, 0]
        padded = np.flatnonzero(~mask_BL.all(0)).tolist()
        begin_later = {length - 1 - place: ~mask_BL[:, place] for place in padded}
        before = np.empty_like(steps)
        before[0] = self.first_2C[:, None]
        for place in range(1, length):
            sums = steps[place - 1] * before[place - 1]
            if place % _NORMED == 0:
                sums /= np.maximum(sums.sum(-1, keepdims=True), _LEAST)
            np.matmul(sums, self.transitions_2CC, out=before[place])
            # A page that is shorter than its batch begins, from the right, after the padding.
            if place - 1 in begin_later:
                before[place, 1, begin_later[place - 1]] = self.first_2C[1]
        right_LBC = before[::-1, 1] * steps[:, 0]
        together = before[:, 0] * right_LBC
        together /= np.maximum(together.sum(-1, keepdims=True), _LEAST)
        # Given the label before, what follows it depends on nothing farther to the left.
        sums_LBC = np.maximum(right_LBC @ self.transitions_2CC[1], _LEAST)[..., 1:]
        onward = right_LBC[..., continuation] * self.transitions_2CC[0][range(1, 1 + len(continuation)), continuation]
        found: Doubles = np.concatenate((together, onward / sums_LBC), axis=-1).transpose(1, 0, 2)
        return found


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
