"""From a tag to a category of a taxonomy: by name, by synonym, or by the longest end of the tag that is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import sqrt

from batag.terms.lexicon import GOODS, Entry, Lexicon
from batag.terms.parts import ends_of
from batag.terms.taxonomy import Taxonomy
from batag.terms.voting import ANCHOR, BROADER, FIRST, NAME, PART, SUFFIX, SURE, SYNONYM, Match, Voting

_BEHIND = re.compile(r" (?:for|with|of|in|without) ")
_SHORT = 0.5
_HIGH = 2
_REMEMBERED = 100_000
_LEAST_LANGUAGES = 2
_LIKELY = 0.15


class Mapping:
    """Finds categories; the names of the lexicon in all languages are synonyms."""

    def __init__(self, taxonomy: Taxonomy, lexicon: Lexicon) -> None:
        self.taxonomy, self.lexicon = taxonomy, lexicon
        self.voting = Voting(taxonomy, lexicon)
        self._of_entry: dict[str, Match | None] = {}
        self._of_end: dict[tuple[str, str, str], Match | None] = {}

    def find(self, key: str, *, entry: Entry | None = None, exact: bool = False) -> Match | None:
        """The category of a key, or of the kind of goods that it names, or None. Only by whole names if `exact`."""
        if not key:
            return None
        if entry is not None and entry.kind == GOODS:
            match = self.of_entry(entry)
            if match is None:
                return None
            own = self._own(key, entry, match)
            return Match(own, SURE[NAME], NAME, key) if own is not None else match
        found = self.voting.named({key: FIRST}, group="")
        return found if found is not None or exact else self._by_end(key, group="")

    def _own(self, key: str, entry: Entry, match: Match) -> str | None:
        """The category that is called as the key, which is that of the kind of goods or one near it: a bird house is listed
        with bird feeders, but has a category of its own."""
        if match.by == SYNONYM and match.name == key:
            return match.id
        ids = self.taxonomy.named(key)
        if match.by in (ANCHOR, BROADER) or len(ids) != 1:
            return None
        (id,), voting, group = ids, self.voting, entry.groups[0]
        tops, _ = voting.usual.get(group, (frozenset[str](), {}))
        english = key.isascii()
        agreed = voting.agreement.english and voting.agreement.share(
            voting.words(entry), id, group=group, translated=not english
        )
        beside = self.taxonomy.parents[id] == self.taxonomy.parents[match.id]
        near = beside or (english and (" " in key or voting.branches[id] == voting.branches[match.id]))
        return id if near and agreed == 1.0 and voting.branches[id][0] in tops else None

    def of_entry(self, entry: Entry) -> Match | None:
        """The category of a kind of goods, by its names in the languages of the taxonomy."""
        if entry.id not in self._of_entry:
            if (anchored := self._anchored(entry)) is not None:
                self._of_entry[entry.id] = anchored
                return anchored
            names = self.voting.names(entry)
            match = self.voting.named(names, group=entry.groups[0], words=self.voting.words(entry))
            several = len(self.taxonomy.languages) > 1
            match = self._checked(entry, self._borne_out(entry, match))
            if match is None:
                ends = self._ends(entry)
                match = self._most(ends) or (self._roughly(ends, group=entry.groups[0]) if several else None)
            elif match.by == NAME:
                match = Match(match.id, SURE[SYNONYM], SYNONYM, match.name)
            self._of_entry[entry.id] = match
        return self._of_entry[entry.id]

    def _anchored(self, entry: Entry) -> Match | None:
        """The category that is written down for a kind of goods, if the taxonomy has it."""
        path = self.lexicon.anchor(entry)
        id = None if path is None else self.taxonomy.at(path)
        return None if id is None else Match(id, SURE[ANCHOR], ANCHOR, self.lexicon.keys(entry)[0][1])

    def _borne_out(self, entry: Entry, match: Match | None) -> Match | None:
        """A match, if the English names share a word with it or names in two scripts lead there. Else what their ends lead to,
        or the category above: a translation alone is often another thing."""
        words, agreement = self.voting.words(entry), self.voting.agreement
        if match is None or self.taxonomy.is_original or match.name.isascii() or agreement.is_borne_out(words, match.id):
            return match
        leading = (
            (language, {*self.taxonomy.named(key), *self.taxonomy.partly_named(key)})
            for language, key in self.lexicon.keys(entry)
        )
        scripts = {language[:2] for language, ids in leading if match.id in ids}
        if len(scripts) > 1:
            return match
        ends = self._most(self._ends(entry))
        if ends is not None and agreement.is_borne_out(words, ends.id):
            return ends
        if not scripts or self.taxonomy.depths[match.id] < _HIGH:
            return match
        return Match(self.taxonomy.parents[match.id], SURE[PART], PART, match.name)

    def _checked(self, entry: Entry, match: Match | None) -> Match | None:
        """A match, or the category of the wider kind of goods if the match does not lie below it."""
        if match is not None and self._is_sure(entry, match):
            return match
        wider = self._wider(entry)
        return wider if wider is not None and (match is None or wider.id not in self.taxonomy.ancestors(match.id)) else match

    def _is_sure(self, entry: Entry, match: Match) -> bool:
        """Whether the usual English name and one in another language are names of the category, which is for nobody and
        no part that the English names do not speak of. If nothing is translated, the usual name is enough."""
        names = list(self.voting.names(entry))
        if self.taxonomy.is_original:
            return self.taxonomy.named(names[0]) == [match.id]
        usual = next((key for key in names if key.isascii()), "")
        others = any(match.id in self.taxonomy.named(key) for key in names if not key.isascii())
        share = self.voting.agreement.share(self.voting.words(entry), match.id, group=entry.groups[0], translated=True)
        return others and share == 1.0 and match.id in self.taxonomy.named(usual)

    def _wider(self, entry: Entry) -> Match | None:
        """The category of the wider kind of goods, or of one wider still; the category above for what only belongs to it."""
        found = self.lexicon.wider(entry)
        match = None if found is None else self.of_entry(found[0])
        if found is None or match is None:
            return None
        above = self.taxonomy.parents[match.id] if found[1] else ""
        return Match(above or match.id, SURE[BROADER], BROADER, match.name)

    def _ends(self, entry: Entry) -> list[tuple[str, Match]]:
        """What the ends of the names of a kind of goods lead to, with the language of each."""
        names = [(language, key) for language, key in self.lexicon.keys(entry) if language in self.taxonomy.languages]
        found = ((language, self._by_end(key, group=entry.groups[0], without=entry.id)) for language, key in names)
        return [(language, match) for language, match in found if match is not None]

    def _most(self, found: Sequence[tuple[str, Match]]) -> Match | None:
        """The lowest category above most of what the ends of several names lead to, by confidence. If there are several
        languages, two of them must lead there: an end alone is often another thing (sea cucumber)."""
        weights = Counter(language for language, _ in found)
        support: dict[str, float] = {}
        languages: dict[str, set[str]] = {}
        firm: set[str] = set()
        half = 0.0
        for language, each in found:
            long = len(each.name) > 1
            weight = each.confidence * (1.0 if long else _SHORT) / sqrt(weights[language])
            half += weight / 2
            for id in self.taxonomy.ancestors(each.id):
                support[id] = support.get(id, 0.0) + weight
                languages.setdefault(id, set()).add(language)
                firm |= {id} if long else set()
        least = min(_LEAST_LANGUAGES, len(self.taxonomy.languages))
        most = [
            id
            for id, number in support.items()
            if number > half and (id in firm or least == 1) and self.taxonomy.depths[id] and len(languages[id]) >= least
        ]
        if not most:
            return None
        id = max(most, key=lambda each: (self.taxonomy.depths[each], support[each]))
        own = [each for _, each in found if id in self.taxonomy.ancestors(each.id)]
        best = max(own, key=lambda each: (each.id == id, each.confidence))
        return Match(id, best.confidence, SUFFIX, best.name)

    def _roughly(self, found: Sequence[tuple[str, Match]], *, group: str) -> Match | None:
        """The category below the top where the best of the ends leads and where many kinds of the group are."""
        _, shares = self.voting.usual.get(group, (None, {}))
        places = [(self.voting.branches[each.id][1], each) for _, each in found]
        likely = [(shares.get(id, 0.0), each.confidence, id, each) for id, each in places if shares.get(id, 0.0) >= _LIKELY]
        if not likely:
            return None
        _, confidence, id, best = max(likely, key=lambda each: each[:3])
        return Match(id, round(confidence / 2, 3), SUFFIX, best.name)

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
            exactly = (
                self._anchored(each)
                or self.voting.named(
                    self.voting.names(each), group=group or each.groups[0], words=self.voting.words(each), end=end
                )
                for each in kinds
            )
            found = next((match for match in exactly if match is not None), None)
            if len(self._of_end) >= _REMEMBERED:
                self._of_end.clear()
            found = found or self.voting.named({end: FIRST}, group=group, end=end)
            if found is None and not without and not end.isascii() and kinds:
                found = self.of_entry(kinds[0])  # a kind of goods that has its own category by its ends
            self._of_end[asked] = found
        return self._of_end[asked]
