"""Brands that nobody listed: a tenth of the shop's brands is hidden from lists and labels, and then looked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from batag.pages.mentions import Mentions, lower
from batag.pages.page import Page, Tag
from batag.start.lists import BRAND, COLUMN, Lists
from batag.start.names import is_listed, names_of, own_names
from batag.start.survey import BRAND_OF, Survey
from batag.tagging.tagger import Tagger

SHARE = 0.1
FEWEST, MOST = 5, 200
"""With fewer brands that the lexicon does not have, nothing can be measured; more are not hidden."""
_MOST_PAGES = 500


@dataclass(frozen=True)
class Hidden:
    """The hidden values of the brand column and their names in lower case."""

    values: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True)
class Check:
    """How hidden brands fared: how many, their mentions, the share of these that was found, and the share of the brand tags
    that no list explains which are such a mention."""

    brands: int
    mentions: int
    found: float
    right: float


def hide(survey: Survey, lists: Lists) -> Hidden | None:
    """Choose a tenth of the brands that stand in pages and that the lexicon does not have; None if there are too few."""
    seen = {term.text.casefold() for term in lists.of(BRAND) if term.own and term.source == COLUMN}
    own: dict[str, tuple[str, ...]] = {}
    for value in survey.brands:
        names = own_names(value)
        if names and any(name.casefold() in seen for name in names) and not any(map(is_listed, names)):
            own[value] = names
    drawn = sorted(own, key=lambda value: crc32(value.casefold().encode(errors="replace")))
    number = min(round(SHARE * len(survey.brands)), MOST, len(drawn))
    chosen = drawn[:number]
    if number < FEWEST:
        return None
    return Hidden(frozenset(chosen), frozenset(name.casefold() for value in chosen for name in names_of(value)))


def without(lists: Lists, hidden: Hidden) -> Lists:
    """The lists without the hidden names."""
    kept = tuple(term for term in lists.terms if term.label != BRAND or term.text.casefold() not in hidden.names)
    return replace(lists, terms=kept)


def parts(sample: Sequence[Page], hidden: Hidden) -> tuple[list[Page], list[Page]]:
    """The pages without a hidden brand, and those whose own brand is hidden."""
    there = [page for page in sample if page.extra.get(BRAND_OF, "") in hidden.values]
    mentions = Mentions(lower(name) for name in hidden.names)
    others = (page for page in sample if page.extra.get(BRAND_OF, "") not in hidden.values)
    return [page for page in others if not any(mentions.find(lower(text)) for text in page.fields.values())], there[
        :_MOST_PAGES
    ]


def check(tagger: Tagger, pages: Sequence[Page], hidden: Hidden, lists: Lists) -> Check:
    """Look for the hidden brands with a tagger that was not taught them."""
    mentions = Mentions(lower(name) for name in hidden.names)
    listed = {term.text.casefold() for term in lists.of(BRAND)} - hidden.names
    count: Counter[str] = Counter()
    for prediction in tagger.predict(pages):
        page = prediction.page
        own = {lower(name) for name in names_of(page.extra.get(BRAND_OF, ""))}
        there = {
            (field, start, end)
            for field, text in page.fields.items()
            for name, places in mentions.find(lower(text)).items()
            if name in own
            for start, end in places
        }
        tagged: list[Tag] = [tag for tag in tagger.tags_of(prediction) if tag.label == BRAND]
        places = {(tag.field, tag.start, tag.end) for tag in tagged}
        unknown = [tag for tag in tagged if tag.text.casefold() not in listed and not is_listed(tag.text)]
        count["mentions"] += len(there)
        count["found"] += len(there & places)
        count["unknown"] += len(unknown)
        count["right"] += sum((tag.field, tag.start, tag.end) in there for tag in unknown)
    found, right = count["found"] / max(count["mentions"], 1), count["right"] / max(count["unknown"], 1)
    return Check(len(hidden.values), count["mentions"], found, right)
