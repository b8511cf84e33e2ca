"""Edits of a text with an exact offset map: every offset of the cleaned text maps back to the original."""

from collections.abc import Sequence
from dataclasses import dataclass, field

Edit = tuple[int, int, str]
"""Start, end and replacement; edits are sorted and do not overlap."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Apply all edits to a text."""
    pieces: list[str] = []
    done = 0
    for start, end, replacement in edits:
        pieces += text[done:start], replacement
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


@dataclass(slots=True)
class Cleaned:
    """A cleaned text, its original, and the lists of edits between them."""

    original: str
    text: str
    steps: list[Sequence[Edit]] = field(default_factory=list)
    _origins: tuple[Sequence[int], Sequence[int]] | None = None

    def apply(self, edits: Sequence[Edit]) -> None:
        """Apply one more list of edits."""
        if edits:
            self.text = apply_edits(self.text, edits)
            self.steps.append(edits)

    @property
    def origins(self) -> tuple[Sequence[int], Sequence[int]]:
        """For each character of the cleaned text, the start and end of its origin in the original."""
        if self._origins is None:
            starts: Sequence[int] = range(len(self.original))
            ends: Sequence[int] = range(1, len(self.original) + 1)
            for edits in self.steps:
                starts, ends = _through(edits, starts, ends)
            self._origins = starts, ends
        return self._origins

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the original of a non-empty range `[start, end)` of the cleaned text."""
        if not self.steps:
            return start, end
        starts, ends = self.origins
        return starts[start], ends[end - 1]


def _through(edits: Sequence[Edit], starts: Sequence[int], ends: Sequence[int]) -> tuple[list[int], list[int]]:
    """Map the origin of each character through one list of edits; all characters of a replacement come from the whole replaced
    range."""
    new_starts: list[int] = []
    new_ends: list[int] = []
    done = 0
    for start, end, replacement in edits:
        new_starts += starts[done:start]
        new_ends += ends[done:start]
        new_starts += [starts[start]] * len(replacement)
        new_ends += [ends[end - 1]] * len(replacement)
        done = end
    new_starts += starts[done:]
    new_ends += ends[done:]
    return new_starts, new_ends
