"""What speaks for a phrase: the numbers that `auto` weighs, from TF-IDF, SingleRank and YAKE, its place and its form."""

from __future__ import annotations

import re
from math import log, log1p

from batag.keywords.candidate import Candidate, Candidates, words_of_longer
from batag.keywords.document import Document
from batag.keywords.extractor import Words
from batag.keywords.graph import word_importance
from batag.keywords.kind import Kind
from batag.keywords.statistics import Statistics
from batag.keywords.yake import phrase_score, term_scores

SIGNALS = (
    *(
        "count",
        "rare_phrase",
        "rare_words",
        "late",
        "title",
        "one_word",
        "two_words",
        "three_words",
        "four_words",
        "more_words",
    ),
    *("characters", "whole", "nouns", "rank_sum", "rank_mean", "yake", "nested", "inside", "digit", "spread"),
    "neighbours",
)
"""The names of the numbers, in order."""
_UNKNOWN = 0.7
"""The rarity of every phrase if there are no statistics; a usual value."""
_FEWEST_PAGES = 10
_DIGIT = re.compile(r"\d")


def signals(document: Document, found: Candidates, statistics: Statistics) -> dict[Words, tuple[float, ...]]:
    """The numbers of `SIGNALS` for each phrase."""
    ranks = word_importance(document, window=10, weighted=True)
    most = max(ranks.values(), default=1.0)
    shares = {word: rank / most for word, rank in ranks.items()}
    yake = term_scores(document)
    inside, longer = words_of_longer(found), _longer_repeated(found)
    rarity = _Rarity(statistics, document.language)
    title = _title(document)
    size = log1p(len(document)) or 1.0
    rows = {}
    for words, each in found.items():
        first, last = each.occurrences[0]
        number, count = len(words), len(each.occurrences)
        own = [shares.get(word, 0.0) for word in words]
        text = document.text_of(first, last)
        rows[words] = (
            log(count),
            rarity.of(each.key),
            sum(map(rarity.of, words)) / number,
            log1p(first) / size,
            float(document.fields[first] == title),
            *(float(number == length) for length in (1, 2, 3, 4)),
            float(number > 4),
            min(len(text), 30) / 10,
            each.whole / count,
            document.kinds[first : last + 1].count(Kind.NOUN) / number,
            sum(own),
            sum(own) / number,
            -log(1e-4 + phrase_score(each, yake)),
            _nested(each, longer),
            float(number == 1 and words[0] in inside),
            float(_DIGIT.search(text) is not None),
            log(len({document.sentences[place] for place, _ in each.occurrences})),
            log(_neighbours(document, each)),
        )
    return rows


class _Rarity:
    """The inverse document frequency, divided by the logarithm of the pages so that corpora of any size compare."""

    def __init__(self, statistics: Statistics, language: str) -> None:
        known = statistics.languages.get(language)
        self._scale = log(known.pages + 1) if known is not None and known.pages >= _FEWEST_PAGES else None
        self._statistics, self._language = statistics, language
        self._known: dict[str, float] = {}

    def of(self, key: str) -> float:
        if self._scale is None:
            return _UNKNOWN
        if key not in self._known:
            self._known[key] = self._statistics.idf(key, language=self._language) / self._scale
        return self._known[key]


def _title(document: Document) -> str | None:
    """The first field, if words stand in another field too."""
    names = dict.fromkeys(document.fields)
    first = next(iter(document.page.fields), None)
    return first if len(names) > 1 else None


def _longer_repeated(found: Candidates) -> dict[int, tuple[int, int]]:
    """For each word the longest phrase around it that occurs more than once."""
    around: dict[int, tuple[int, int]] = {}
    for each in found.values():
        if len(each.words) > 1 and len(each.occurrences) > 1:
            for first, last in each.occurrences:
                for place in range(first, last + 1):
                    known = around.get(place, (0, 0))
                    if last - first > known[1] - known[0]:
                        around[place] = first, last
    return around


def _nested(candidate: Candidate, longer: dict[int, tuple[int, int]]) -> float:
    """The share of occurrences inside a longer phrase that occurs more than once."""
    inside = 0
    for first, last in candidate.occurrences:
        start, end = longer.get(first, (first, last))
        inside += end - start > last - first and end >= last
    return inside / len(candidate.occurrences)


def _neighbours(document: Document, candidate: Candidate) -> int:
    """How many different words stand before the phrase, or after it if these are fewer; the border of a block is always new.
    Pieces of longer words have few (accessor variety, Feng et al. 2004)."""
    keys, blocks = document.keys, document.blocks
    before: set[str | int] = set()
    after: set[str | int] = set()
    for first, last in candidate.occurrences:
        joined = first > 0 and blocks[first - 1] == blocks[first]
        before.add(keys[first - 1] if joined else first)
        joined = last + 1 < len(keys) and blocks[last + 1] == blocks[last]
        after.add(keys[last + 1] if joined else last)
    return min(len(before), len(after))
