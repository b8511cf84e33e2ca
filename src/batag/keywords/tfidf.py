"""TF-IDF: how often a word stands on the page, and on how few pages of the corpus."""

from collections import Counter
from collections.abc import Mapping

from batag.keywords.candidate import Candidates
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words, sums_of_words


class Tfidf(Extractor):
    """tf(w) · idf(w) (Spärck Jones 1972; Salton and Buckley 1988), summed over the words of a phrase."""

    uses_statistics = True

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        counts = Counter(document.keys)
        idf = {key: self.statistics.idf(key, language=document.language) for key in counts}
        return sums_of_words(document, found, {key: count * idf[key] for key, count in counts.items()})
