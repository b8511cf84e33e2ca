"""Labels given as plain text (`brand=ACME;goods=跑鞋`): every occurrence in the page becomes a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from batag.pages.cleaning import Cleaner
from batag.pages.page import Offsets

_PAIR = re.compile(r"(?:^|[;；|\n])\s*([^=;；|\n]+?)\s*=[^\S\n]*")
_LATIN = "[A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]"
_fold_width = Cleaner(["width"])


def label_pairs(value: Any) -> list[tuple[str, str]] | None:
    """The (label, text) pairs of `brand=ACME;goods=跑鞋`, `["brand=ACME"]` or `{"brand": ["ACME"]}`; None for anything else."""
    if isinstance(value, str):
        matches = list(_PAIR.finditer(value))
        if not matches or matches[0].start() > 0:
            return [] if not value.strip() else None
        ends = [match.start() for match in matches[1:]] + [len(value)]
        pairs = [(match[1], value[match.end() : end].strip()) for match, end in zip(matches, ends, strict=True)]
        return [(label, text) for label, value in pairs if (text := value.rstrip(";；| \n"))]
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


def occurrences(text: str, term: str) -> list[Offsets]:
    """Where a term stands in a text: as it is or, if it does not, in another case or width."""
    if not term:
        return []
    exact = list(_find(text, term))
    if exact:
        return exact
    cleaned = _fold_width(text)
    found = _find(lower(cleaned.text), lower(_fold_width(term).text))
    return [cleaned.to_original(start, end) for start, end in found]


def lower(text: str) -> str:
    """Lower case of the same length: character by character where the whole would change it."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def _find(text: str, term: str) -> Iterator[Offsets]:
    """Occurrences without overlaps; a Latin term is not found inside a longer word."""
    before = f"(?<!{_LATIN})" if re.match(_LATIN, term[:1]) else ""
    after = f"(?!{_LATIN})" if re.match(_LATIN, term[-1:]) else ""
    return (match.span() for match in re.finditer(before + re.escape(term) + after, text))
