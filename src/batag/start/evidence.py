"""What a row and the shop's lists say about a page: its own brand in its own text, and listed terms."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from batag.evaluation.decoding import Prediction
from batag.labels.alignment import cut_tags
from batag.labels.scheme import TokenSpan
from batag.labels.weak import Terms
from batag.pages.check import overlaps
from batag.pages.page import COLUMN, MODEL, PERSON, TERMS, Page, Tag
from batag.segmentation.segmentation import TokenizedField
from batag.start import goods
from batag.start.cells import in_cell, tag_in_cell, tag_of_cell
from batag.start.lists import BRAND, GOODS, Lists, Term, is_frequent
from batag.start.names import NamesByValue, is_listed, is_ordinary, listed_names
from batag.start.survey import cell_text

OWN_SCORE, TERM_SCORE = 0.95, 0.8
"""The share of tags that are right: of a row's own brand in its own text, and of a listed term."""

DOUBTFUL = 0.75
"""Below it, a tag that only the model has is dropped on a page where lists have others of its label."""


Texts = tuple[tuple[str, str], ...]
"""The fields of a page with their texts."""


class Evidence:
    """Adds to the tags of a page those that its row and the lists speak for.

    The row's own brand in its own text wins over what the model says there. A listed term is added where the model has no tag,
    and wins over a shorter one. The lexicon's goods set the borders of the model's on Chinese pages, and name what it leaves
    out in titles. A page that a person has labelled has that person's tags.
    """

    def __init__(
        self,
        terms: Iterable[Term],
        *,
        column: str | None,
        allowed: Iterable[str] | None = None,
        people: Mapping[Texts, tuple[Tag, ...]] | None = None,
        shaping: bool = True,
    ) -> None:
        """`column` is the key of a row's brand in `Page.extra`; `allowed` are the names of a person's list, or None; `people`
        are the tags of labelled pages by their texts. Without `shaping` the model's tags stay as they are: it has learnt from
        people which borders and goods they want."""
        self._shaping = shaping
        self._people = dict(people or {})
        self._listed, self._column = tuple(terms), column
        self._allowed = None if allowed is None else frozenset(allowed)
        self._names = NamesByValue(self._allowed)
        lists: dict[str, list[str]] = {}
        for term in self._listed:
            lists.setdefault(term.label, []).append(term.text)
        self._terms = Terms({label: lists[label] for label in sorted(lists, key=lambda label: label != BRAND)})
        unsure = [term for term in self._listed if not term.sure]
        self._unsure = {folded for term in unsure for folded in _folded(term.text)}
        words = [term for term in unsure if is_ordinary(term.text)]
        self._capitals = {term.text for term in words if term.text.isupper() and term.text.isalpha() and is_frequent(term)}
        self._with_capital = {folded for term in words if _has_capital(term.text) for folded in _folded(term.text)}
        self._folded: dict[str, frozenset[str]] = {}

    @classmethod
    def of(cls, lists: Lists, *, column: str | None, people: Iterable[Page] = (), shaping: bool = True) -> Evidence:
        """The evidence of lists and of pages that people labelled."""
        found = [term for term in lists.terms if term.pages or term.source == "lexicon"]
        said = {texts_of(page): tuple(_of_person(tag, page) for tag in page.tags) for page in people}
        return cls(found, column=column, allowed=lists.allowed(BRAND), people=said, shaping=shaping)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._listed, self._column, self._allowed, self._people, self._shaping)

    def digest(self) -> str:
        """A digest of all that its tags depend on."""
        everything = [(term.text, term.label, term.sure) for term in self._listed]
        people = [
            (texts, [(tag.field, tag.start, tag.end, tag.label) for tag in self._people[texts]]) for texts in self._people
        ]
        known = repr((everything, self._column, sorted(self._allowed or ()), sorted(people), self._shaping))
        return hashlib.blake2b(known.encode(errors="replace"), digest_size=16).hexdigest()

    def key(self, page: Page) -> Hashable:
        """What the tags of a page depend on besides its text."""
        return self._value(page)

    def __call__(self, prediction: Prediction, tags: Sequence[Tag]) -> list[Tag]:
        """The tags of a page with those of the evidence, in order of position."""
        if self._people and (said := self._people.get(texts_of(prediction.page))) is not None:
            return [tag_of_cell(tag, prediction.page[tag.field]) for tag in said]
        page, mine = prediction.page, self._own(self._value(prediction.page))
        own: list[Tag] = []
        listed: list[Tag] = []
        for tokenized in prediction.fields:
            case = _Case(tokenized.cleaned.text)
            for span, term in self._terms.spans(tokenized, language=prediction.language):
                is_own = span[2] == BRAND and term in mine
                if term in self._unsure and not self._is_named(term, tokenized, span, case, is_own=is_own):
                    continue
                source, score = (COLUMN, OWN_SCORE) if is_own else (TERMS, TERM_SCORE)
                made = [replace(tag, score=score) for tag in cut_tags(page, tokenized, [span], source=source)]
                (own if is_own else listed).extend(tag for tag in made if _is_meant(tag, page))
        of_row = overlaps(own)
        kept = [tag for tag in (goods.bordered(prediction, tags) if self._shaping else tags) if not of_row(tag)]
        known = {(tag.field, tag.start, tag.end, tag.label): tag for tag in kept}
        added = [tag for tag in listed if (tag.field, tag.start, tag.end, tag.label) not in known]
        # A longer tag of the model says more than the term inside it: 三門冰箱 and 冰箱.
        added = [tag for tag in added if not any(_beats(other, tag) for other in kept if _meet(other, tag))]
        of_lists = overlaps(added)
        all_of_them = [*(tag for tag in kept if not of_lists(tag)), *own, *added]
        if self._shaping:
            all_of_them += goods.of_title(prediction, all_of_them)
            all_of_them = _without_doubtful(all_of_them)
        order = {field.name: number for number, field in enumerate(prediction.fields)}
        return sorted(all_of_them, key=lambda tag: (order[tag.field], tag.start))

    def _is_named(self, term: str, field: TokenizedField, span: TokenSpan, case: _Case, *, is_own: bool) -> bool:
        """Whether an unsure name is a brand here. On a row of the brand it is, but not an ordinary word in lower case beside
        capitals (the dawn of Dawn). On others it is if it stands in capitals as the brand's name does (a battery for HP)."""
        written = field.cleaned.text[field.tokens[span[0]][0] : field.tokens[span[1]][1]]
        if is_own:
            return not (written.islower() and term in self._with_capital and case.capitals)
        return written in self._capitals and case.capitals - len(written) <= case.small

    def _value(self, page: Page) -> str:
        return "" if self._column is None else cell_text(page.extra.get(self._column))

    def _own(self, value: str) -> frozenset[str]:
        """The names of a row's own brand as `Terms` folds them."""
        if value not in self._folded:
            if len(self._folded) > 100_000:
                self._folded.clear()
            self._folded[value] = frozenset(Terms({BRAND: self._names(value)}).labels) if value else frozenset()
        return self._folded[value]


class _Case:
    """How many capital and small letters a text has, counted when it is first asked."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def capitals(self) -> int:
        return sum(each.isupper() for each in self._text)

    @cached_property
    def small(self) -> int:
        return sum(each.islower() for each in self._text)


def _is_meant(tag: Tag, page: Page) -> bool:
    return tag.label != GOODS or goods.is_sold(tag, page[tag.field])


def _folded(name: str) -> Iterable[str]:
    """A brand's name as `Terms` folds it."""
    return Terms({BRAND: [name]}).labels


def _has_capital(name: str) -> bool:
    """Whether a brand is never written in lower case, as vivo is."""
    return not any(each.islower() for each in (name, *listed_names(name)))


def texts_of(page: Page) -> Texts:
    """What tells a page from others, whatever its id and line ends."""
    return tuple(sorted((name, in_cell(text)) for name, text in page.fields.items() if text))


def _of_person(tag: Tag, page: Page) -> Tag:
    """A person's tag as a catalogue has it, at its place in the text as Excel gives it back."""
    return replace(tag_in_cell(tag, page[tag.field]), score=1.0, source=PERSON)


def _without_doubtful(tags: Sequence[Tag]) -> list[Tag]:
    """The tags without those that only the model has and is not sure of, on a page with a listed one of the same label: a page
    has few brands and kinds of goods."""
    named = {tag.label for tag in tags if tag.source != MODEL or _is_listed(tag)}
    return [
        tag
        for tag in tags
        if tag.source != MODEL or tag.label not in named or (tag.score or 0.0) >= DOUBTFUL or _is_listed(tag)
    ]


def _is_listed(tag: Tag) -> bool:
    """Whether the lexicon has the tag's text."""
    if tag.label == BRAND:
        return is_listed(tag.text)
    return tag.label != GOODS or goods.is_named(tag.text)


def _meet(one: Tag, other: Tag) -> bool:
    return one.field == other.field and one.start < other.end and other.start < one.end


def _beats(model: Tag, listed: Tag) -> bool:
    """Whether a tag of the model is kept where a listed term overlaps it."""
    if listed.label == BRAND:
        return model.end - model.start > listed.end - listed.start and (model.score or 0.0) >= TERM_SCORE
    return True


def _again(
    terms: tuple[Term, ...],
    column: str | None,
    allowed: frozenset[str] | None,
    people: dict[Texts, tuple[Tag, ...]],
    shaping: bool,
) -> Evidence:
    return Evidence(terms, column=column, allowed=allowed, people=people, shaping=shaping)
