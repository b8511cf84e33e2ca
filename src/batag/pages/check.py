"""Whether tags fit their text: offsets inside it, the text that they give, no overlaps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from batag.pages.page import Tag
from batag.pages.problems import Problems


def check_tag(tag: Tag, text: str, *, where: str, page_id: str, problems: Problems) -> Tag | None:
    """The tag with its text, if its offsets fit; UTF-16 offsets are recognised by the text that they cut."""
    cut = text[tag.start : tag.end] if 0 <= tag.start < tag.end <= len(text) else None
    if tag.text and cut != tag.text:
        start, end = from_utf16(text, tag.start), from_utf16(text, tag.end)
        if start is not None and end is not None and text[start:end] == tag.text:
            problems.add("offset-units", where, f"the offsets {tag.start}-{tag.end} are UTF-16 units", page=page_id)
            return replace(tag, start=start, end=end)
        if cut is not None:
            reason = f"{tag.label} {tag.text!r} is not what stands at {tag.start}-{tag.end} of {tag.field} ({cut!r})"
            problems.add("text-mismatch", where, reason, page=page_id)
            return None
    if cut is None:
        reason = f"{tag.label} {tag.start}-{tag.end} is empty or outside {tag.field} ({len(text)} characters)"
        problems.add("out-of-range", where, reason, page=page_id)
        return None
    return tag if tag.text else replace(tag, text=cut)


def settle(
    tags: Iterable[Tag], fields: Mapping[str, str], *, where: str, page_id: str, problems: Problems | None
) -> tuple[Tag, ...]:
    """Tags without overlaps, in order: the longer one wins, of equals the first."""
    tags = list(tags)
    rank = {name: place for place, name in enumerate(fields)}
    if all(a.end <= b.start if a.field == b.field else rank[a.field] < rank[b.field] for a, b in pairwise(tags)):
        return tuple(tags)
    kept: dict[str, list[Tag]] = {name: [] for name in fields}
    for tag in sorted(tags, key=lambda tag: tag.start - tag.end):
        beside = kept[tag.field]
        place = bisect_left(beside, tag.start, key=lambda other: other.start)
        other = next(
            (other for other in beside[max(place - 1, 0) : place + 1] if other.start < tag.end and tag.start < other.end), None
        )
        if other is None:
            beside.insert(place, tag)
        elif problems is not None:
            reason = f"{tag.label} {tag.text!r} ({tag.field} {tag.start}-{tag.end}) overlaps {other.label} {other.text!r}"
            problems.add("overlap", where, reason, page=page_id)
    return tuple(tag for beside in kept.values() for tag in beside)


def from_utf16(text: str, offset: int) -> int | None:
    """The code-point offset of a UTF-16 offset, or None if it lies outside or inside a character."""
    units = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= 2 * offset <= len(units):
        return None
    try:
        return len(units[: 2 * offset].decode("utf-16-le"))
    except UnicodeDecodeError:
        return None
