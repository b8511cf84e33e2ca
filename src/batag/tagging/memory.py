"""A baseline that memorises words: each word gets its most frequent label in train, an unknown word gets none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from batag.features.batches import Floats


class WordMemory:
    """An engine without training; its probabilities are 0 and 1."""

    name = "memory"

    def __init__(self, examples: Iterable[tuple[Sequence[str], Sequence[int]]], *, labels: int) -> None:
        self.labels = labels
        seen: dict[str, Counter[int]] = defaultdict(Counter)
        for words, numbers in examples:
            for word, number in zip(words, numbers, strict=True):
                if number >= 0:
                    seen[word.lower()][number] += 1
        self._label = {word: counts.most_common(1)[0][0] for word, counts in seen.items()}

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        sure = np.eye(self.labels, dtype=np.float32)
        return [sure[[self._label.get(word.lower(), 0) for word in words]] for words in sequences]
