"""Align tags with tokens and back. A token gets the class that covers most of it; tags that do not fit exactly are listed."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from batag.labels.scheme import TokenSpan
from batag.pages.offsets import Cleaned
from batag.pages.page import PERSON, Offsets, Page, Tag
from batag.pages.stopwords import StopWords
from batag.segmentation.segmentation import TokenizedField, parted

Kind = TypeVar("Kind")
Piece = tuple[int, int, Kind, str, range]
"""Start, end, label and normal form of a tag, and the span of tokens that it was made from."""


@dataclass(frozen=True, slots=True)
class Misaligned:
    """A tag whose borders are not token borders, and the text of the tokens that got its class (empty if it was lost)."""

    page: str
    where: str
    tag: Tag
    became: str

    @property
    def lost(self) -> bool:
        return not self.became

    def __str__(self) -> str:
        became = f"became {self.became!r}" if self.became else "is lost: no token lies mostly in it"
        place = f"{self.where or 'page'} (page {self.page})"
        return f"{place}: {self.tag.label} {self.tag.text!r} ({self.tag.field} {self.tag.start}-{self.tag.end}) {became}"


def align(page: Page, field: TokenizedField) -> tuple[list[TokenSpan], list[Misaligned]]:
    """The tags of one field as spans of tokens, in order, and the tags that do not fit exactly."""
    tags = [tag for tag in page.tags if tag.field == field.name]
    if not tags:
        return [], []
    origins = field.origins
    # Counted in what is left after cleaning: an apostrophe is one character, however it was written (&#39;).
    owners = _owners([_in_cleaned(field.cleaned, tag) for tag in tags], field.tokens)
    spans: list[TokenSpan] = []
    misaligned: list[Misaligned] = []
    for number, tag in enumerate(tags):
        tokens = owners.get(number, [])
        text = page[field.name]
        if tokens:
            first, last = tokens[0], tokens[-1]
            spans.append((first, last, tag.label))
            start, end = origins[first][0], origins[last][1]
        else:
            start = end = tag.start
        if (start, end) != _trimmed(text, tag.start, tag.end):
            misaligned.append(Misaligned(page.id, page.where, tag, text[start:end]))
    return spans, misaligned


def _in_cleaned(cleaned: Cleaned, tag: Tag) -> Offsets:
    """The part of the cleaned text that comes from a tag, counting characters that come from it at least by half; empty if
    none."""
    if not cleaned.steps:
        return tag.start, tag.end
    starts, ends = cleaned.origins
    first, last = bisect_right(ends, tag.start), bisect_left(starts, tag.end)
    while first < last and 2 * (ends[first] - tag.start) < ends[first] - starts[first]:
        first += 1
    while first < last and 2 * (tag.end - starts[last - 1]) < ends[last - 1] - starts[last - 1]:
        last -= 1
    return first, last


def _owners(tags: list[Offsets], tokens: list[Offsets]) -> dict[int, list[int]]:
    """The tokens of each tag: a token belongs to the tag that covers most of it, if that is at least half of it."""
    best: dict[int, tuple[int, int]] = {}
    place = 0
    for number, (begin, stop) in enumerate(tags):
        while place and tokens[place - 1][1] > begin:
            place -= 1
        while place < len(tokens) and tokens[place][1] <= begin:
            place += 1
        token = place
        while token < len(tokens) and tokens[token][0] < stop:
            start, end = tokens[token]
            covered = min(end, stop) - max(start, begin)
            if 2 * covered >= end - start and covered > best.get(token, (0, 0))[0]:
                best[token] = covered, number
            token += 1
    owners: dict[int, list[int]] = {}
    for token in sorted(best):
        owners.setdefault(best[token][1], []).append(token)
    return owners


def cut_tags(
    page: Page,
    field: TokenizedField,
    spans: Sequence[TokenSpan],
    *,
    stop_words: StopWords | None = None,
    source: str = PERSON,
) -> Iterator[Tag]:
    """Turn spans of tokens into tags on the original text. Removed markup inside a span ends the tag, tokens within one
    original character are merged, and a span of stop words only is dropped."""
    text = page[field.name]
    for start, end, label, normal, _ in cut_pieces(text, field, spans, stop_words=stop_words):
        yield Tag(field.name, start, end, label, text[start:end], normal=normal, source=source)


def cut_pieces(
    text: str, field: TokenizedField, spans: Sequence[tuple[int, int, Kind]], *, stop_words: StopWords | None = None
) -> list[Piece[Kind]]:
    """Turn spans of tokens into pieces of the original text; the third value of a span is passed through as it is."""
    if field.cleaned.steps:
        return list(_cut_changed(text, field, spans, stop_words))
    tokens, cleaned, done = field.tokens, field.cleaned.text, 0
    pieces: list[Piece[Kind]] = []
    for first, last, label in spans:
        piece = first
        for token in range(first, last + 1):
            end = tokens[token][1]
            if token == last or (end < tokens[token + 1][0] and parted(text[end : tokens[token + 1][0]])):
                start = tokens[piece][0]
                if start < done:  # tokens that came with the page may lie one over the other
                    return list(_cut_changed(text, field, spans, stop_words))
                own, normal = text[start:end], cleaned[start:end]
                if stop_words is None or not (
                    stop_words.only_stop_words(own) or (normal != own and stop_words.only_stop_words(normal))
                ):
                    pieces.append((start, end, label, normal, range(piece, token + 1)))
                piece, done = token + 1, end
    return pieces


def _cut_changed(
    text: str, field: TokenizedField, spans: Iterable[tuple[int, int, Kind]], stop_words: StopWords | None
) -> Iterator[Piece[Kind]]:
    """The same for text whose offsets were changed by cleaning, where tokens may share an original character."""
    origins = field.origins
    done = 0
    for first, last, label in spans:
        piece = first
        for token in range(first, last + 1):
            if token == last or (
                origins[token][1] < origins[token + 1][0] and parted(text[origins[token][1] : origins[token + 1][0]])
            ):
                # Tokens of a character that another tag has taken are not of this one.
                while piece <= token and origins[piece][1] <= done:
                    piece += 1
                start, end = origins[min(piece, token)][0], origins[token][1]
                if start < done:
                    start, end = _trimmed(text, done, end)
                if start < end:
                    own, normal = text[start:end], _normal(field, start, end)
                    if stop_words is None or not (
                        stop_words.only_stop_words(own) or (normal and normal != own and stop_words.only_stop_words(normal))
                    ):
                        yield start, end, label, normal, range(piece, token + 1)
                    done = end
                piece = token + 1


def _normal(field: TokenizedField, start: int, end: int) -> str:
    """The cleaned text that came from a piece of the original."""
    if not field.cleaned.steps:
        return field.cleaned.text[start:end]
    starts, ends = field.cleaned.origins
    return field.cleaned.text[bisect_left(starts, start) : bisect_right(ends, end)].strip()


def _trimmed(text: str, start: int, end: int) -> Offsets:
    """The borders of a tag without white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
