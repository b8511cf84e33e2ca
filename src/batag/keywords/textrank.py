"""TextRank: words are important if important words stand beside them."""

from collections.abc import Mapping

from batag.keywords.candidate import Candidates
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words, sums_of_words
from batag.keywords.graph import word_importance


class Textrank(Extractor):
    """PageRank on the graph of neighbouring words, without weights (Mihalcea and Tarau 2004: window 2, damping 0.85), summed
    over the words of a phrase."""

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        return sums_of_words(document, found, word_importance(document, window=2, weighted=False))
