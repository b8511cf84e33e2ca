"""Tags to tokens and back. A token takes the class that covers most of it; every tag that does not fit is listed."""

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
"""Start, end, label and normal form of a tag, and the tokens that it was cut from."""


@dataclass(frozen=True, slots=True)
class Misaligned:
    """A tag whose borders are not borders of tokens, and the text of the tokens that took its class (empty: lost)."""

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
    """The tags of one field as spans of tokens, in order, and those that do not fit exactly."""
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
    """The characters of the cleaned text that come from a tag, by at least half of each; none if nothing is left of it."""
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
    """The tokens of each tag: a token belongs to the tag that covers most of it, if that is at least half."""
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
    """Spans of tokens as tags on the original text; removed markup inside a span ends the tag, tokens of one character join,
    and a stop word is no tag by itself."""
    text = page[field.name]
    for start, end, label, normal, _ in cut_pieces(text, field, spans, stop_words=stop_words):
        yield Tag(field.name, start, end, label, text[start:end], normal=normal, source=source)


def cut_pieces(
    text: str, field: TokenizedField, spans: Sequence[tuple[int, int, Kind]], *, stop_words: StopWords | None = None
) -> list[Piece[Kind]]:
    """The same before they are tags; what stands in the place of the label stays as it is."""
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
                    stop_words.stands_alone(own) or (normal != own and stop_words.stands_alone(normal))
                ):
                    pieces.append((start, end, label, normal, range(piece, token + 1)))
                piece, done = token + 1, end
    return pieces


def _cut_changed(
    text: str, field: TokenizedField, spans: Iterable[tuple[int, int, Kind]], stop_words: StopWords | None
) -> Iterator[Piece[Kind]]:
    """Where cleaning moved offsets, so that tokens may share a character of the original."""
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
                        stop_words.stands_alone(own) or (normal and normal != own and stop_words.stands_alone(normal))
                    ):
                        yield start, end, label, normal, range(piece, token + 1)
                    done = end
                piece = token + 1


def _normal(field: TokenizedField, start: int, end: int) -> str:
    """The cleaned form of a piece of the original: all that came from it."""
    if not field.cleaned.steps:
        return field.cleaned.text[start:end]
    starts, ends = field.cleaned.origins
    return field.cleaned.text[bisect_left(starts, start) : bisect_right(ends, end)].strip()


def _trimmed(text: str, start: int, end: int) -> Offsets:
    """A tag's borders without the white space at its ends, which no token holds."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
