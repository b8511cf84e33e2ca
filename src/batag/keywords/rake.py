"""RAKE: words that stand in long phrases more often than alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from batag.keywords.candidate import Candidates, noun_runs
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words, sums_of_words


class Rake(Extractor):
    """deg(w) / freq(w) (Rose et al. 2010, section 1.2.2), summed over the words of a phrase; phrases are what stands between
    stop words."""

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        runs = ([document.keys[place] for place in run] for run in noun_runs(document))
        return sums_of_words(document, found, degree_by_frequency(runs))


def degree_by_frequency(phrases: Iterable[Sequence[str]]) -> dict[str, float]:
    """For each word the words of its phrases (itself counted), by its occurrences."""
    degrees: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for phrase in phrases:
        for word in phrase:
            degrees[word] += len(phrase)
            counts[word] += 1
    return {word: degrees[word] / counts[word] for word in counts}
