"""From a tag to a category of a taxonomy: by name, by synonym, or by the longest end of the tag that is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

from batag.terms.lexicon import GOODS, Entry, Lexicon
from batag.terms.parts import ends_of, without_particles
from batag.terms.taxonomy import Taxonomy

NAME, SYNONYM, PART, BROADER, SUFFIX = "name", "synonym", "part", "broader", "suffix"
_SURE = {NAME: 1.0, SYNONYM: 0.9, PART: 0.7, BROADER: 0.5}
_BEHIND = re.compile(r" (?:for|with|of|in|without) ")
_FIRST, _OTHER, _PART = 1.0, 0.6, 0.7
_ENGLISH = 2.0
"""Taxonomies are written in English; their other languages are translations, not always right."""
_DEPTH_WEIGHT = 0.1
_VAGUE = 0.6
_USUAL = 0.02
_FAR = 1
_REMEMBERED = 100_000
_NEARLY = 0.45
_LEAST_SHARE = 0.002
_PLACE_WEIGHT = 0.15
_LEAST_LANGUAGES = 2
_LIKELY = 0.15
Weights = dict[str, float]


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
        self._names_of: dict[str, Weights] = {}
        self._of_end: dict[tuple[str, str, str], Match | None] = {}

    def find(self, key: str, *, entry: Entry | None = None, exact: bool = False) -> Match | None:
        """The category of a key, or of the kind of goods that it names, or None. Only by whole names if `exact`."""
        if not key:
            return None
        if entry is not None and entry.kind == GOODS:
            match = self.of_entry(entry)
            by_name = match is not None and match.by == SYNONYM and match.name == key
            return Match(match.id, _SURE[NAME], NAME, key) if match is not None and by_name else match
        own = self._named({key: _FIRST}, group="")
        return own if own is not None or exact else self._by_end(key, group="")

    def of_entry(self, entry: Entry) -> Match | None:
        """The category of a kind of goods, by its names in the languages of the taxonomy."""
        if entry.id not in self._of_entry:
            names = self._names(entry)
            match = self._named(names, group=entry.groups[0])
            several = len(self.taxonomy.languages) > 1
            match = self._checked(entry, match)
            if match is None:
                ends = self._ends(entry)
                match = self._most(ends) or (self._roughly(ends, group=entry.groups[0]) if several else None)
            elif match.by == NAME:
                match = Match(match.id, _SURE[SYNONYM], SYNONYM, match.name)
            self._of_entry[entry.id] = match
        return self._of_entry[entry.id]

    def _checked(self, entry: Entry, match: Match | None) -> Match | None:
        """A match, or the category of the wider kind of goods if the match does not lie below it."""
        wider = self._wider(entry)
        return wider if wider is not None and (match is None or wider.id not in self.taxonomy.ancestors(match.id)) else match

    def _wider(self, entry: Entry) -> Match | None:
        """The category of the wider kind of goods, or of one wider still."""
        wider = self.lexicon.wider(entry)
        match = None if wider is None else self.of_entry(wider)
        return None if match is None else Match(match.id, _SURE[BROADER], BROADER, match.name)

    def _ends(self, entry: Entry) -> list[tuple[str, Match]]:
        """What the ends of the names of a kind of goods lead to, with the language of each."""
        names = [(language, key) for language, key in self.lexicon.keys(entry) if language in self.taxonomy.languages]
        found = ((language, self._by_end(key, group=entry.groups[0], without=entry.id)) for language, key in names)
        return [(language, match) for language, match in found if match is not None]

    def _most(self, found: Sequence[tuple[str, Match]]) -> Match | None:
        """The lowest category above most of what the ends of several names lead to, by confidence. If there are several
        languages, two of them must lead there: an end alone is often another thing (sea cucumber)."""
        ends = [match for _, match in found]
        support: dict[str, float] = {}
        languages: dict[str, set[str]] = {}
        for language, each in found:
            for id in self.taxonomy.ancestors(each.id):
                support[id] = support.get(id, 0.0) + each.confidence
                languages.setdefault(id, set()).add(language)
        half = sum(each.confidence for each in ends) / 2
        least = min(_LEAST_LANGUAGES, len(self.taxonomy.languages))
        most = [
            id for id, number in support.items() if number > half and self.taxonomy.depths[id] and len(languages[id]) >= least
        ]
        if not most:
            return None
        id = max(most, key=lambda each: (self.taxonomy.depths[each], support[each]))
        own = [each for each in ends if id in self.taxonomy.ancestors(each.id)]
        best = max(own, key=lambda each: (each.id == id, each.confidence))
        return Match(id, best.confidence, SUFFIX, best.name)

    def _roughly(self, found: Sequence[tuple[str, Match]], *, group: str) -> Match | None:
        """The category below the top where the best of the ends leads and where many kinds of the group are."""
        _, shares = self._usual.get(group, (None, {}))
        places = [(self._branches[each.id][1], each) for _, each in found]
        likely = [(shares.get(id, 0.0), each.confidence, id, each) for id, each in places if shares.get(id, 0.0) >= _LIKELY]
        if not likely:
            return None
        _, confidence, id, best = max(likely, key=lambda each: each[:3])
        return Match(id, round(confidence / 2, 3), SUFFIX, best.name)

    def _names(self, entry: Entry) -> Weights:
        """The keys of the names of a kind of goods, and what each counts: the usual name of a language more than others."""
        if entry.id in self._names_of:
            return self._names_of[entry.id]
        found: Weights = {}
        seen: set[str] = set()
        for language, key in self.lexicon.keys(entry):
            if language in self.taxonomy.languages:
                usual = _ENGLISH if language == "en" and len(self.taxonomy.languages) > 1 else _FIRST
                found[key] = found.get(key, 0.0) + (_OTHER if language in seen else usual)
                seen.add(language)
        self._names_of[entry.id] = found
        return found

    @cached_property
    def _branches(self) -> dict[str, tuple[str, str]]:
        """The category at the top above each one, and the one below that."""
        found: dict[str, tuple[str, str]] = {}
        for id, parent in self.taxonomy.parents.items():
            if not parent:
                found[id] = id, ""
            else:
                top, below = found[parent]
                found[id] = top, below or id
        return found

    @cached_property
    def _usual(self) -> dict[str, tuple[frozenset[str], dict[str, float]]]:
        """Where each group of the lexicon usually is, counted by names that lie in one branch: the top categories, and the
        share of each category below them."""
        tops: dict[str, Counter[str]] = {}
        below: dict[str, Counter[str]] = {}
        for number, row in enumerate(self.lexicon.rows):
            if row.kind != GOODS:
                continue
            entry = self.lexicon.entry(number)
            branches = {self._branches[id] for key in self._names(entry) for id in self.taxonomy.named(key)}
            if len({top for top, _ in branches}) == 1:
                tops.setdefault(entry.groups[0], Counter())[next(iter(branches))[0]] += 1
                if len(branches) == 1:
                    below.setdefault(entry.groups[0], Counter())[branches.pop()[1]] += 1
        return {
            group: (
                frozenset(top for top, number in own.items() if number >= _USUAL * own.total()),
                {id: number / below[group].total() for id, number in below.get(group, Counter()).items()},
            )
            for group, own in tops.items()
        }

    def _named(self, names: Weights, *, group: str, end: str | None = None, anywhere: bool = False) -> Match | None:
        """The category that most of the names have, in the branches where the group usually is. If they stand for the `end`
        of a longer name, it must not be a vague one."""
        tops, shares = self._usual.get(group, (None, {}))
        votes: dict[str, float] = {}
        first: dict[str, tuple[str, str]] = {}
        whole = {key: self.taxonomy.named(key) for key in names}
        alone = end is None and tops is not None
        alone = alone and not any(self._branches[id][0] in (tops or ()) for ids in whole.values() for id in ids)
        for key, weight in names.items():
            partly = self.taxonomy.partly_named(key)
            if (loose := without_particles(key)) != key:
                partly = list(dict.fromkeys([*partly, *self.taxonomy.partly_named(loose)]))
            for ids, by, share in ((whole[key], NAME, 1.0), (partly, PART, _PART)):
                if not ids:
                    continue
                own = [id for id in ids if tops is None or self._branches[id][0] in tops]
                if not own and by == NAME and len(ids) == 1 and (anywhere or (alone and key.isascii())):
                    own = ids  # a name that nothing else has
                for id in own:
                    if end is not None and (self.taxonomy.is_vague(end, id) or self.taxonomy.is_vague(key, id)):
                        continue
                    # A name that several categories have says less of each.
                    vague = _VAGUE if by == PART and self.taxonomy.is_vague(key, id) else 1.0
                    votes[id] = votes.get(id, 0.0) + weight * share * vague / sqrt(len(own))
                    if id not in first or (by == NAME != first[id][0]):
                        first[id] = by, key
        if tops is not None:
            votes = {
                id: vote
                + _PLACE_WEIGHT * log(max(shares.get(self._branches[id][1], 0.0), _LEAST_SHARE))
                - _DEPTH_WEIGHT * self.taxonomy.depths[id]
                for id, vote in votes.items()
            }
        elif len({self._branches[id][0] for id in votes}) > 1 and not any(first[id][0] == NAME for id in votes):
            return None
        if not votes:
            again = end is None and not anywhere and tops is not None
            return self._named(names, group=group, anywhere=True) if again else None
        best = max(votes.values())
        tied = [id for id in votes if votes[id] > best - 1e-9]
        id = min(tied, key=lambda each: (self.taxonomy.depths[each], each))
        by, key = first[id]
        # Names of several categories side by side: what they name is the category above.
        beside = [
            each for each in votes if votes[each] > best - _NEARLY and self.taxonomy.parents[each] == self.taxonomy.parents[id]
        ]
        if len(beside) > 1 and self.taxonomy.depths[id] > 1:
            return Match(self.taxonomy.parents[id], _SURE[PART], by, key)
        return Match(self._above(id, tied), _SURE[by], by, key)

    def _above(self, id: str, tied: Sequence[str]) -> str:
        """The category that lies above all of several at one depth that have the same name, unless it is one at the top."""
        depth = self.taxonomy.depths[id]
        others = [each for each in tied if each != id and self.taxonomy.depths[each] == depth]
        common = set(self.taxonomy.ancestors(id)).intersection(*(set(self.taxonomy.ancestors(each)) for each in others))
        lowest = max(common, key=lambda each: self.taxonomy.depths[each], default=id)
        return lowest if others and self.taxonomy.depths[lowest] and depth - self.taxonomy.depths[lowest] <= _FAR else id

    def _by_end(self, key: str, *, group: str, without: str = "") -> Match | None:
        """The category of the longest end of a key that is a name of a kind of goods or of a category."""
        head = _BEHIND.split(key, maxsplit=1)[0]
        for end in ends_of(head, whole=head != key):
            if end not in self.taxonomy.whole and end not in self.taxonomy.parts and not self.lexicon.has(end):
                continue
            if (found := self._ended(end, group, without)) is not None:
                share = len(end) / len(key)
                return Match(found.id, round(found.confidence * (0.4 + 0.4 * share), 3), SUFFIX, end)
        return None

    def _ended(self, end: str, group: str, without: str) -> Match | None:
        """The category of an end that is a name; a few ends are those of very many tags."""
        asked = end, group, without
        if asked not in self._of_end:
            kinds = [each.entry for each in self.lexicon.find(end) if each.entry.kind == GOODS and each.entry.id != without]
            kinds.sort(key=lambda each: each.groups[0] != group)
            exactly = (self._named(self._names(each), group=group or each.groups[0], end=end) for each in kinds)
            found = next((match for match in exactly if match is not None), None)
            if len(self._of_end) >= _REMEMBERED:
                self._of_end.clear()
            found = found or self._named({end: _FIRST}, group=group, end=end)
            if found is None and not without and not end.isascii() and kinds:
                found = self.of_entry(kinds[0])  # a kind of goods that has its own category by its ends
            self._of_end[asked] = found
        return self._of_end[asked]
