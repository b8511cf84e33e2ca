"""Tag-level scores: a tag is correct only if its field, borders and class are all correct."""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any


class TagScores:
    """Counts gold, predicted and correct tags of each class."""

    def __init__(self) -> None:
        self.true: Counter[str] = Counter()
        self.predicted: Counter[str] = Counter()
        self.found: Counter[str] = Counter()

    def add(self, truth: Iterable[tuple[Hashable, str]], predicted: Iterable[tuple[Hashable, str]]) -> None:
        """Add the tags of one page (or field) as (place, class) pairs; places must match exactly."""
        true, found = set(truth), set(predicted)
        for counter, tags in ((self.true, true), (self.predicted, found), (self.found, true & found)):
            counter.update(name for _, name in tags)

    def report(self) -> dict[str, Any]:
        """Micro scores (over all tags), macro scores (mean over classes with gold tags) and each class, most frequent first."""
        names = sorted(self.true.keys() | self.predicted.keys(), key=lambda name: (-self.true[name], name))
        rows = {name: _scores(self.found[name], self.true[name], self.predicted[name]) for name in names}
        there = [row for row in rows.values() if row["true"]]
        macro = {key: sum(row[key] for row in there) / max(len(there), 1) for key in ("precision", "recall", "f1", "f2")}
        micro = _scores(self.found.total(), self.true.total(), self.predicted.total())
        return {"micro": micro, "macro": macro, "classes": rows}


def _scores(found: int, true: int, predicted: int) -> dict[str, Any]:
    def f(beta: float) -> float:
        below = beta**2 * true + predicted
        return (1 + beta**2) * found / below if below else 0.0

    return {
        "precision": found / predicted if predicted else 0.0,
        "recall": found / true if true else 0.0,
        "f1": f(1),
        "f2": f(2),
        "true": true,
        "predicted": predicted,
        "found": found,
    }
