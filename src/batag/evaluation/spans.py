"""Find the tags of pages in the rows of probabilities of their tokens: the exact probability of each span, and which of those
that overlap are kept.

Shapes: N tokens of all texts one after the other, C labels, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.labels.scheme import Numbers, Scheme

LEAST = 0.05
"""The lowest probability of a span that can become a tag, however rich."""


@dataclass(frozen=True)
class Spans:
    """Spans in order of their first token: first token, last token, class number (from 1) and probability."""

    first: Numbers
    last: Numbers
    classes: Numbers
    probability: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, chosen: Any) -> Spans:
        return Spans(self.first[chosen], self.last[chosen], self.classes[chosen], self.probability[chosen])

    def labels(self, scheme: Scheme, tokens: int) -> Numbers:
        """The label of each token, 0 outside of the spans."""
        found = np.zeros(tokens, dtype=np.int64)
        flat = scheme.name == "flat"
        lengths = self.last - self.first + 1
        places = np.repeat(self.first, lengths) + np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
        found[places] = np.repeat(self.classes if flat else 2 * self.classes, lengths)
        if not flat:
            found[self.first] = 2 * self.classes - 1
        return found


def find_spans(values: NDArray[Any], begins: Sequence[int], scheme: Scheme) -> Spans:
    """The spans of texts whose rows of probabilities stand one after the other; `begins` are the first tokens of the texts.

    Of spans that overlap, the most probable one is kept: this does not depend on richness, so that a richer setting keeps every
    tag of a cleaner one.
    """
    found = _candidates(values, begins, scheme)
    return found[_without_overlaps(found, len(values))]


def _candidates(values: NDArray[Any], begins: Sequence[int], scheme: Scheme) -> Spans:
    """All spans that are probable enough. A span begins with a B- (or with an I- that continues nothing), goes on as long as
    the next token continues it, and ends where that does not."""
    labels, length = len(scheme.labels), len(values)
    marginals = values[:, :labels]
    onward = values[:, labels:] if values.shape[1] > labels else marginals[:, list(scheme.continuation)]
    # A row of zeros behind the last text: nothing goes on there.
    onward = np.concatenate((onward, np.zeros((1, labels - 1), dtype=onward.dtype)))
    onward[list(begins)] = 0
    flat = scheme.name == "flat"
    inside_NK = marginals[:, 1:] if flat else marginals[:, 2::2]
    after_inside = onward if flat else onward[:, 1::2]
    begin_NK = np.zeros_like(inside_NK) if flat else marginals[:, 1::2]
    after_begin = after_inside if flat else onward[:, 0::2]
    stray_NK = inside_NK.copy()
    stray_NK[1:] -= inside_NK[:-1] * after_inside[1:length]
    if not flat:
        stray_NK[1:] -= begin_NK[:-1] * after_begin[1:length]
    np.maximum(stray_NK, 0, out=stray_NK)
    first, number = np.nonzero(begin_NK + stray_NK >= LEAST)
    begun, gone_on = (each[first, number].astype(np.float64) for each in (begin_NK, stray_NK))
    last = first
    parts: list[tuple[Numbers, Numbers, Numbers, NDArray[np.float64]]] = []
    while len(first):
        on = begun * after_begin[last + 1, number] + gone_on * after_inside[last + 1, number]
        ended = begun + gone_on - on
        enough = ended >= LEAST
        parts.append((first[enough], last[enough], number[enough] + 1, ended[enough]))
        more = on >= LEAST
        first, last, number, gone_on = first[more], last[more] + 1, number[more], on[more]
        begun = np.zeros(len(first))
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return Spans(empty, empty, empty, np.zeros(0))
    joined = Spans(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return joined[np.lexsort((joined.last, joined.first))]


def _without_overlaps(found: Spans, tokens: int) -> NDArray[np.bool_]:
    """Which of the spans are kept: the most probable ones first, the shorter one among equals."""
    steps = np.zeros(tokens + 1, dtype=np.int64)
    np.add.at(steps, found.first, 1)
    np.add.at(steps, found.last + 1, -1)
    shared = np.concatenate(([0], np.cumsum(steps.cumsum()[:-1] > 1)))
    kept: NDArray[np.bool_] = shared[found.last + 1] == shared[found.first]
    others = np.flatnonzero(~kept)
    if len(others):
        order = np.lexsort((found.first[others], found.last[others] - found.first[others], -found.probability[others]))
        taken = bytearray(tokens)
        for number in others[order].tolist():
            start, stop = int(found.first[number]), int(found.last[number]) + 1
            if not any(taken[start:stop]):
                taken[start:stop] = b"\x01" * (stop - start)
                kept[number] = True
    return kept
