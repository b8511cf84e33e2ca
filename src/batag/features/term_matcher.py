"""Find the names of term lists in the words of a page: is this token inside a listed brand, or a kind of goods?"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from batag.pages.cleaning import SIGNS
from batag.segmentation.variants import looked_up_as
from batag.terms.plural import singular

MARK = "*"
_LEFT_OUT = frozenset(f" \u3000-‐‑–'’`´.・·･{SIGNS}")
_REMEMBERED = 100_000
_BEGINNING = 2
_HISSING = ("s", "x", "z", "ch", "sh")
Hides = Callable[[str], bool]
"""Whether a name is hidden, as if no list had it."""


class TermMatcher:
    """Names by label; a name that ends with `*` is an ordinary word too.

    Case, width, accents, Chinese script, spaces, hyphens, apostrophes and dots do not matter. A name is found from token border
    to token border, of several that overlap under one label the longest that begins first. Time grows with the text, and with
    how many lengths the names have that begin alike.
    """

    def __init__(self, names: Mapping[str, Iterable[str]], *, with_plurals: Iterable[str] = ()) -> None:
        """Names of the labels in `with_plurals` are found in the singular and in the plural."""
        self._listed: dict[str, dict[str, bool]] = {}
        both = set(with_plurals)
        for label, own in names.items():
            marked: dict[str, bool] = {}
            for name in own:
                is_marked = name.endswith(MARK)
                plain = name[: -len(MARK)] if is_marked else name
                for form in _forms(plain) if label in both else (plain,):
                    # A list that has it without the mark is sure of it.
                    marked[form] = is_marked and marked.get(form, True)
            for folded, is_marked in zip(_fold_all(marked), marked.values(), strict=True):
                if folded:
                    listed = self._listed.setdefault(folded, {})
                    listed[label] = is_marked and listed.get(label, True)
        self._folded: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._listed)

    @cached_property
    def _lengths(self) -> dict[str, tuple[int, ...]]:
        """How long the names are that begin with two characters, or are the one."""
        found: dict[str, set[int]] = {}
        for name in self._listed:
            found.setdefault(name[:_BEGINNING], set()).add(len(name))
        return {beginning: tuple(sorted(lengths)) for beginning, lengths in found.items()}

    def codes(
        self, words: Sequence[str], *, hides: Hides | None = None, spaced: Collection[int] = frozenset()
    ) -> dict[int, str]:
        """The code of each word that is inside a listed name: place (B, I, E or S) and label, `B-brand S-goods*`. No name
        reaches across a word of `spaced`, where a space parts phrases."""
        if not self._listed:
            return {}
        if len(self._folded) > _REMEMBERED:
            self._folded.clear()
        known, starts, ends, text, end = self._folded, dict[int, int](), dict[int, int](), list[str](), 0
        for number, word in enumerate(words):
            folded = known.get(word)
            if folded is None:
                folded = known[word] = fold(word)
            if folded:
                starts[end] = number
                end += len(folded)
                ends[end] = number
                text.append(folded)
        whole = "".join(text)
        # The number of phrases before each word.
        parts = list(accumulate(number in spaced for number in range(len(words)))) if spaced else None
        listed, lengths, none = self._listed, self._lengths, ()
        fitting = [
            (start, -(start + length), name)
            for start in starts
            for beginning in {whole[start : start + _BEGINNING], whole[start]}
            for length in lengths.get(beginning, none)
            if start + length in ends
            and (name := whole[start : start + length]) in listed
            and (parts is None or parts[starts[start]] == parts[ends[start + length]])
        ]
        if hides is not None:
            hidden = {name for name in {name for *_, name in fitting} if hides(name)}
            fitting = [each for each in fitting if each[2] not in hidden]
        if not fitting:
            return {}
        # In the order in which a label's names are taken: the first, and of those that begin together the longest.
        fitting.sort()
        found: dict[int, str] = {}
        done: dict[str, int] = {}
        for start, end, name in fitting:
            for label, marked in listed[name].items():
                if start >= done.get(label, 0):
                    done[label] = -end
                    _add(found, starts[start], ends[-end], f"{label}{MARK}" if marked else label)
        return found


def _add(found: dict[int, str], first: int, last: int, label: str) -> None:
    """Add the places of one name to the codes of its words."""
    for number in range(first, last + 1):
        place = "S" if first == last else "B" if number == first else "E" if number == last else "I"
        found[number] = f"{found[number]} {place}-{label}" if number in found else f"{place}-{label}"


def fold(text: str) -> str:
    """The text as names are compared."""
    return text.translate(_FOLDED)


def _fold_all(texts: Collection[str]) -> list[str]:
    """The folded form of each text, all in one go."""
    joined = "\n".join(text.replace("\n", " ") for text in texts)
    return joined.translate(_FOLDED).split("\n") if joined else [""] * len(texts)


def _forms(name: str) -> set[str]:
    """An English name with its last word in the singular and in the plural; other names as they are."""
    if not name.isascii() or not name[-1:].isalpha():
        return {name}
    one = singular(name.lower())
    before, _, last = one.rpartition(" ")
    if last.endswith("y") and last[-2:-1] not in set("aeiou"):
        many = f"{last[:-1]}ies"
    else:
        many = f"{last}es" if last.endswith(_HISSING) else f"{last}s"
    return {name, one, f"{before} {many}"}


class _Folded(dict[int, str]):
    """A cache of the folded form of each character; what is left out is empty."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _LEFT_OUT:
            self[code] = ""
        else:
            plain = unicodedata.normalize("NFKC", character).lower()
            base = unicodedata.normalize("NFKD", plain)[:1]
            self[code] = base if base.isascii() and base.isalpha() else looked_up_as().get(plain, plain)
        return self[code]


_FOLDED = _Folded()
