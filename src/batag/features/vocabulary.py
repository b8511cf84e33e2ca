"""The vocabulary: words of the training pages by number; 0 is padding, 1 the unknown word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

PADDING, UNKNOWN, FIRST = 0, 1, 2


class Vocabulary:
    """A list of words in order of their number."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self._numbers = {word: number for number, word in enumerate(self.words, FIRST)}

    @classmethod
    def of(cls, words: Iterable[str], *, min_count: int = 1) -> Vocabulary:
        """The words that occur at least `min_count` times, most frequent first."""
        counts = Counter(words)
        kept = [word for word, count in counts.items() if count >= min_count]
        return cls(sorted(kept, key=lambda word: (-counts[word], word)))

    def __len__(self) -> int:
        """The number of rows of an embedding table, with padding and the unknown word."""
        return len(self.words) + FIRST

    def number(self, word: str) -> int:
        return self._numbers.get(word, UNKNOWN)
