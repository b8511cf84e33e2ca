"""From a tag to a category of a taxonomy: by name, by synonym, or by the longest end of the tag that is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from batag.terms.lexicon import GOODS, Entry, Lexicon
from batag.terms.taxonomy import Taxonomy

NAME, SYNONYM, PART, SUFFIX = "name", "synonym", "part", "suffix"
_SURE = {NAME: 1.0, SYNONYM: 0.9, PART: 0.7}
_BEHIND = re.compile(r" (?:for|with|of|in|without) ")
_FIRST, _OTHER, _PART = 1.0, 0.6, 0.5
_USUAL = 0.02


@dataclass(frozen=True, slots=True)
class Match:
    """A category with a confidence (0 to 1), how it was found, and the key of the name that led to it."""

    id: str
    confidence: float
    by: str
    name: str


class Mapping:
    """Finds categories; the names of the lexicon in all languages are synonyms."""

    def __init__(self, taxonomy: Taxonomy, lexicon: Lexicon) -> None:
        self.taxonomy, self.lexicon = taxonomy, lexicon
        self._of_entry: dict[str, Match | None] = {}

    def find(self, key: str, *, entry: Entry | None = None, exact: bool = False) -> Match | None:
        """The category of a key, or of the kind of goods that it names; None if there is none. Only by whole names if `exact`."""
        if not key:
            return None
        if entry is not None and entry.kind == GOODS and (match := self.of_entry(entry)) is not None:
            return match if match.name != key or match.by != SYNONYM else Match(match.id, _SURE[NAME], NAME, key)
        own = self._named([key], group="")
        return own if own is not None or exact else self._by_end(key, group="")

    def of_entry(self, entry: Entry) -> Match | None:
        """The category of a kind of goods, by its names in the languages of the taxonomy."""
        if entry.id not in self._of_entry:
            names = self._names(entry)
            match = self._named(names, group=entry.groups[0])
            if match is None:
                ends = [end for key in names if (end := self._by_end(key, group=entry.groups[0], without=entry.id))]
                match = max(ends, key=lambda each: each.confidence, default=None)
            elif match.by == NAME:
                match = Match(match.id, _SURE[SYNONYM], SYNONYM, match.name)
            self._of_entry[entry.id] = match
        return self._of_entry[entry.id]

    def _names(self, entry: Entry) -> list[str]:
        return [key for language, key in self.lexicon.keys(entry) if language in self.taxonomy.languages]

    @cached_property
    def _tops(self) -> dict[str, str]:
        """The category at the top above each one."""
        found: dict[str, str] = {}
        for id, parent in self.taxonomy.parents.items():
            found[id] = found[parent] if parent else id
        return found

    @cached_property
    def _usual(self) -> dict[str, frozenset[str]]:
        """The top categories in which each group of the lexicon usually is, counted by names that only one of them has."""
        counts: dict[str, Counter[str]] = {}
        for entry in self.lexicon.entries:
            if entry.kind == GOODS:
                tops = {self._tops[id] for key in self._names(entry) for id in self.taxonomy.named(key)}
                if len(tops) == 1:
                    counts.setdefault(entry.groups[0], Counter())[tops.pop()] += 1
        return {
            group: frozenset(top for top, number in own.items() if number >= _USUAL * own.total())
            for group, own in counts.items()
        }

    def _named(self, names: Sequence[str], *, group: str) -> Match | None:
        """The category that most of the names have, of those where the group usually is; else the one nearest to the top."""
        votes: dict[str, float] = {}
        first: dict[str, tuple[str, str]] = {}
        for place, key in enumerate(names):
            weight = _OTHER if place else _FIRST
            for ids, by, share in ((self.taxonomy.named(key), NAME, 1.0), (self.taxonomy.partly_named(key), PART, _PART)):
                for id in ids:
                    votes[id] = votes.get(id, 0.0) + weight * share
                    if id not in first or (by == NAME != first[id][0]):
                        first[id] = by, key
        usual = self._usual.get(group)
        if usual is not None:
            votes = {id: vote for id, vote in votes.items() if self._tops[id] in usual}
        elif len({self._tops[id] for id in votes}) > 1 and not any(first[id][0] == NAME for id in votes):
            return None
        if not votes:
            return None
        id = min(votes, key=lambda each: (-votes[each], self.taxonomy.depths[each], each))
        by, key = first[id]
        return Match(id, _SURE[by], by, key)

    def _by_end(self, key: str, *, group: str, without: str = "") -> Match | None:
        """The category of the longest end of a key that is a name of a kind of goods or of a category."""
        head = _BEHIND.split(key, maxsplit=1)[0]
        for end in _ends(head, whole=head != key):
            kinds = [each.entry for each in self.lexicon.find(end) if each.entry.kind == GOODS and each.entry.id != without]
            kinds.sort(key=lambda each: each.groups[0] != group)
            found = next(
                (match for each in kinds if (match := self._named(self._names(each), group=group or each.groups[0]))), None
            )
            if found is None and (len(end) > 2 if not end.isascii() else " " in end):
                found = self._named([end], group=group)
            if found is not None:
                share = len(end) / len(key)
                return Match(found.id, round(found.confidence * (0.4 + 0.4 * share), 3), SUFFIX, end)
        return None


def _ends(key: str, *, whole: bool) -> Iterator[str]:
    """The ends of a key, longest first: of words, or of at least two characters where there are no spaces."""
    if whole:
        yield key
    if key.isascii():
        words = key.split(" ")
        for start in range(1, len(words)):
            yield " ".join(words[start:])
        return
    for start in range(1, len(key) - 1):
        if not (key[start - 1].isascii() and key[start].isascii() and key[start].isalnum()):
            yield key[start:].lstrip(" ")
