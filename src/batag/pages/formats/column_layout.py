"""The layout of a column file, detected from its beginning: columns, separator, label prefixes; and whether it is one at
all."""

import re
from collections import Counter
from dataclasses import dataclass

from batag.pages.languages import CJK

NONE = frozenset({"O", "none", "None", "NONE", "_"})
BEGINS = frozenset("BSU")
COMMENT = re.compile(r"# (id|language|shop|labelled|field|text|tags|extra) = (.*)")
PREFIXED = re.compile(r"[BIESLUM]-.")


@dataclass(frozen=True)
class Layout:
    """The detected layout; `prefixed` is None if the beginning has no tag."""

    mark: str
    columns: int
    prefixed: bool | None
    begins: bool
    spaces: bool | None

    def cut(self, line: str) -> list[str]:
        """Split a line into its cells."""
        return line.rsplit(self.mark, self.columns - 1)


def looks_like_columns(head: str) -> bool:
    """Whether nine out of ten lines have the same number of columns: a token and a possible label."""
    if "-DOCSTART-" in head or any(COMMENT.fullmatch(line) for line in head.split("\n", 20)[:20]):
        return True
    lines = _token_lines(head)
    layout = layout_of(head)
    fitting = [cells for line in lines if len(cells := layout.cut(line)) == layout.columns and all(cells)]
    labels = Counter(cells[-1] for cells in fitting)
    same = sum(1 for line in lines if line.count(layout.mark) == layout.columns - 1)
    alike = len(fitting) >= 0.9 * len(lines) and same >= 0.9 * len(lines) and 0 < len(labels) <= max(4, len(lines) // 4)
    return alike and _may_be_labels(labels, parted="\n\n" in head.replace("\r", "").strip())


def _may_be_labels(found: Counter[str], *, parted: bool) -> bool:
    """Whether the last columns are labels rather than the last words of titles: a tenth of them is none, nearly all have a
    prefix, or there are few distinct ones in a file with blank lines (`parted`)."""
    tokens = found.total()
    none = sum(count for label, count in found.items() if label in NONE)
    prefixed = sum(count for label, count in found.items() if PREFIXED.match(label))
    few = parted and len(found) <= tokens // 20
    return none >= 0.1 * tokens or none + prefixed >= 0.9 * tokens or few


def _token_lines(head: str) -> list[str]:
    lines = head.replace("\r", "").split("\n")
    whole = lines[:-1] if len(lines) > 1 and len(head) > 1_000 else lines
    return [line for line in whole if line.strip(" \t") and not line.startswith("-DOCSTART-") and not COMMENT.fullmatch(line)]


def layout_of(head: str) -> Layout:
    """The layout of a file with this beginning."""
    lines = _token_lines(head)
    mark = "\t" if 2 * sum(1 for line in lines if "\t" in line) >= len(lines) else " "
    width = Counter(line.count(mark) + 1 for line in lines).most_common(1)[0][0] if lines else 2
    width = min(max(width, 2), 4)
    rows = [cells for line in lines if len(cells := line.rsplit(mark, width - 1)) == width and cells[-1].strip()]
    labels = [cells[-1] for cells in rows if cells[-1] not in NONE]
    tokens = [cells[0] for cells in rows]
    characters = bool(tokens) and sum(1 for token in tokens if len(token) == 1) > 0.97 * len(tokens)
    chinese = sum(1 for token in tokens if CJK.search(token)) > 0.3 * len(tokens)
    return Layout(
        mark=mark,
        columns=width,
        prefixed=sum(1 for label in labels if PREFIXED.match(label)) > 0.9 * len(labels) if labels else None,
        begins=any(label[0] in BEGINS for label in labels) and not _starts_inside(rows),
        spaces=False if characters or chinese else None,
    )


def _starts_inside(rows: list[list[str]]) -> bool:
    """Whether tags start with I- (IOB1, where B- only separates adjacent tags)."""
    before, inside, begin = "O", 0, 0
    for cells in rows:
        if before in NONE and cells[-1] not in NONE:
            inside += cells[-1][0] == "I"
            begin += cells[-1][0] in BEGINS
        before = cells[-1]
    return inside > begin
