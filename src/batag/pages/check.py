"""Check tags against their text: offsets inside it, the same text, no overlaps."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from batag.pages.page import Tag
from batag.pages.problems import Note

_SHOWN = 80
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")


def check_tag(tag: Tag, text: str, note: Note) -> Tag | None:
    """Return the tag if its offsets fit the text, else None with a note. Offsets in UTF-16 units are recognised by the tag's
    text. A tag without text gets it in `settle`, because until then many tags may cover the whole page."""
    inside = 0 <= tag.start < tag.end <= len(text)
    if tag.text and not (inside and _stands_at(text, tag.text, tag.start, tag.end)):
        start, end = from_utf16(text, tag.start), from_utf16(text, tag.end)
        if start is not None and end is not None and _stands_at(text, tag.text, start, end):
            note("offset-units", f"the offsets {tag.start}-{tag.end} are UTF-16 units")
            return replace(tag, start=start, end=end)
        if inside:
            cut = text[tag.start : min(tag.end, tag.start + _SHOWN + 1)]
            place = f"{tag.start}-{tag.end} of {tag.field}"
            note("text-mismatch", f"{tag.label} {_shown(tag.text)} is not the text at {place} ({_shown(cut)})")
            return None
    if not inside:
        note("out-of-range", f"{tag.label} {tag.start}-{tag.end} is empty or outside {tag.field} ({len(text)} characters)")
        return None
    return tag


def settle(tags: Iterable[Tag], fields: Mapping[str, str], note: Note | None) -> tuple[Tag, ...]:
    """Remove overlaps (the longest tag wins, then the first), sort the tags, and fill in their texts."""
    tags = list(tags)
    rank = {name: place for place, name in enumerate(fields)}
    if not all(a.end <= b.start if a.field == b.field else rank[a.field] < rank[b.field] for a, b in pairwise(tags)):
        tags = sorted(_longest(tags, fields, note), key=lambda tag: (rank[tag.field], tag.start))
    return tuple(tag if tag.text else replace(tag, text=fields[tag.field][tag.start : tag.end]) for tag in tags)


def _longest(tags: list[Tag], fields: Mapping[str, str], note: Note | None) -> Iterator[Tag]:
    """Yield the tags that remain where tags overlap. Longest first, so a tag overlaps an earlier one only if it contains its
    first or last character."""
    owners: dict[str, list[Tag | None]] = {}
    for tag in sorted(tags, key=lambda tag: tag.start - tag.end):
        taken = owners.setdefault(tag.field, [])
        if not taken:
            taken += [None] * len(fields[tag.field])
        if (other := taken[tag.start] or taken[tag.end - 1]) is None:
            taken[tag.start : tag.end] = [tag] * (tag.end - tag.start)
            yield tag
        elif note is not None:
            text = fields[tag.field]
            mine, theirs = (_shown(text[each.start : min(each.end, each.start + _SHOWN + 1)]) for each in (tag, other))
            note("overlap", f"{tag.label} {mine} ({tag.field} {tag.start}-{tag.end}) overlaps {other.label} {theirs}")


def overlaps(others: Iterable[Tag]) -> Callable[[Tag], bool]:
    """Return a function that tests whether a tag overlaps one of the others."""
    places: dict[str, tuple[list[int], list[int]]] = {}
    for other in sorted(others, key=lambda each: each.start):
        starts, ends = places.setdefault(other.field, ([], []))
        starts.append(other.start)
        ends.append(max(other.end, ends[-1] if ends else 0))

    def overlap(tag: Tag) -> bool:
        starts, ends = places.get(tag.field, ([], []))
        before = bisect_left(starts, tag.end)
        return before > 0 and ends[before - 1] > tag.start

    return overlap


def from_utf16(text: str, offset: int) -> int | None:
    """The code-point offset of a UTF-16 offset; None if it is outside the text or inside a character."""
    pairs = _pairs(text)
    before = bisect_left(range(len(pairs)), offset, key=lambda number: pairs[number] + number)
    if not 0 <= offset <= len(text) + len(pairs) or (before and pairs[before - 1] + before - 1 == offset - 1):
        return None
    return offset - before


def to_utf16(text: str, offset: int) -> int:
    """The UTF-16 offset of a code-point offset."""
    return offset + bisect_left(_pairs(text), offset)


@lru_cache(8)
def _pairs(text: str) -> list[int]:
    """The positions of characters with two UTF-16 units, cached for all tags of a text."""
    return [match.start() for match in _TWO_UNITS.finditer(text)]


def _stands_at(text: str, piece: str, start: int, end: int) -> bool:
    return end - start == len(piece) and text.startswith(piece, start)


def _shown(text: str) -> str:
    """The beginning of a text, for a message."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
