"""Names vote for the categories that they name, in the branches of the taxonomy where goods of their group usually are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

from batag.terms.lexicon import GOODS, Entry, Lexicon
from batag.terms.parts import without_particles
from batag.terms.taxonomy import Taxonomy
from batag.terms.voting.agreement import Agreement, Words, words_of

NAME, ANCHOR, SYNONYM, PART, BROADER, SUFFIX = "name", "anchor", "synonym", "part", "broader", "suffix"
SURE = {NAME: 1.0, ANCHOR: 0.9, SYNONYM: 0.9, PART: 0.7, BROADER: 0.5}
FIRST = 1.0
_OTHER, _PART = 0.6, 0.7
_ENGLISH = 2.0
"""Taxonomies are written in English; their other languages are translations, not always right."""
_AGAIN = 0.5
"""The two Chinese translations of a taxonomy are often one in two scripts."""
_DEPTH_WEIGHT = 0.1
_VAGUE = 0.6
_USUAL = 0.02
_FAR = 1
_NEARLY = 0.45
_LEAST_SHARE = 0.002
_PLACE_WEIGHT = 0.15
Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class Match:
    """A category with a confidence (0 to 1), how it was found, and the key of the name that led to it."""

    id: str
    confidence: float
    by: str
    name: str


class Voting:
    """Finds the category that most names of a kind of goods have."""

    def __init__(self, taxonomy: Taxonomy, lexicon: Lexicon) -> None:
        self.taxonomy, self.lexicon = taxonomy, lexicon
        self.agreement = Agreement(taxonomy)
        self._names_of: dict[str, Weights] = {}
        self._words_of: dict[str, Words] = {}

    def names(self, entry: Entry) -> Weights:
        """The keys of the names of a kind of goods, and what each counts: the usual name of a language more than others."""
        if entry.id in self._names_of:
            return self._names_of[entry.id]
        found: Weights = {}
        seen: set[str] = set()
        for language, key in self.lexicon.keys(entry):
            if language in self.taxonomy.languages:
                usual = _ENGLISH if language == "en" and len(self.taxonomy.languages) > 1 else FIRST
                again = _AGAIN if key in found and language[:2] == "zh" else 1.0
                found[key] = found.get(key, 0.0) + (_OTHER if language in seen else usual) * again
                seen.add(language)
        self._names_of[entry.id] = found
        return found

    def words(self, entry: Entry) -> Words:
        """The words of the English names of a kind of goods."""
        if entry.id not in self._words_of:
            self._words_of[entry.id] = frozenset(words_of(" ; ".join(entry.names.get("en", ()))))
        return self._words_of[entry.id]

    @cached_property
    def branches(self) -> dict[str, tuple[str, str]]:
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
    def usual(self) -> dict[str, tuple[frozenset[str], dict[str, float]]]:
        """Where each group of the lexicon usually is, counted by names that lie in one branch: the top categories, and the
        share of each category below them."""
        tops: dict[str, Counter[str]] = {}
        below: dict[str, Counter[str]] = {}
        for number, row in enumerate(self.lexicon.rows):
            if row.kind != GOODS:
                continue
            entry = self.lexicon.entry(number)
            branches = {self.branches[id] for key in self.names(entry) for id in self.taxonomy.named(key)}
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

    def named(
        self, names: Weights, *, group: str, words: Words = frozenset(), end: str | None = None, anywhere: bool = False
    ) -> Match | None:
        """The category that most of the names have, in the branches where the group usually is. English `words` bear it out.
        If the names stand for the `end` of a longer name, it must not be a vague one."""
        tops, shares = self.usual.get(group, (None, {}))
        votes: dict[str, float] = {}
        first: dict[str, tuple[str, str]] = {}
        whole = {key: self.taxonomy.named(key) for key in names}
        alone = end is None and tops is not None
        alone = alone and not any(self.branches[id][0] in (tops or ()) for ids in whole.values() for id in ids)
        for key, weight in names.items():
            partly = self.taxonomy.partly_named(key)
            if (loose := without_particles(key)) != key:
                partly = list(dict.fromkeys([*partly, *self.taxonomy.partly_named(loose)]))
            for ids, by, share in ((whole[key], NAME, 1.0), (partly, PART, _PART)):
                if not ids:
                    continue
                own = [id for id in ids if tops is None or self.branches[id][0] in tops]
                if not own and by == NAME and len(ids) == 1 and (anywhere or (alone and key.isascii())):
                    own = ids  # a name that nothing else has
                for id in own:
                    if end is not None and (self.taxonomy.is_vague(end, id) or self.taxonomy.is_vague(key, id)):
                        continue
                    # A name that several categories have says less of each.
                    vague = _VAGUE if by == PART and self.taxonomy.is_vague(key, id) else 1.0
                    agreed = self.agreement.share(words, id, group=group, translated=not key.isascii())
                    votes[id] = votes.get(id, 0.0) + weight * share * vague * agreed / sqrt(len(own))
                    if id not in first or (by == NAME != first[id][0]):
                        first[id] = by, key
        if tops is not None:
            votes = {
                id: vote
                + _PLACE_WEIGHT * log(max(shares.get(self.branches[id][1], 0.0), _LEAST_SHARE))
                - _DEPTH_WEIGHT * self.taxonomy.depths[id]
                for id, vote in votes.items()
            }
        elif len({self.branches[id][0] for id in votes}) > 1 and not any(first[id][0] == NAME for id in votes):
            return None
        if not votes:
            again = end is None and not anywhere and tops is not None
            return self.named(names, group=group, words=words, anywhere=True) if again else None
        best = max(votes.values())
        tied = [id for id in votes if votes[id] > best - 1e-9]
        id = min(tied, key=lambda each: (self.taxonomy.depths[each], each))
        by, key = first[id]
        # Names of several categories side by side: what they name is the category above.
        beside = [
            each for each in votes if votes[each] > best - _NEARLY and self.taxonomy.parents[each] == self.taxonomy.parents[id]
        ]
        if len(beside) > 1 and self.taxonomy.depths[id] > 1:
            return Match(self.taxonomy.parents[id], SURE[PART], by, key)
        return Match(self._above(id, tied), SURE[by], by, key)

    def _above(self, id: str, tied: Sequence[str]) -> str:
        """The category that lies above all of several at one depth that have the same name, unless it is one at the top."""
        depth = self.taxonomy.depths[id]
        others = [each for each in tied if each != id and self.taxonomy.depths[each] == depth]
        common = set(self.taxonomy.ancestors(id)).intersection(*(set(self.taxonomy.ancestors(each)) for each in others))
        lowest = max(common, key=lambda each: self.taxonomy.depths[each], default=id)
        return lowest if others and self.taxonomy.depths[lowest] and depth - self.taxonomy.depths[lowest] <= _FAR else id
