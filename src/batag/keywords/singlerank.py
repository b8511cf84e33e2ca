"""SingleRank: TextRank with a wide window and counted neighbours."""

from collections.abc import Mapping

from batag.keywords.candidate import Candidates
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words, sums_of_words
from batag.keywords.graph import word_importance


class Singlerank(Extractor):
    """PageRank on the graph of words within 10 of each other, weighted by how often (Wan and Xiao 2008, section 3.2), summed
    over the words of a phrase."""

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        return sums_of_words(document, found, word_importance(document, window=10, weighted=True))
