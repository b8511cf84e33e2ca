"""BM25: TF-IDF whose counts saturate and are measured against the length of the page."""

from collections import Counter
from collections.abc import Mapping
from math import log1p

from batag.keywords.candidate import Candidates
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words, sums_of_words

K1, B = 1.2, 0.75


class Bm25(Extractor):
    """The weight of a word in a page (Robertson and Zaragoza 2009, equation 3.15), with ln(1 + (N - n + 1/2) / (n + 1/2)) as
    idf, which is never negative; summed over the words of a phrase."""

    uses_statistics = True

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        counts = Counter(document.keys)
        known = self.statistics.languages.get(document.language)
        pages = known.pages if known is not None else 0
        mean = self.statistics.mean_length(document.language) or len(document)
        damping = K1 * (1 - B + B * len(document) / mean) if mean else K1
        weights = {}
        for key, tf in counts.items():
            n = self.statistics.document_frequency(key, language=document.language)
            weights[key] = tf * (K1 + 1) / (tf + damping) * log1p((max(pages - n, 0) + 0.5) / (n + 0.5))
        return sums_of_words(document, found, weights)
