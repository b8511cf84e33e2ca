"""Compare an engine with float32 torch: probabilities, labels and scores."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from batag.bundles.bundle import Bundle
from batag.encoders.device import choose_device
from batag.engines.engine import Engine
from batag.engines.threads import check_threads, torch_threads
from batag.evaluation.dev_scores import score_examples
from batag.features.batches import Floats, in_batches
from batag.heads.prediction import probabilities

LabelledWords = tuple[Sequence[str], Sequence[int]]
"""The words of a page (or of a window) and the numbers of their labels; -1 for not labelled."""
NEAR_TIE = 1e-4
_ROUNDS = 3


@dataclass(frozen=True)
class Parity:
    """The largest and the mean difference of probabilities, the number of tokens with another label (near-ties aside) and, for
    labelled pages, the scores of float32 torch (`before`) and of the engine (`after`)."""

    tokens: int
    largest: float
    mean: float
    other_labels: int
    labelled: bool
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as a JSON object."""
        return asdict(self)


def compare(engine: Engine, bundle: Bundle, pages: Sequence[LabelledWords]) -> Parity:
    """Compare an engine with the torch classifier, which has only the weights in common with it."""
    model, cpu = bundle.model(), choose_device("cpu")
    sequences = [words for words, _ in pages]
    with torch_threads(check_threads(None)):
        rows = in_batches(lambda batch: probabilities(model, batch, cpu), sequences)
    others_rows = engine.probabilities(sequences)
    before, after = _all(rows), _all(others_rows)
    truth = np.concatenate([np.array(labels, dtype=np.int64) for _, labels in pages])
    difference = np.abs(before - after)
    # As good as equal before: either label is right.
    labels = len(bundle.scheme.labels)
    two = np.sort(before[:, :labels], axis=1)[:, -2:]
    sure = two[:, 1] - two[:, 0] > NEAR_TIE
    others = int((sure & (before[:, :labels].argmax(1) != after[:, :labels].argmax(1))).sum())
    labelled = bool((truth >= 0).any())
    gold = [own for _, own in pages]
    scores = [score_examples(each, gold, bundle.scheme).summary() for each in (rows, others_rows)] if labelled else []
    return Parity(len(truth), float(difference.max()), float(difference.mean()), others, labelled, *scores)


def compare_rates(engines: Mapping[str, Engine], sequences: Sequence[Sequence[str]]) -> dict[str, float]:
    """The throughput of each engine in tokens per second, the best of three rounds; words are looked up before the timing."""
    tokens = sum(map(len, sequences))
    best = dict.fromkeys(engines, 0.0)
    for _ in range(_ROUNDS):
        for name, engine in engines.items():
            began = time.perf_counter()
            engine.probabilities(sequences)
            best[name] = max(best[name], tokens / (time.perf_counter() - began))
    return {name: round(rate, 1) for name, rate in best.items()}


def _all(values: Sequence[Floats]) -> Floats:
    return np.concatenate([each for each in values if len(each)])
