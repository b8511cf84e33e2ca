"""The interface of extractors: the phrases of a page with scores, best first. Every phrase is a span of the original text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from batag.keywords.candidate import Candidate, Candidates, candidates
from batag.keywords.document import Document, documents
from batag.keywords.statistics import Statistics
from batag.pages.languages import LANGUAGES
from batag.pages.page import MODEL, Page, Tag
from batag.pages.stopwords import fold
from batag.segmentation.segmentation import Segmentation

LABEL = "keyword"
"""The label of a keyword that is written as a tag."""
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keyword:
    """A phrase of a page: its text where it first stands, its score, and all its places (field, start, end)."""

    text: str
    score: float
    places: tuple[tuple[str, int, int], ...]

    def tags(self, page: Page) -> Iterator[Tag]:
        """The keyword as tags, one for each place."""
        for field, start, end in self.places:
            yield Tag(field, start, end, LABEL, page[field][start:end], score=self.score, source=MODEL)


class Extractor(ABC):
    """Ranks the phrases of pages. A subclass gives the score of each phrase (`scores`)."""

    def __init__(self, *, statistics: Statistics | None = None, segmentation: Segmentation | None = None) -> None:
        self.statistics = statistics if statistics is not None else Statistics()
        self.segmentation = segmentation if segmentation is not None else Segmentation()

    uses_statistics = False
    """Whether the scores depend on the statistics of a corpus."""

    @abstractmethod
    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        """The score of each phrase, higher is better; phrases without a score are no keywords."""

    def extract(self, page: Page, *, top: int = 10) -> list[Keyword]:
        """The best keywords of a page, best first."""
        return next(self.extract_many([page], top=top))[1]

    def extract_many(self, pages: Iterable[Page], *, top: int = 10) -> Iterator[tuple[Page, list[Keyword]]]:
        """Yield each page with its best keywords."""
        for document in documents(pages, self.segmentation):
            yield document.page, self.rank(document, top=top)

    def rank(self, document: Document, *, top: int = 10) -> list[Keyword]:
        """The best keywords of a document, best first; of equal ones, the one that stands first. Phrases with the same text
        count once."""
        found = candidates(document)
        scored = self.scores(document, found)
        order = sorted(scored, key=lambda words: (-scored[words], found[words].occurrences[0]))
        kept: dict[str, Keyword] = {}
        for words in order:
            if len(kept) == top:
                break
            first = found[words].occurrences[0]
            text = document.text_of(*first)
            kept.setdefault(fold(text), Keyword(text, scored[words], tuple(_places(document, found[words]))))
        return list(kept.values())


def sums_of_words(document: Document, found: Candidates, of_word: Mapping[str, float]) -> dict[Words, float]:
    """The score of each phrase by those of its words: the sum over whole runs where words have spaces between them. Chinese and
    Japanese words are pieces of phrases of any length; there it is the mean, times the number of occurrences."""
    if LANGUAGES[document.language].spaces:
        whole = (each for each in found.values() if each.stands_alone)
        return {each.words: sum(of_word.get(word, 0.0) for word in each.words) for each in whole}
    return {
        each.words: len(each.occurrences) * sum(of_word.get(word, 0.0) for word in each.words) / len(each.words)
        for each in found.values()
    }


def _places(document: Document, candidate: Candidate) -> Iterator[tuple[str, int, int]]:
    for first, last in candidate.occurrences:
        yield document.fields[first], document.origins[first][0], document.origins[last][1]
