"""Whether tags fit their text: offsets inside it, the text that they give, no overlaps."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from batag.pages.page import Tag
from batag.pages.problems import Problems

_SHOWN = 80
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")


def check_tag(tag: Tag, text: str, *, where: str, page_id: str, problems: Problems) -> Tag | None:
    """The tag, if its offsets fit; UTF-16 offsets are recognised by the text that they cut. A tag that brings no text gets it
    when tags are settled: until then any number of them may reach over the whole page."""
    inside = 0 <= tag.start < tag.end <= len(text)
    if tag.text and not (inside and _stands_at(text, tag.text, tag.start, tag.end)):
        start, end = from_utf16(text, tag.start), from_utf16(text, tag.end)
        if start is not None and end is not None and _stands_at(text, tag.text, start, end):
            problems.add("offset-units", where, f"the offsets {tag.start}-{tag.end} are UTF-16 units", page=page_id)
            return replace(tag, start=start, end=end)
        if inside:
            cut = text[tag.start : min(tag.end, tag.start + _SHOWN + 1)]
            reason = (
                f"{tag.label} {_shown(tag.text)} is not what stands at {tag.start}-{tag.end} of {tag.field} ({_shown(cut)})"
            )
            problems.add("text-mismatch", where, reason, page=page_id)
            return None
    if not inside:
        reason = f"{tag.label} {tag.start}-{tag.end} is empty or outside {tag.field} ({len(text)} characters)"
        problems.add("out-of-range", where, reason, page=page_id)
        return None
    return tag


def settle(
    tags: Iterable[Tag], fields: Mapping[str, str], *, where: str, page_id: str, problems: Problems | None
) -> tuple[Tag, ...]:
    """Tags without overlaps, in order, each with its text: the longer one wins, of equals the first."""
    tags = list(tags)
    rank = {name: place for place, name in enumerate(fields)}
    if not all(a.end <= b.start if a.field == b.field else rank[a.field] < rank[b.field] for a, b in pairwise(tags)):
        tags = sorted(_longest(tags, fields, where, page_id, problems), key=lambda tag: (rank[tag.field], tag.start))
    return tuple(tag if tag.text else replace(tag, text=fields[tag.field][tag.start : tag.end]) for tag in tags)


def _longest(tags: list[Tag], fields: Mapping[str, str], where: str, page_id: str, problems: Problems | None) -> Iterator[Tag]:
    """Those that stay where tags overlap. The longest come first, so that one which overlaps another lies over it with its
    first or its last character."""
    owners: dict[str, list[Tag | None]] = {}
    for tag in sorted(tags, key=lambda tag: tag.start - tag.end):
        taken = owners.setdefault(tag.field, [])
        if not taken:
            taken += [None] * len(fields[tag.field])
        if (other := taken[tag.start] or taken[tag.end - 1]) is None:
            taken[tag.start : tag.end] = [tag] * (tag.end - tag.start)
            yield tag
        elif problems is not None:
            mine, theirs = (
                _shown(fields[tag.field][each.start : min(each.end, each.start + _SHOWN + 1)]) for each in (tag, other)
            )
            reason = f"{tag.label} {mine} ({tag.field} {tag.start}-{tag.end}) overlaps {other.label} {theirs}"
            problems.add("overlap", where, reason, page=page_id)


def from_utf16(text: str, offset: int) -> int | None:
    """The code-point offset of a UTF-16 offset, or None if it lies outside or inside a character."""
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
    """Where the characters stand that UTF-16 writes with two units; looked at once for all tags of a text."""
    return [match.start() for match in _TWO_UNITS.finditer(text)]


def _stands_at(text: str, piece: str, start: int, end: int) -> bool:
    return end - start == len(piece) and text.startswith(piece, start)


def _shown(text: str, start: int = 0, end: int | None = None) -> str:
    """A piece of text in a message: its beginning."""
    end = len(text) if end is None else end
    return repr(text[start:end] if end - start <= _SHOWN else f"{text[start : start + _SHOWN]}...")
