"""Turn labelled pages into examples (words and labels), one per page or, for a long page, one per window."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from batag.encoders.sequence import join_windows, page_words, windows
from batag.errors import InputError
from batag.evaluation.decoding import Prediction
from batag.features.batches import Floats
from batag.labels.alignment import align
from batag.labels.allowed import tagged_stop_words
from batag.labels.counts import class_counts
from batag.labels.provenance import SourceCounts, token_weights
from batag.labels.scheme import IGNORED, NONE, Scheme, TokenSpan, build_scheme
from batag.pages.page import PERSON, Page
from batag.pages.stopwords import stop_words_by_language
from batag.segmentation.segmentation import Segmentation, TokenizedField, language_of, settled_language


@dataclass(slots=True)
class Example:
    """The words of a page (or window) and their label numbers; -1 is ignored. `weights` are the weights of the tokens (None for
    1), `reviewed` says whether a person has reviewed the page."""

    page: str
    words: list[str]
    labels: list[int]
    weights: list[float] | None = None
    reviewed: bool = True


class LabelledPage(NamedTuple):
    """A page as words: for each field its first word, number of words and spans; the weights of the words, and whether a person
    has reviewed it."""

    id: str
    words: list[str]
    fields: list[tuple[int, int, list[TokenSpan]]]
    weights: list[float] | None
    reviewed: bool


@dataclass
class LabelledWords:
    """Pages as words and spans, before classes have numbers, with their statistics."""

    pages: list[LabelledPage] = field(default_factory=list)
    class_tokens: Counter[str] = field(default_factory=Counter)
    class_tags: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    languages_by_file: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    sources: SourceCounts = field(default_factory=SourceCounts)
    not_labelled: int = 0
    tags: int = 0
    misaligned: int = 0
    lost: int = 0
    of_stop_words: int = 0
    allowed: set[str] = field(default_factory=set)

    def statistics(self) -> dict[str, Any]:
        """The statistics of these pages as a JSON object."""
        return {
            "pages": len(self.pages),
            "reviewed": self.sources.reviewed,
            "sources": self.sources.report(),
            "not_labelled": self.not_labelled,
            "tokens": sum(self.class_tokens.values()),
            "tags": self.tags,
            "tags_misaligned": self.misaligned,
            "tags_lost": self.lost,
            "tags_of_stop_words": self.of_stop_words,
            "languages": dict(self.languages.most_common()),
            "fields": dict(self.fields.most_common()),
            "languages_by_file": dict((+self.languages_by_file).most_common()),
            "classes": class_counts(self.class_tokens),
            "class_tags": dict(self.class_tags),
        }


def repeated(pages: LabelledWords, *, of: LabelledWords) -> int:
    """How many of the pages have exactly the words of a page in `of`."""
    there = {hash(tuple(page.words)) for page in of.pages}
    return sum(1 for page in pages.pages if page.words and hash(tuple(page.words)) in there)


def label_words(
    pages: Iterable[Page], segmentation: Segmentation, *, weights: Mapping[str, float] | None = None
) -> LabelledWords:
    """Tokenize the labelled pages; the others are only counted. With `weights`, tokens are weighted by the source of their
    labels, and labels with the weight 0 are left out."""
    found = LabelledWords()
    known: dict[str, str] = {}
    rules = stop_words_by_language()
    for page, fields in segmentation.many(pages):
        if not page.labelled:
            found.not_labelled += 1
            continue
        words, starts = page_words(fields)
        language, by_file = settled_language(page)
        of_fields = []
        counted = _weights(page, fields, weights)
        counting = page if weights is None else replace(page, tags=tuple(tag for tag in page.tags if weights[tag.source]))
        for number, (each, start) in enumerate(zip(fields, starts, strict=True)):
            spans, misaligned = align(page, each)
            taught = [span for span in spans if counted is None or counted[number][span[0]]]
            found.allowed.update(tagged_stop_words(counting, each, taught, rules[language]))
            of_fields.append((start, len(each.tokens), spans))
            found.fields[each.name] += 1
            found.misaligned += len(misaligned)
            found.lost += sum(item.lost for item in misaligned)
            tagged = Counter[str]()
            for first, last, name in taught:
                tagged[name] += last + 1 - first
                found.class_tags[name] += 1
            found.class_tokens += tagged
            tokens = len(each.tokens) if counted is None else sum(map(bool, counted[number]))
            found.class_tokens[NONE] += tokens - tagged.total()
        found.tags += len(page.tags)
        found.of_stop_words += sum(rules[language].only_stop_words(tag.text) for tag in page.tags)
        found.languages[language] += 1
        found.languages_by_file[language] += by_file
        found.sources.add(page)
        # Each distinct word is held once, however many pages have it.
        own = [known.setdefault(word, word) for word in words]
        found.pages.append(LabelledPage(page.id, own, of_fields, _of_words(counted, starts, len(own)), bool(page.reviewed)))
    return found


def _weights(page: Page, fields: Sequence[TokenizedField], weights: Mapping[str, float] | None) -> list[list[float]] | None:
    """The token weights of each field; None if all are 1, as labels of people are by default."""
    if weights is None or (page.reviewed and weights[PERSON] == 1):
        return None
    found = token_weights(page, fields, weights)
    return None if all(weight == 1 for each in found for weight in each) else found


def _of_words(counted: list[list[float]] | None, starts: Sequence[int], length: int) -> list[float] | None:
    """The weights of fields as weights of a page's words."""
    if counted is None:
        return None
    found = [1.0] * length
    for start, each in zip(starts, counted, strict=True):
        found[start : start + len(each)] = each
    return found


def choose_scheme(name: str, train: LabelledWords, *, known: Sequence[str] = (), where: str) -> Scheme:
    """The label scheme of the training pages; `known` classes keep their numbers."""
    if not train.pages:
        todo = "Label some (see docs/labelling.md)" if train.not_labelled else "It has no page that can be read"
        raise InputError("no labelled page to learn from", where=where, todo=todo)
    if not set(train.class_tokens) - {NONE}:
        raise InputError("no tag on any page, so there is nothing to learn", where=where, todo="See docs/labelling.md")
    found = build_scheme(name, train.class_tokens)
    return Scheme(name, tuple(dict.fromkeys((*known, *found.classes))))


def make_examples(found: LabelledWords, scheme: Scheme, *, window: int, overlap: int) -> list[Example]:
    """Examples in the order of the pages; tokens of a class that the scheme does not have are ignored."""
    classes = set(scheme.classes)
    examples = []
    for page, words, of_fields, weights, reviewed in found.pages:
        labels = [IGNORED] * len(words)
        for start, length, spans in of_fields:
            inside = scheme.encode((span for span in spans if span[2] in classes), length=length)
            for first, last, name in spans:
                if name not in classes:
                    inside[first : last + 1] = [IGNORED] * (last + 1 - first)
            labels[start : start + length] = inside
        if weights is not None:
            labels = [label if weight else IGNORED for label, weight in zip(labels, weights, strict=True)]
        for view in windows(len(words), size=window, overlap=overlap):
            own = [IGNORED] * (view.first - view.start) + labels[view.first : view.last] + [IGNORED] * (view.stop - view.last)
            counts = None if weights is None else weights[view.start : view.stop]
            examples.append(Example(page, words[view.start : view.stop], own, counts, reviewed))
    return examples


def label_counts(examples: Iterable[Example], labels: int) -> list[int]:
    """The number of tokens of each label, N_1..N_C."""
    counts = Counter(label for example in examples for label in example.labels)
    return [counts[label] for label in range(labels)]


@dataclass
class Dev:
    """Labelled pages, and their examples (one per page or window)."""

    pages: list[Page] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is a token that can be scored."""
        return any(label >= 0 for example in self.examples for label in example.labels)

    def fewest_tags(self, scheme: Scheme) -> int:
        """The number of tags of the rarest class."""
        counts = Counter(tag.label for page in self.pages for tag in page.tags)
        return min(counts[name] for name in scheme.classes)

    def predictions(
        self, found: Iterable[Floats], segmentation: Segmentation, *, window: int, overlap: int, labels: int
    ) -> Iterator[Prediction]:
        """Yield each page with the probabilities of its examples, as a tagger predicts it."""
        answers = iter(found)
        for page, fields in segmentation.many(self.pages):
            words, starts = page_words(fields)
            seen = [(view, next(answers)) for view in windows(len(words), size=window, overlap=overlap)]
            whole = join_windows(seen, labels=labels)
            parts = [whole[start : start + len(each.tokens)] for each, start in zip(fields, starts, strict=True)]
            yield Prediction(page, fields, parts, language_of(page))
