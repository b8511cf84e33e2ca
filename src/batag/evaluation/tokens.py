"""Token-level scores from a confusion matrix over none and the classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.fscore import Floats, fbeta, precision, recall
from batag.labels.scheme import NONE, Scheme


def class_numbers(scheme: Scheme) -> NDArray[np.int64]:
    """The class number of each label; 0 for none."""
    per_class = (len(scheme.labels) - 1) // max(len(scheme.classes), 1)
    return np.concatenate(([0], np.repeat(np.arange(1, len(scheme.classes) + 1), per_class)))


class TokenScores:
    """Counts tokens by gold and predicted class; B- and I- labels count as their class, so that schemes can be compared."""

    def __init__(self, scheme: Scheme) -> None:
        self.classes = (NONE, *scheme.classes)
        self._class_of = class_numbers(scheme)
        self.confusion: NDArray[np.int64] = np.zeros((len(self.classes),) * 2, dtype=np.int64)

    def add(self, truth: Sequence[int] | NDArray[Any], predicted: Sequence[int] | NDArray[Any]) -> None:
        """Add gold and predicted label numbers; tokens with a gold label below 0 are ignored."""
        true, found = np.asarray(truth, dtype=np.int64), np.asarray(predicted, dtype=np.int64)
        known = true >= 0
        size = len(self.classes)
        cells = self._class_of[true[known]] * size + self._class_of[found[known]]
        self.confusion += np.bincount(cells, minlength=size * size).reshape(size, size)

    def summary(self) -> dict[str, float]:
        """Macro F1 and F2, over all classes that occur and without none.

        A class without gold tokens has no F score and is left out of the means even if it was predicted; such mistakes lower
        the recall of the gold classes.
        """
        f1, f2 = fbeta(self.confusion, 1), fbeta(self.confusion, 2)
        return {
            "macro_f1": self._mean(f1),
            "macro_f2": self._mean(f2),
            "macro_f1_without_none": self._mean(f1, first=1),
            "macro_f2_without_none": self._mean(f2, first=1),
        }

    def _mean(self, scores: Floats, *, first: int = 0) -> float:
        """The mean over the classes with gold tokens."""
        there = scores[first:][self.confusion.sum(1)[first:] > 0]
        return float(there.mean()) if there.size else 0.0

    def report(self) -> dict[str, Any]:
        """The summary and, for each class, precision, recall, F1, F2, gold and predicted counts."""
        table = self.confusion
        columns = {"precision": precision(table), "recall": recall(table), "f1": fbeta(table, 1), "f2": fbeta(table, 2)}
        amounts = {"true": table.sum(1), "predicted": table.sum(0)}
        rows = {
            name: {key: float(values[place]) for key, values in columns.items()}
            | {key: int(values[place]) for key, values in amounts.items()}
            for place, name in enumerate(self.classes)
        }
        return self.summary() | {"tokens": int(table.sum()), "classes": rows, "confusion": table.tolist()}
