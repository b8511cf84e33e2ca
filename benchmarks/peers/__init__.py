"""Tools that users would pick instead, each with its usual settings: `fit(train, dev, scheme, seed) -> predict`, and
`predict(sequences) -> (label paths, token marginals or None)`."""

from __future__ import annotations

from collections.abc import Sequence

from batag.evaluation.tags import TagScores
from batag.labels.scheme import Scheme
from batag.training.examples import Example


def tag_f1(examples: Sequence[Example], paths: Sequence[Sequence[int]], scheme: Scheme) -> float:
    """Micro F1 of tags with exact borders, by which the best epoch is chosen."""
    scores = TagScores()
    for example, path in zip(examples, paths, strict=True):
        gold, found = (scheme.decode([max(label, 0) for label in each]) for each in (example.labels, path))
        scores.add(*(((span[:2], span[2]) for span in each) for each in (gold, found)))
    return float(scores.report()["micro"]["f1"])
