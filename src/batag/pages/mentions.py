"""Labels given as text (`brand=ACME;goods=跑鞋`): every occurrence in the page becomes a tag."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from batag.pages.check import settle
from batag.pages.cleaning import Cleaner
from batag.pages.page import Offsets, Tag
from batag.pages.problems import Note

_SEPARATORS = ";；|｜,，、\n"
_SEPARATOR = re.compile(f"([{_SEPARATORS}])")
_EQUALS = re.compile("[=＝]")
_LATIN = "[A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]"
_TWO_LATIN = re.compile(_LATIN * 2)
_MANY_LABELS = 50
"""With more labels than this, all are searched for at once."""
_fold_width = Cleaner(["width"])


def label_pairs(value: Any) -> list[tuple[str, str]] | None:
    """Parse (label, text) pairs from `brand=ACME;goods=跑鞋`, `["brand=ACME"]` or `{"brand": ["ACME"]}`; None for anything
    else."""
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        lists = [label_pairs(item) for item in value]
        return None if any(pairs is None for pairs in lists) else [pair for pairs in lists for pair in pairs or ()]
    if isinstance(value, Mapping):
        pairs = []
        for label, texts in value.items():
            for text in texts if isinstance(texts, list) else [] if texts is None else [texts]:
                if not isinstance(text, str):
                    return None
                if text.strip():
                    pairs.append((str(label), text.strip()))
        return pairs
    return None


def _parsed(value: str) -> list[tuple[str, str]] | None:
    """Parse the pairs of one string; a separator counts only if `label=` follows, so that a text may contain commas."""
    cut = _SEPARATOR.split(value)
    pairs: list[tuple[str, list[str]]] = []
    for mark, piece in zip(("", *cut[1::2]), cut[::2], strict=True):
        equals = _EQUALS.search(piece)
        if equals and (label := piece[: equals.start()].strip()):
            pairs.append((label, [piece[equals.end() :]]))
        elif pairs:
            pairs[-1][1].append(mark + piece)
        elif piece.strip():
            return None
    found = ((label, "".join(pieces).strip().rstrip(f"{_SEPARATORS} \t\r")) for label, pieces in pairs)
    return [(label, text) for label, text in found if text]


def several_texts(label: str, text: str) -> str:
    """How to write a value that may be several texts (`goods=shoes,socks`); empty if it is one."""
    pieces = [piece.strip() for piece in _SEPARATOR.split(text)[::2] if piece.strip()]
    return ";".join(f"{label}={piece}" for piece in pieces) if len(pieces) > 1 else ""


def find_labels(pairs: list[tuple[str, str]], fields: Mapping[str, str], note: Note) -> tuple[Tag, ...] | None:
    """Tag every occurrence of each label's text, with the source person; None if no text occurs."""
    tags = []
    pairs = list(dict.fromkeys(pairs))
    many = Mentions(term for _, term in pairs) if len(pairs) > _MANY_LABELS else None
    places = {name: many.find(text) for name, text in fields.items()} if many else {}
    for label, term in pairs:
        found = {name: places[name].get(term, ()) if many else occurrences(text, term) for name, text in fields.items()}
        spans = [(name, *span) for name, each in found.items() for span in each]
        if not spans:
            hint = f"; for several texts write {several}" if (several := several_texts(label, term)) else ""
            note("not-found", f"{label}={term} does not occur in the page{hint}")
        tags += [Tag(name, start, end, label, fields[name][start:end]) for name, start, end in spans]
    # A term inside a longer one is no conflict, unless it has no place of its own left.
    settled = settle(tags, fields, None)
    kept = {(tag.label, tag.text) for tag in settled}
    for label, text in dict.fromkeys((tag.label, tag.text) for tag in tags):
        if (label, text) not in kept:
            note("overlap", f"{label}={text} occurs only where a longer or earlier label has the text")
    return settled if settled or not pairs else None


def occurrences(text: str, term: str) -> list[Offsets]:
    """The offsets of a term in a text: exact matches or, if there are none, matches in another case or width."""
    if not term:
        return []
    exact = list(_find(text, term))
    if exact:
        return exact
    cleaned = _fold_width(text)
    found = _find(lower(cleaned.text), lower(_fold_width(term).text))
    return [cleaned.to_original(start, end) for start, end in found]


class Mentions:
    """Finds many terms at once; of terms that start at the same place the longest wins, and matches do not overlap."""

    def __init__(self, terms: Iterable[str]) -> None:
        from ahocorasick_rs import AhoCorasick, MatchKind

        self._terms = list(dict.fromkeys(filter(None, terms)))
        forms = (self._terms, [lower(_fold_width(term).text) for term in self._terms])
        self._matchers = [AhoCorasick(each, matchkind=MatchKind.LeftmostLongest) for each in forms]

    def find(self, text: str) -> dict[str, list[Offsets]]:
        """The offsets of each term that occurs in a text: exact matches or, if there are none, matches in another case or
        width."""
        exact, cleaned = self._places(self._matchers[0], text), _fold_width(text)
        alike = self._places(self._matchers[1], lower(cleaned.text))
        return {term: [cleaned.to_original(*span) for span in spans] for term, spans in alike.items()} | exact

    def _places(self, matcher: Any, text: str) -> dict[str, list[Offsets]]:
        places: dict[str, list[Offsets]] = {}
        for which, start, end in matcher.find_matches_as_indexes(text):
            if not (_inside_word(text, start) or _inside_word(text, end)):
                places.setdefault(self._terms[which], []).append((start, end))
        return places


def _inside_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and bool(_TWO_LATIN.match(text, place - 1))


def lower(text: str) -> str:
    """The text in lower case with the same length: characters whose lower case is longer are kept."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def _find(text: str, term: str) -> Iterator[Offsets]:
    """Yield occurrences without overlaps; a Latin term is not found inside a longer word."""
    before = f"(?<!{_LATIN})" if re.match(_LATIN, term[:1]) else ""
    after = f"(?!{_LATIN})" if re.match(_LATIN, term[-1:]) else ""
    return (match.span() for match in re.finditer(before + re.escape(term) + after, text))
