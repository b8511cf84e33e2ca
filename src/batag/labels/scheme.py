"""Label schemes: flat (a token's label is its class, as in the paper) or BIO (adjacent tags of one class stay separate)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batag.errors import UsageError, unknown_name

NONE = "none"
IGNORED = -1
"""The label number of tokens whose label is unknown; they are ignored in training and scores."""
SCHEMES = ("flat", "bio")
TokenSpan = tuple[int, int, str]
"""First token, last token and class of a tag."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Scheme:
    """Token labels by number: 0 is none, then the classes in order (flat), or B- and I- of each class (bio)."""

    name: str
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.name not in SCHEMES:
            raise unknown_name(self.name, SCHEMES, "a label scheme")
        if {NONE, ""} & set(self.classes) or len(set(self.classes)) < len(self.classes):
            raise UsageError(f"the classes {self.classes} repeat, are empty or hold {NONE!r}", todo="Name each class once")

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each label."""
        if self.name == "flat":
            return (NONE, *self.classes)
        return (NONE, *(f"{part}-{name}" for name in self.classes for part in "BI"))

    @property
    def continuation(self) -> tuple[int, ...]:
        """The label that continues each label but none: its I- (bio), or itself (flat)."""
        if self.name == "flat":
            return tuple(range(1, 1 + len(self.classes)))
        return tuple(2 * number for number in range(1, 1 + len(self.classes)) for _ in "BI")

    @property
    def allowed_before(self) -> list[list[int]]:
        """For each label those that may stand before it; empty if all may."""
        if self.name == "flat":
            return [[] for _ in self.labels]
        return [[] if not label or label % 2 else [label - 1, label] for label in range(len(self.labels))]

    def encode(self, spans: Iterable[TokenSpan], *, length: int) -> list[int]:
        """The label numbers of `length` tokens with these spans."""
        labels = [0] * length
        for first, last, name in spans:
            number = self.classes.index(name)
            if self.name == "flat":
                labels[first : last + 1] = [number + 1] * (last + 1 - first)
            else:
                labels[first : last + 1] = [2 * number + 1] + [2 * number + 2] * (last - first)
        return labels

    def decode_many(self, labels: Numbers, begins: Sequence[int]) -> tuple[Numbers, Numbers, Numbers]:
        """First token, last token and class number (from 1) of all tags in concatenated label sequences; `begins` are the
        starts of the sequences. The result is that of `decode` on each."""
        classes = labels if self.name == "flat" else (labels + 1) // 2
        starts = np.ones(len(labels), dtype=bool)
        starts[1:] = classes[1:] != classes[:-1]
        if self.name == "bio":
            starts |= labels % 2 == 1
        starts[begins] = True
        first = np.flatnonzero(starts)
        last = np.append(first[1:], len(labels)) - 1
        tagged = classes[first] > 0
        return first[tagged], last[tagged], classes[first][tagged]

    def decode(self, labels: Sequence[int]) -> list[TokenSpan]:
        """The tags of a label sequence: adjacent tokens of one class are one tag (flat), a B- starts a new tag (bio)."""
        spans: list[TokenSpan] = []
        flat = self.name == "flat"
        before = ""
        for place, label in enumerate(labels):
            name = "" if not label else self.classes[label - 1 if flat else (label - 1) // 2]
            begins = not flat and label % 2 == 1
            if name and name == before and not begins:
                spans[-1] = (spans[-1][0], place, name)
            elif name:
                spans.append((place, place, name))
            before = name
        return spans


def build_scheme(name: str, counts: Mapping[str, int]) -> Scheme:
    """The scheme of a data set, with classes in order of their number of tokens, most frequent first."""
    return Scheme(name, tuple(sorted(counts.keys() - {NONE}, key=lambda each: (-counts[each], each))))
