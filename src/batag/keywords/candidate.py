"""The phrases of a page that may be keywords: runs of words without a break, and the runs inside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from batag.keywords.document import Document
from batag.keywords.kind import Kind

LONGEST = {"en": 4}
"""The most words of a phrase by language; words of Chinese and Japanese are shorter."""
LONGEST_OTHERWISE = 6
_LOOSE = 2
_FIRST = frozenset({Kind.FRONT, Kind.PART, Kind.NOUN})
_LAST = frozenset({Kind.REAR, Kind.PART, Kind.NOUN})


@dataclass(slots=True)
class Candidate:
    """A phrase: the keys of its words and its occurrences (first and last word). `whole` counts those that are a whole run,
    `loose` those of one or two words in a block that is one run, too long for a phrase: a title without stop words."""

    words: tuple[str, ...]
    occurrences: list[tuple[int, int]] = field(default_factory=list)
    whole: int = 0
    loose: int = 0

    @property
    def key(self) -> str:
        return " ".join(self.words)

    @property
    def stands_alone(self) -> bool:
        """Whether it is more than a piece of a longer phrase."""
        return self.whole > 0 or self.loose > 0


Candidates = dict[tuple[str, ...], Candidate]


def candidates(document: Document) -> Candidates:
    """All phrases of a document in the order of their first occurrence."""
    longest = LONGEST.get(document.language, LONGEST_OTHERWISE)
    keys, kinds = document.keys, document.kinds
    found: Candidates = {}
    for run in noun_runs(document):
        loose = len(run) > longest and _fills_block(document, run)
        for first in run:
            if kinds[first] not in _FIRST:
                continue
            for last in range(first, min(first + longest, run.stop)):
                if kinds[last] not in _LAST or (first == last and kinds[first] is not Kind.NOUN):
                    continue
                words = tuple(keys[first : last + 1])
                candidate = found.get(words)
                if candidate is None:
                    candidate = found[words] = Candidate(words)
                candidate.occurrences.append((first, last))
                candidate.whole += first == run.start and last == run.stop - 1
                candidate.loose += loose and last - first < _LOOSE
    return found


def noun_runs(document: Document) -> Iterator[range]:
    """The longest runs of words of a block that may be a phrase: no break inside, a word that may be first at the start, one
    that may be last at the end."""
    kinds = document.kinds
    for block in document.runs():
        start = block.start
        for place in range(block.start, block.stop + 1):
            if place == block.stop or kinds[place] is Kind.BREAK:
                first, last = start, place - 1
                while first <= last and kinds[first] not in _FIRST:
                    first += 1
                while last >= first and kinds[last] not in _LAST:
                    last -= 1
                if first <= last:
                    yield range(first, last + 1)
                start = place + 1


def _fills_block(document: Document, run: range) -> bool:
    blocks = document.blocks
    begins = run.start == 0 or blocks[run.start - 1] != blocks[run.start]
    return begins and (run.stop == len(blocks) or blocks[run.stop] != blocks[run.start])


def words_of_longer(found: Candidates) -> frozenset[str]:
    """The words that stand in a whole run of two words or more."""
    return frozenset(word for each in found.values() if each.whole and len(each.words) > 1 for word in each.words)
