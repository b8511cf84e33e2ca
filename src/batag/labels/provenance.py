"""The sources of a page's tags, and what follows from them: the weights of its tokens in training, and whether it may be used
for evaluation."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from batag.labels.alignment import align
from batag.pages.page import MODEL, PERSON, SOURCES, Page
from batag.segmentation.segmentation import TokenizedField

MADE_UP = "made-up"
"""The mark in `Page.extra` of a made-up page, and what scores on such pages alone are measured by."""


def sources_of(page: Page) -> set[str]:
    """The sources of a page's labels: person if one has reviewed it, else the sources of its tags; model for a page without
    tags."""
    return {PERSON} if page.reviewed else {tag.source for tag in page.tags} or {MODEL}


def unmarked_weight(page: Page, weights: Mapping[str, float]) -> float:
    """The weight of a token without a tag: that of a person on a reviewed page, else the lowest weight among the page's
    sources."""
    machines = sources_of(page) - {PERSON} or {MODEL}
    return weights[PERSON] if page.reviewed else min(weights[source] for source in machines)


def token_weights(page: Page, fields: Sequence[TokenizedField], weights: Mapping[str, float]) -> list[list[float]]:
    """The weight of each token of each field, by the source of its tag."""
    by_source = replace(page, tags=tuple(replace(tag, label=tag.source) for tag in page.tags))
    unmarked = unmarked_weight(page, weights)
    found = []
    for each in fields:
        own = [unmarked] * len(each.tokens)
        for first, last, source in align(by_source, each)[0]:
            own[first : last + 1] = [weights[source]] * (last + 1 - first)
        found.append(own)
    return found


def as_learnt(page: Page, weights: Mapping[str, float]) -> Page:
    """The page, or the page without labels if all its tokens have the weight 0."""
    if not page.labelled or unmarked_weight(page, weights) or any(weights[tag.source] for tag in page.tags):
        return page
    return replace(page, tags=(), labelled=False)


def is_made_up(page: Page) -> bool:
    """Whether nobody sells what the page is about: its text and labels were made by the sample catalogue, not by a person."""
    return page.extra.get(MADE_UP) is True


def measured_by(pages: Collection[Page], *, otherwise: str) -> str:
    """Who labelled the pages that scores are measured on: nobody, if all of them are made up."""
    return MADE_UP if pages and all(map(is_made_up, pages)) else otherwise


@dataclass
class SourceCounts:
    """Counts labelled pages and tags by source, reviewed pages, and made-up pages and their tags, which count as a person's
    too."""

    pages: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    reviewed: int = 0
    made_up: Counter[str] = field(default_factory=Counter)

    def add(self, page: Page) -> None:
        if page.labelled:
            self.pages.update(sources_of(page))
            self.tags.update(tag.source for tag in page.tags)
            self.reviewed += bool(page.reviewed)
            if is_made_up(page):
                self.made_up.update(pages=1, tags=len(page.tags))

    def report(self) -> dict[str, dict[str, int]]:
        """The counts of each source that occurs."""
        found = {name: {"pages": self.pages[name], "tags": self.tags[name]} for name in SOURCES if self.pages[name]}
        if self.made_up["pages"] and PERSON in found:
            found[PERSON] |= {"made_up_pages": self.made_up["pages"], "made_up_tags": self.made_up["tags"]}
        return found


def in_words(sources: Mapping[str, Mapping[str, float]]) -> str:
    """A report of sources as text."""
    return "; ".join(
        f"{name}: {_counted(counts['pages'], 'page')}, {_counted(counts['tags'], 'tag')}"
        + (f", weight {counts['weight']:g}" if counts.get("weight", 1) != 1 else "")
        for name, counts in _apart(sources)
    )


def _apart(sources: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """The sources, with made-up pages apart from those of people."""
    for name, counts in sources.items():
        made_up = {each: counts.get(f"made_up_{each}", 0) for each in ("pages", "tags")}
        if not made_up["pages"]:
            yield name, counts
            continue
        own = {each: counts[each] - made_up[each] for each in made_up}
        if own["pages"]:
            yield name, {**counts, **own}
        yield "made-up pages", {**counts, **made_up}


def _counted(number: float, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Measuring:
    """Selects the pages to evaluate on: those that a person has reviewed or, if there are none, those labelled by machines.

    With `only_people`, machine labels are never used. After all pages were seen, `by` names the source of the labels; the pages
    that were left out are counted.
    """

    def __init__(self, pages: Iterable[Page], *, only_people: bool = False) -> None:
        self._pages, self._only_people = pages, only_people
        self.not_labelled = self.not_reviewed = 0
        self.by = PERSON

    def __iter__(self) -> Iterator[Page]:
        by_people, waiting = self._only_people, list[Page]()
        for page in self._pages:
            if page.reviewed:
                by_people = True
                waiting.clear()
                yield page
            elif page.labelled:
                self.not_reviewed += 1
                if not by_people:
                    waiting.append(page)
            else:
                self.not_labelled += 1
        if waiting:
            found = set().union(*map(sources_of, waiting))
            self.by, self.not_reviewed = ", ".join(name for name in SOURCES if name in found), 0
            yield from waiting
