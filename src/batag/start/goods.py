"""The kinds of goods that the lexicon names on a page: they set the borders of the model's tags, and name what it misses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from batag.evaluation.decoding import Prediction
from batag.labels.alignment import cut_tags
from batag.labels.weak import Terms
from batag.pages.check import overlaps
from batag.pages.page import TERMS, Tag
from batag.segmentation.segmentation import TokenizedField
from batag.terms.key import both_keys
from batag.terms.lexicon import GOODS, read_lexicon

SCORE = 0.6
"""The share of the lexicon's goods in titles that are right where the model has no tag."""
_NOT_SOLD = re.compile(
    r"(?:送|贈|赠|附|加購|加购|搭配|適用|适用|專用|专用|相容|対応|特典|おまけ|付属|\bfor|\bwith|\bfits?|\bfree|\bgift)[^|｜/／【】★,，。]{0,12}$",
    re.IGNORECASE,
)
"""What stands before a gift, or before the thing that a part fits."""


@cache
def _names(*, marked: bool) -> Terms:
    """The names of goods in all languages, with or without those that are ordinary words too."""
    names = (
        text
        for entry in read_lexicon().entries
        if entry.kind == GOODS
        for language, own in entry.names.items()
        for text in own
        if len(text) > 1 and (marked or (language, text) not in entry.marked)
    )
    return Terms({GOODS: names})


@lru_cache(100_000)
def is_named(text: str) -> bool:
    """Whether the lexicon has goods of this name."""
    (key,), (close,) = both_keys([text])
    return any(found.entry.kind == GOODS for found in read_lexicon().find(key, close=close))


def _named(prediction: Prediction, field: TokenizedField, *, marked: bool) -> list[Tag]:
    """The lexicon's goods in a field."""
    spans = [span for span, _ in _names(marked=marked).spans(field, language=prediction.language)]
    return list(cut_tags(prediction.page, field, spans, source=TERMS))


def bordered(prediction: Prediction, tags: Sequence[Tag]) -> list[Tag]:
    """The tags; on a Chinese page with goods cut to the longest name of the lexicon that they end with: 多功能電烤盤 is 電烤盤
    with an attribute, unless the lexicon has it whole. Several names with spaces between are several tags."""
    if not prediction.language.startswith("zh"):
        return list(tags)
    goods = [tag for tag in tags if tag.label == GOODS]
    made = [tag for tag in tags if tag.label != GOODS]
    for field in prediction.fields:
        if own := [tag for tag in goods if tag.field == field.name]:
            named = _named(prediction, field, marked=True)
            made += [cut for tag in own for cut in _cut(tag, named)]
    return made


def _cut(tag: Tag, named: Sequence[Tag]) -> Iterator[Tag]:
    inside = [each for each in named if tag.start <= each.start and each.end <= tag.end]
    if not any(each.end == tag.end for each in inside):
        yield tag
    else:
        for each in inside if any(map(str.isspace, tag.text)) else inside[-1:]:
            yield replace(tag, start=each.start, end=each.end, text=each.text, normal=each.normal)


def of_title(prediction: Prediction, tags: Sequence[Tag]) -> list[Tag]:
    """The lexicon's goods in the first field where no tag is, except gifts and what a part fits."""
    if not prediction.fields:
        return []
    title, taken = prediction.fields[0], overlaps(tags)
    found = (tag for tag in _named(prediction, title, marked=False) if not taken(tag))
    return [replace(tag, score=SCORE) for tag in found if is_sold(tag, prediction.page[title.name])]


def is_sold(tag: Tag, text: str) -> bool:
    """Whether goods in a field are what the page sells: no gift, and not the thing that a part fits."""
    return not _NOT_SOLD.search(text[max(0, tag.start - 20) : tag.start])
