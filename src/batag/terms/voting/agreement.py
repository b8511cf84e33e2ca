"""How far the English names of a kind of goods bear out a category: translations are often another thing."""

from __future__ import annotations

import re

from batag.terms.parts import list_of
from batag.terms.plural import singular
from batag.terms.taxonomy import Taxonomy

_SHARED, _FOREIGN, _ELSEWHERE = 0.8, 0.5, 0.6
_LEAST = 4
_WORD = re.compile("[a-z]+")
_SAY_NOTHING = frozenset(["accessory", "and", "equipment", "for", "of", "or", "other", "product", "s", "supply", "the", "with"])
_OF_A_WHOLE = re.compile(" (?:accessories|parts)$", re.IGNORECASE)
_USERS = frozenset(["baby", "boy", "child", "doll", "girl", "infant", "kid", "pet", "toddler"])
_OTHERS = {"man": "woman", "woman": "man", "boy": "girl", "girl": "boy"}
_GROUPS_OF_USERS = frozenset(["baby", "pets", "toys"])
Words = frozenset[str]


def words_of(text: str) -> list[str]:
    """The English words of a text in the singular, without those that say nothing."""
    return [word for word in _WORD.findall(singular(text.lower())) if word not in _SAY_NOTHING]


class Agreement:
    """Compares English words with the English names of categories. Without either, everything agrees."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy, self.english = taxonomy, "en" in taxonomy.languages
        self._of: dict[str, tuple[Words, Words, Words, Words]] = {}

    def share(self, words: Words, id: str, *, group: str, translated: bool) -> float:
        """What a name counts for a category (0 to 1): less if the category has other English words, or if it is a part of a
        thing (the shelves of `Refrigerator Accessories`) or for users (girls) that the English words do not speak of."""
        if not self.english or not words:
            return 1.0
        heads, own, whole, users = self._words(id)
        share = _ELSEWHERE if whole and not _meet(words, whole) else 1.0
        strangers = users & _USERS and group not in _GROUPS_OF_USERS and not words & _USERS
        if strangers or any(_OTHERS.get(user) in words and user not in words for user in users):
            share *= _ELSEWHERE
        if not translated or _meet(words, heads):
            return share
        return share * (_SHARED if _meet(words, own) else _FOREIGN)

    def is_borne_out(self, words: Words, id: str) -> bool:
        """Whether the English words share one with the name of the category."""
        return not self.english or not words or _meet(words, self._words(id)[1])

    def _words(self, id: str) -> tuple[Words, Words, Words, Words]:
        """The last words of what a category lists, all words of its name, those of the thing that it is a part of, and those of
        its users."""
        if id not in self._of:
            parent = self.taxonomy.parents[id]
            parts = [words_of(part) for part in list_of(self.taxonomy.name(id))]
            own = frozenset(word for part in parts for word in part)
            above = self.taxonomy.name(parent) if parent else ""
            whole = words_of(_OF_A_WHOLE.sub("", above)) if _OF_A_WHOLE.search(above) else ()
            users = own & (_USERS | _OTHERS.keys()) | (self._words(parent)[3] if parent else frozenset())
            self._of[id] = frozenset(part[-1] for part in parts if part), own, frozenset(whole), users
        return self._of[id]


def _meet(some: Words, others: Words) -> bool:
    """Whether two sets share a word, or a word of one is a part of one of the other (grease, degreaser)."""
    return bool(some & others) or any(
        (len(one) >= _LEAST and one in other) or (len(other) >= _LEAST and other in one) for one in some for other in others
    )
