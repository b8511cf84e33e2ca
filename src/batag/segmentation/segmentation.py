"""Split a page into tokens: cleaning, language detection, segmentation. Tokens have offsets into the cleaned text, which map
back to the original."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from html import unescape
from itertools import islice

from batag.pages.cleaning import DEFAULT_RULES, Cleaner
from batag.pages.languages import LANGUAGES
from batag.pages.offsets import Cleaned, apply_edits
from batag.pages.page import Offsets, Page
from batag.segmentation import build_segmenter
from batag.segmentation.detection import possible_languages
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmenter import Segmenter

_BATCH = 64
_unseen = Cleaner(["controls", "width"])
_without_tags = Cleaner(["html", "urls"])
_MAY_HOLD_TAGS = re.compile("[<&/.]")
SPACE = "▁"
"""Before a word that stands behind a space."""


@dataclass(slots=True)
class TokenizedPage:
    """The tokenized fields of a page in order, and its language; `by_file` says that it is the language of most pages of its
    file."""

    page: Page
    fields: list[TokenizedField]
    language: str
    by_file: bool


@dataclass(slots=True)
class TokenizedField:
    """A tokenized field: offsets of tokens into `cleaned.text`."""

    name: str
    cleaned: Cleaned
    tokens: list[Offsets]
    spaces: bool = False

    @property
    def words(self) -> list[str]:
        """The cleaned text of each token."""
        text = self.cleaned.text
        return [text[start:end] for start, end in self.tokens]

    @property
    def marked_words(self) -> list[str]:
        """The words, with `SPACE` before those that stand behind a space if that is asked for; between words of Latin letters
        spaces say nothing."""
        words = self.words
        if not self.spaces:
            return words
        text, last = self.cleaned.text, 0
        for number, (start, end) in enumerate(self.tokens):
            between = text[last:start] if number else ""
            if between.isspace() and not (text[last - 1].isascii() and text[start].isascii()):
                words[number] = SPACE + words[number]
            last = end
        return words

    @property
    def origins(self) -> list[Offsets]:
        """The offsets of each token in the original text."""
        if not self.cleaned.steps:
            return self.tokens
        return [self.cleaned.to_original(start, end) for start, end in self.tokens]


class Segmentation:
    """How pages are split into tokens: by language (`auto`), with one segmenter for all, or with the pages' own tokens
    (`given`)."""

    def __init__(
        self,
        name: str = "auto",
        *,
        rules: Iterable[str] = DEFAULT_RULES,
        dictionary: Dictionary | None = None,
        spaces: bool = False,
    ) -> None:
        """With `spaces`, words are marked that stand behind a space."""
        self.name = name
        self.spaces = spaces
        self.cleaner = Cleaner(rules)
        self.dictionary = dictionary
        self._width = Cleaner(rule for rule in self.cleaner.rules if rule == "width")
        self._segmenters: dict[str, Segmenter] = {}
        if name not in ("auto", "given"):
            self._segmenter(name)

    def __call__(self, page: Page) -> list[TokenizedField]:
        """The tokenized fields of a page in order. A page with its own tokens keeps them, unless a segmenter was named."""
        return self.tokenize([page])[0].fields

    def many(self, pages: Iterable[Page]) -> Iterator[tuple[Page, list[TokenizedField]]]:
        """Yield each page with its tokenized fields; the same as one by one, but faster."""
        iterator = iter(pages)
        while batch := list(islice(iterator, _BATCH)):
            yield from ((each.page, each.fields) for each in self.tokenize(batch))

    def tokenize(self, pages: Iterable[Page]) -> list[TokenizedPage]:
        """Tokenize all pages at once."""
        results: list[TokenizedPage] = []
        waiting: dict[str, list[TokenizedField]] = {}
        for page in pages:
            given = page.tokens if self.name in ("auto", "given") else None
            fields = []
            language, by_file = settled_language(page)
            queue: list[TokenizedField] | None = None
            for name, text in page.fields.items():
                if given is not None and name in given:
                    fields.append(self._given(name, text, given[name]))
                    continue
                if queue is None:
                    named = self.name if self.name in self._segmenters else LANGUAGES[language].segmenter
                    queue = waiting.setdefault(named, [])
                field = TokenizedField(name, self.cleaner(text), [], self.spaces)
                fields.append(field)
                queue.append(field)
            results.append(TokenizedPage(page, fields, language, by_file))
        for name, queue in waiting.items():
            texts = [field.cleaned.text for field in queue]
            for field, tokens in zip(queue, self._segmenter(name).segment_many(texts), strict=True):
                field.tokens = (
                    list(_without_markup(field.cleaned, tokens)) if self.dictionary and field.cleaned.steps else tokens
                )
        return results

    def _segmenter(self, name: str) -> Segmenter:
        if name not in self._segmenters:
            self._segmenters[name] = build_segmenter(name, dictionary=self.dictionary)
        return self._segmenters[name]

    def _given(self, name: str, text: str, tokens: Iterable[Offsets]) -> TokenizedField:
        """A field with its own tokens; only the width of characters is normalised inside each token, and no token is lost."""
        edits, places, shift = [], [], 0
        for start, end in tokens:
            word = text[start:end]
            folded = self._width(word).text
            if folded != word and folded.strip():
                edits.append((start, end, folded))
            else:
                folded = word
            places.append((start + shift, start + shift + len(folded)))
            shift += len(folded) - len(word)
        cleaned = Cleaned(text, apply_edits(text, edits), [edits] if edits else [])
        return TokenizedField(name, cleaned, places, self.spaces)


def bring_tokens(page: Page, segmentation: Segmentation) -> Page:
    """The page with tokens of its own (offsets into the original), split at the borders of its tags."""
    tokens: dict[str, tuple[Offsets, ...]] = {}
    for field in segmentation(page):
        borders = sorted({border for tag in page.tags if tag.field == field.name for border in (tag.start, tag.end)})
        pieces: list[Offsets] = []
        done = 0
        for start, end in field.origins:
            start = max(start, done)
            for border in borders[bisect_right(borders, start) : bisect_left(borders, end)]:
                pieces.append((start, border))
                start = border
            if start < end:
                pieces.append((start, end))
            done = max(done, end)
        tokens[field.name] = tuple(pieces)
    return replace(page, tokens=tokens)


def language_of(page: Page) -> str:
    """The page's language: as given, as detected or, if several are possible, that of most pages of its file."""
    return settled_language(page)[0]


def settled_language(page: Page) -> tuple[str, bool]:
    """The page's language, and whether it is that of most pages of its file instead of the detected one."""
    first, *others = languages_of(page)
    usual = page.usual_language
    return (usual, True) if usual is not None and usual in others else (first, False)


def languages_of(page: Page) -> tuple[str, ...]:
    """The languages that a page may be in, likeliest first; only one if it is given or clear."""
    if page.language in LANGUAGES:
        return (page.language,)
    text = "\n".join(page.fields.values())
    if _MAY_HOLD_TAGS.search(text):
        text = "\n".join(_without_tags(each).text for each in page.fields.values())
    return possible_languages(text)


def parted(between: str) -> bool:
    """Whether there is more between two tokens than white space, HTML entities for it, or invisible characters."""
    return bool(between.strip()) and bool(_unseen(unescape(between)).text.strip())


def _without_markup(cleaned: Cleaned, tokens: Iterable[Offsets]) -> Iterator[Offsets]:
    """Split dictionary terms (Air Max) again where their space is removed markup (Air<br>Max)."""
    for start, end in tokens:
        for place in range(start + 1, end):
            if cleaned.text[place] == " " and parted(cleaned.original[slice(*cleaned.to_original(place, place + 1))]):
                yield start, place
                start = place + 1
        yield start, end
