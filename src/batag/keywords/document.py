"""A page as extractors see it: its words with sentence, block and kind, and the places of each in the original text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from batag.keywords.english import singular
from batag.keywords.kind import Kind, kind_of
from batag.pages.page import Offsets, Page
from batag.pages.stopwords import fold
from batag.segmentation.segmentation import Segmentation, TokenizedPage, parted
from batag.segmentation.speech import has_han_or_kana

_WORD = re.compile(r"[^\W_]")
_SENTENCE_END = frozenset(".!?。！？｡…")
_FULL_STOP = "。"
_BATCH = 64


@dataclass(slots=True)
class Document:
    """The words of a page in order; all lists are of the same length. Words of one block stand side by side, with no
    punctuation, line break or markup between them."""

    page: Page
    language: str
    fields: list[str] = field(default_factory=list)
    origins: list[Offsets] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.keys)

    def runs(self) -> Iterator[range]:
        """The blocks, as ranges of words."""
        start = 0
        for place in range(1, len(self) + 1):
            if place == len(self) or self.blocks[place] != self.blocks[start]:
                yield range(start, place)
                start = place

    def text_of(self, first: int, last: int) -> str:
        """The original text from one word to another."""
        return self.page[self.fields[first]][self.origins[first][0] : self.origins[last][1]]


def documents(pages: Iterable[Page], segmentation: Segmentation) -> Iterator[Document]:
    """Yield the document of each page. Tokens that came with a page are often single characters and do not count, unless the
    segmentation is `given`."""
    own = segmentation.name == "given"
    iterator = iter(pages)
    while batch := list(islice(iterator, _BATCH)):
        bare = [page if own or page.tokens is None else replace(page, tokens=None) for page in batch]
        yield from map(_document, batch, segmentation.tokenize(bare))


def _document(page: Page, tokenized: TokenizedPage) -> Document:
    language = tokenized.language
    document = Document(page, language)
    block = sentence = 0
    for each in tokenized.fields:
        original, done = page[each.name], 0
        listed = _FULL_STOP not in original
        for word, (start, end) in zip(each.words, each.origins, strict=True):
            gap = original[done:start] if done < start else ""
            spaced = listed and bool(gap) and _is_between_words(original, done, start)
            if done and gap and (("\n" in gap) or (gap != " " and parted(gap)) or spaced):
                block += 1
                sentence += "\n" in gap
            if start < done or _WORD.search(word) is None:
                # Punctuation, or a second word of one original character.
                block += 1
                sentence += word in _SENTENCE_END
            else:
                key = _key(word, language)
                document.fields.append(each.name)
                document.origins.append((start, end))
                document.texts.append(word)
                document.keys.append(key)
                document.kinds.append(kind_of(fold(word), language=language))
                document.sentences.append(sentence)
                document.blocks.append(block)
            done = max(done, end)
        block += 1
        sentence += 1
    return document


def _is_between_words(original: str, end: int, start: int) -> bool:
    """Whether the gap is a space between Chinese or Japanese characters. In a title it parts phrases; in a sentence it stands
    inside foreign names."""
    return original[end:start].isspace() and has_han_or_kana(original[end - 1]) and has_han_or_kana(original[start])


@lru_cache(1 << 17)
def _key(word: str, language: str) -> str:
    folded = fold(word)
    return singular(folded) if language == "en" else folded
