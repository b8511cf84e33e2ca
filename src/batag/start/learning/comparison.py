"""Whether learning helped: the base bundle with the shop's lists and the learnt one, on pages that neither was taught."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from batag.pages.formats import read_pages
from batag.pages.page import MODEL, Page, Tag
from batag.pages.problems import Problems
from batag.tagging.tagger import Tagger

_MAY_LOSE = 0.01
"""Made-up pages are not the shop's: so much may be lost on them."""


ENOUGH = 10
"""With so many held-back pages of people, these decide: people may draw borders where lists and made-up pages do not."""


@dataclass(frozen=True)
class Comparison:
    """The share of rows' and lists' labels on held-back pages that each bundle finds by itself, and its F1 on made-up pages and
    on held-back pages that people labelled."""

    pages: int
    found_before: float
    found: float
    made_up_before: float
    made_up: float
    people: int = 0
    people_before: float = 0.0
    people_now: float = 0.0

    @property
    def helped(self) -> bool:
        """Whether the learnt bundle is at least as good as the one before."""
        if self.people_now < self.people_before:
            return False
        kept = self.found >= self.found_before and self.made_up >= self.made_up_before - _MAY_LOSE
        return kept or (self.people >= ENOUGH and self.people_now > self.people_before)

    @property
    def why(self) -> str:
        """Why the learnt bundle is used, or not."""
        if self.helped and self.people >= ENOUGH and self.people_now > self.people_before:
            return "learning gained on the pages that people labelled"
        if self.helped:
            return f"learning made nothing worse (on made-up pages by {100 * _MAY_LOSE:g} point of F1 at most)"
        if self.people_now < self.people_before:
            return "learning lost on the pages that people labelled"
        if self.found < self.found_before:
            return "learning did not find more labels of rows and lists"
        return f"learning lost more than {100 * _MAY_LOSE:g} point of F1 on made-up pages"


def compare(before: Path, learnt: Path, held: Sequence[Page], made_up: Path, *, people: Sequence[Page] = ()) -> Comparison:
    """Tag held-back pages with labels of rows and lists, made-up ones, and held-back ones of people, with both bundles."""
    taggers = [Tagger.load(folder, device="cpu") for folder in (before, learnt)]
    known = list(read_pages(made_up, problems=Problems()))
    found = [_found(tagger, held) for tagger in taggers]
    scores = [_f1(tagger, known) for tagger in taggers]
    theirs = [_f1(tagger, people) for tagger in taggers]
    return Comparison(
        pages=len(held),
        found_before=found[0],
        found=found[1],
        made_up_before=scores[0],
        made_up=scores[1],
        people=len(people),
        people_before=theirs[0],
        people_now=theirs[1],
    )


def _found(tagger: Tagger, pages: Iterable[Page]) -> float:
    """The share of labels that are not the model's own which a tagger finds."""
    there = right = 0
    for page, tags in _tagged(tagger, pages):
        own = _places(tag for tag in page.tags if tag.source != MODEL)
        there += len(own)
        right += len(own & _places(tags))
    return right / max(there, 1)


def _f1(tagger: Tagger, pages: Iterable[Page]) -> float:
    there = right = 0
    for page, tags in _tagged(tagger, pages):
        gold, places = _places(page.tags), _places(tags)
        there += len(gold) + len(places)
        right += 2 * len(gold & places)
    return right / max(there, 1)


def _tagged(tagger: Tagger, pages: Iterable[Page]) -> Iterable[tuple[Page, Sequence[Tag]]]:
    return ((prediction.page, tagger.tags_of(prediction)) for prediction in tagger.predict(pages))


def _places(tags: Iterable[Tag]) -> set[tuple[str, int, int, str]]:
    return {(tag.field, tag.start, tag.end, tag.label) for tag in tags}
