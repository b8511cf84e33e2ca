"""Every labelling of a short page, one by one: what chains, spans and likelihoods are held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from batag.labels.scheme import IGNORED, Scheme

Doubles = NDArray[np.float64]
Path = tuple[int, ...]
SCHEMES = [
    Scheme("flat", ("goods", "brand")),
    Scheme("bio", ("goods",)),
    Scheme("flat", ("goods",)),
    Scheme("bio", ("goods", "brand")),
]
WEIGHTS = ("transitions", "starts", "ends")


def labellings(scores_LC: Doubles, weights: Mapping[str, Doubles] | None = None) -> dict[Path, float]:
    """The log probability of each labelling of a page; without weights tokens are independent."""
    length, labels = scores_LC.shape
    zeros = {"transitions": np.zeros((labels, labels)), "starts": np.zeros(labels), "ends": np.zeros(labels)}
    transitions, starts, ends = ((weights or zeros)[name] for name in WEIGHTS)
    found = {}
    for path in product(range(labels), repeat=length):
        score = sum(scores_LC[place, label] for place, label in enumerate(path))
        score += sum(transitions[one, other] for one, other in pairwise(path))
        found[path] = float(score + (starts[path[0]] + ends[path[-1]] if path else 0.0))
    whole = np.logaddexp.reduce(list(found.values()))
    return {path: log - whole for path, log in found.items()}


def fits(path: Path, labels: Sequence[int]) -> bool:
    """Whether a labelling is one of those that the labels allow."""
    return all(known in (IGNORED, own) for own, known in zip(path, labels, strict=True))


def marginals_of(logs: Mapping[Path, float], labels: int) -> Doubles:
    """The probability of each label of each token."""
    length = len(next(iter(logs)))
    found = np.zeros((length, labels))
    for path, log in logs.items():
        found[range(length), path] += np.exp(log)
    return found


def rows_of(logs: Mapping[Path, float], scheme: Scheme) -> Doubles:
    """The rows of a page: marginals, and the probability of continuing each label; for the first token, which has none before
    it, these are NaN."""
    labels, length = len(scheme.labels), len(next(iter(logs)))
    onward = np.full((length, labels - 1), np.nan)
    for place in range(1, length):
        for label, following in enumerate(scheme.continuation, start=1):
            before = {path: log for path, log in logs.items() if path[place - 1] == label}
            both = [log for path, log in before.items() if path[place] == following]
            onward[place, label - 1] = np.exp(np.logaddexp.reduce(both) - np.logaddexp.reduce(list(before.values())))
    return np.concatenate((marginals_of(logs, labels), onward), axis=1)


def spans_of(logs: Mapping[Path, float], scheme: Scheme) -> dict[tuple[int, int, str], float]:
    """The probability of each span: that of all labellings which have this tag, with these borders and this class."""
    found: dict[tuple[int, int, str], float] = {}
    for path, log in logs.items():
        for span in scheme.decode(path):
            found[span] = found.get(span, 0.0) + float(np.exp(log))
    return found


def drawn_page(length: int, labels: int, *, scale: float, seed: int) -> tuple[Doubles, dict[str, Doubles]]:
    """Scores of a page and weights of a chain by chance."""
    generator = np.random.default_rng(seed)
    shapes = {"transitions": (labels, labels), "starts": (labels,), "ends": (labels,)}
    weights = {name: generator.normal(size=shape) * scale for name, shape in shapes.items()}
    return generator.normal(size=(length, labels)) * scale, weights


scales = st.sampled_from([0.1, 1.0, 3.0, 5.0])
seeds = st.integers(0, 10_000)
