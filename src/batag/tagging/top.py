"""The top tags of a page: one per canonical form, the most certain and rarest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from batag.errors import UsageError
from batag.pages.fields import MAIN_FIELD
from batag.pages.page import PERSON, Tag

_DIGITS = 1


def is_shown(tag: Tag) -> bool:
    """Whether people see a tag. A word of advertising, which has no canonical form, is left out unless a person tagged it."""
    return tag.canonical is not None or tag.score is None or tag.source == PERSON


def top(tags: Iterable[Tag], number: int, *, counts: Mapping[str, int] | None = None) -> list[Tag]:
    """The best tags of a page, at most `number`.

    Of each canonical form one tag is kept: that of the title, then the longest. A tag inside of a longer one of the same label
    goes. Scores count to one digit; then comes what fewer pages have (`counts` of pages by canonical form, if known), then the
    place. Words of advertising, which have no canonical form, are left out unless a person tagged them.
    """
    if type(number) is not int or number < 1:
        raise UsageError(f"top {number!r} is not a whole number above 0", todo="Give the number of tags, such as 5")
    fields: dict[str, int] = {MAIN_FIELD: 0}
    kept: dict[tuple[str, str], Tag] = {}
    scores: dict[tuple[str, str], float] = {}
    for tag in tags:
        fields.setdefault(tag.field, len(fields))
        if not is_shown(tag):
            continue
        form = tag.label, tag.canonical or tag.text
        scores[form] = max(scores.get(form, 0.0), tag.score if tag.score is not None else 1.0)
        best = kept.get(form)
        if best is None or (fields[tag.field], -len(tag.text), tag.start) < (fields[best.field], -len(best.text), best.start):
            kept[form] = tag
    inside = {
        form
        for form, tag in kept.items()
        for other in kept.values()
        if other.label == tag.label and len(other.text) > len(tag.text) and tag.text in other.text
    }

    def order(form: tuple[str, str]) -> tuple[float, int, int, int]:
        tag = kept[form]
        return -round(scores[form], _DIGITS), (counts or {}).get(form[1], 0), fields[tag.field], tag.start

    return [kept[form] for form in sorted((form for form in kept if form not in inside), key=order)[:number]]
