"""A page while it is written: pieces of text, some of which are tags."""

from collections.abc import Callable
from dataclasses import dataclass, field

from batag.pages.page import Tag

STOPS = "。！？!?～♪♡"


@dataclass(slots=True)
class Draft:
    """The content and style of a page, and the pieces of the current field; `marks` are (piece, label) in order."""

    random: Callable[[], float]
    brand: tuple[str, ...] = ()
    goods: str = ""
    head: str = ""
    series: str = ""
    space: str = " "
    gap: str = ""
    bullet: str = ""
    other: Callable[[], str] = str
    name: Callable[[], str] = str
    pieces: list[str] = field(default_factory=list)
    marks: list[tuple[int, str]] = field(default_factory=list)
    picked: dict[str, int] = field(default_factory=dict)

    def pick(self, rule: str, count: int) -> int:
        """Choose one of a rule's alternatives, never the same twice in a row on a page."""
        if (last := self.picked.get(rule)) is None:
            choice = int(self.random() * count)
        else:
            choice = (last + 1 + int(self.random() * min(2, count - 1))) % count
        self.picked[rule] = choice
        return choice

    def end_sentence(self) -> None:
        """Write the gap between sentences, unless nothing was written since the last one."""
        pieces = self.pieces
        if pieces and pieces[-1] is self.bullet:
            pieces.pop()
        if pieces and pieces[-1] is not self.gap and not pieces[-1].isspace():
            # Where sentences simply follow each other, one that lacks its full stop still needs a space.
            pieces.append(self.gap or ("" if pieces[-1][-1:] in STOPS else " "))

    def tag(self, text: str, label: str) -> None:
        """Write a piece that is a tag."""
        self.marks.append((len(self.pieces), label))
        self.pieces.append(text)

    def close(self, field: str) -> tuple[str, list[Tag]]:
        """Return the field's text and tags, and clear the draft."""
        pieces, start, before = self.pieces, 0, 0
        while pieces and (pieces[-1] is self.gap or pieces[-1] is self.bullet or not pieces[-1].strip()):
            pieces.pop()
        tags: list[Tag] = []
        for place, label in self.marks:
            start += sum(map(len, pieces[before:place]))
            before, text = place, pieces[place]
            tags.append(Tag(field, start, start + len(text), label, text))
        text = "".join(pieces)
        self.pieces, self.marks, self.picked = [], [], {}
        return text, tags
