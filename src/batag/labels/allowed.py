"""Tags of the training pages that consist of stop words and small numbers only: 12 oz, Pack of 6, One A Day."""

from collections.abc import Iterator, Sequence

from batag.labels.alignment import cut_pieces
from batag.labels.scheme import TokenSpan
from batag.pages.page import Page
from batag.pages.stopwords import StopWords, outline
from batag.segmentation.segmentation import TokenizedField


def tagged_stop_words(page: Page, field: TokenizedField, spans: Sequence[TokenSpan], rule: StopWords) -> Iterator[str]:
    """The tags of one field that the stop words would forbid, in outline form, as labelled and as their tokens give them."""
    text = page[field.name]
    written = {tag.text for tag in page.tags if tag.field == field.name}
    for start, end, _, normal, _ in cut_pieces(text, field, spans):
        written |= {text[start:end], normal}
    for each in sorted(written):
        if rule.only_stop_words(each) and (kept := outline(each)):
            yield kept
