"""Token level: a confusion matrix over none and the classes, and all that follows from it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batag.evaluation.fscore import Floats, fbeta, precision, recall
from batag.labels.scheme import NONE, Scheme


def class_numbers(scheme: Scheme) -> NDArray[np.int64]:
    """The class of each label, none being 0."""
    per_class = (len(scheme.labels) - 1) // max(len(scheme.classes), 1)
    return np.concatenate(([0], np.repeat(np.arange(1, len(scheme.classes) + 1), per_class)))


class TokenScores:
    """Counts tokens by true and predicted class; labels of a BIO scheme count as their class, so that schemes compare."""

    def __init__(self, scheme: Scheme) -> None:
        self.classes = (NONE, *scheme.classes)
        self._class_of = class_numbers(scheme)
        self.confusion: NDArray[np.int64] = np.zeros((len(self.classes),) * 2, dtype=np.int64)

    def add(self, truth: Sequence[int] | NDArray[Any], predicted: Sequence[int] | NDArray[Any]) -> None:
        """Labels of tokens by number; a truth below 0 does not count."""
        true, found = np.asarray(truth, dtype=np.int64), np.asarray(predicted, dtype=np.int64)
        known = true >= 0
        size = len(self.classes)
        cells = self._class_of[true[known]] * size + self._class_of[found[known]]
        self.confusion += np.bincount(cells, minlength=size * size).reshape(size, size)

    def summary(self) -> dict[str, float]:
        """The four macros: F1 and F2, over all classes that are there and without none.

        A class that no token truly has has no F score: it is in no mean, also if it was predicted; that shows in its own
        row, and in the recall of what those tokens are.
        """
        f1, f2 = fbeta(self.confusion, 1), fbeta(self.confusion, 2)
        return {
            "macro_f1": self._mean(f1),
            "macro_f2": self._mean(f2),
            "macro_f1_without_none": self._mean(f1, first=1),
            "macro_f2_without_none": self._mean(f2, first=1),
        }

    def _mean(self, scores: Floats, *, first: int = 0) -> float:
        """Over the classes that some token truly has."""
        there = scores[first:][self.confusion.sum(1)[first:] > 0]
        return float(there.mean()) if there.size else 0.0

    def in_short(self) -> dict[str, float]:
        """Precision and recall (means over the classes without none), macro F0.5, and the summary."""
        table = self.confusion
        without_none = {"precision": self._mean(precision(table), first=1), "recall": self._mean(recall(table), first=1)}
        return without_none | {"macro_f0.5": self._mean(fbeta(table, 0.5))} | self.summary()

    def report(self) -> dict[str, Any]:
        """The summary and each class: precision, recall, F1, F2, true and predicted amounts."""
        table = self.confusion
        columns = {"precision": precision(table), "recall": recall(table), "f1": fbeta(table, 1), "f2": fbeta(table, 2)}
        amounts = {"true": table.sum(1), "predicted": table.sum(0)}
        rows = {
            name: {key: float(values[place]) for key, values in columns.items()}
            | {key: int(values[place]) for key, values in amounts.items()}
            for place, name in enumerate(self.classes)
        }
        return self.summary() | {"tokens": int(table.sum()), "classes": rows, "confusion": table.tolist()}
