"""Who set the tags of a page, and what follows: how much its tokens count in training, and whether it may measure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from batag.labels.alignment import align
from batag.pages.page import MODEL, PERSON, SOURCES, Page
from batag.segmentation.segmentation import TokenizedField


def sources_of(page: Page) -> set[str]:
    """Whose labels a labelled page has: a person's if one has seen it, else those of its tags; a page on which nothing was
    found is a model's."""
    return {PERSON} if page.reviewed else {tag.source for tag in page.tags} or {MODEL}


def unmarked_weight(page: Page, weights: Mapping[str, float]) -> float:
    """How much a token without a tag counts: "none" by a person, or by the machine on the page that counts least."""
    machines = sources_of(page) - {PERSON} or {MODEL}
    return weights[PERSON] if page.reviewed else min(weights[source] for source in machines)


def token_weights(page: Page, fields: Sequence[TokenizedField], weights: Mapping[str, float]) -> list[list[float]]:
    """How much each token of each field counts: as much as who set its tag."""
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
    """The page as it is or, if nothing on it counts, as one without labels."""
    if not page.labelled or unmarked_weight(page, weights) or any(weights[tag.source] for tag in page.tags):
        return page
    return replace(page, tags=(), labelled=False)


@dataclass
class SourceCounts:
    """Labelled pages and tags of each source, and how many pages a person has seen."""

    pages: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    reviewed: int = 0

    def add(self, page: Page) -> None:
        if page.labelled:
            self.pages.update(sources_of(page))
            self.tags.update(tag.source for tag in page.tags)
            self.reviewed += bool(page.reviewed)

    def report(self) -> dict[str, dict[str, int]]:
        """Of each source that there is."""
        return {name: {"pages": self.pages[name], "tags": self.tags[name]} for name in SOURCES if self.pages[name]}


def in_words(sources: Mapping[str, Mapping[str, float]]) -> str:
    """A report of sources as people read it."""
    return "; ".join(
        f"{name}: {_counted(counts['pages'], 'page')}, {_counted(counts['tags'], 'tag')}"
        + (f", each token counts {counts['weight']:g}" if counts.get("weight", 1) != 1 else "")
        for name, counts in sources.items()
    )


def _counted(number: float, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Measuring:
    """Of pages as they come, those to measure by: what people have seen or, if there is none at all, what machines labelled.

    With `only_people` machines never measure. `by` says whose labels these are when all have come; how many others there were
    is counted.
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
