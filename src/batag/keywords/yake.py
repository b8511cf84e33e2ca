"""YAKE: words by case, place, frequency, neighbours and spread over the page; no corpus is needed."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log, prod, sqrt
from statistics import median

from batag.keywords.candidate import Candidate, Candidates, words_of_longer
from batag.keywords.document import Document
from batag.keywords.extractor import Extractor, Words
from batag.keywords.kind import Kind
from batag.pages.languages import LANGUAGES


@dataclass(slots=True)
class _Term:
    count: int = 0
    upper: int = 0
    capital: int = 0
    sentences: dict[int, None] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)


class Yake(Extractor):
    """S(kw) = Π S(t) / (TF(kw) (1 + Σ S(t))) (Campos et al. 2020, equation 7), turned round as 1 / (1 + S).

    Phrases are whole runs of nouns instead of all n-grams; in place of the paper's de-duplication, an English word that also
    stands inside a longer phrase is none by itself."""

    def scores(self, document: Document, found: Candidates) -> Mapping[Words, float]:
        of_term = term_scores(document)
        inside = words_of_longer(found) if LANGUAGES[document.language].spaces else frozenset()
        return {
            each.words: 1 / (1 + phrase_score(each, of_term))
            for each in found.values()
            if each.stands_alone and not (len(each.words) == 1 and each.words[0] in inside)
        }


def phrase_score(candidate: Candidate, of_term: Mapping[str, float]) -> float:
    """S(kw) of a phrase by the S(t) of its words; lower is better."""
    own = [of_term[word] for word in candidate.words]
    return prod(own) / (len(candidate.occurrences) * (1 + sum(own)))


def term_scores(document: Document) -> dict[str, float]:
    """S(t) = T_rel T_pos / (T_case + (TF_norm + T_sent) / T_rel) of each word (Campos et al. 2020, equation 6); lower is
    better."""
    terms = _terms(document)
    # In the order of the page: a sum in the order of a set would differ from process to process in its last digit.
    content = (key for key, kind in zip(document.keys, document.kinds, strict=True) if kind is not Kind.BREAK)
    counts = [terms[key].count for key in dict.fromkeys(content)]
    mean = sum(counts) / len(counts) if counts else 1.0
    deviation = sqrt(sum((count - mean) ** 2 for count in counts) / len(counts)) if counts else 0.0
    most = max((term.count for term in terms.values()), default=1)
    sentences = len(set(document.sentences)) or 1
    scores = {}
    for key, term in terms.items():
        case = max(term.upper, term.capital) / (1 + log(term.count))
        place = log(log(3 + median(term.sentences)))
        frequency = term.count / (mean + deviation)
        relatedness = 1 + (_variety(term.left) + _variety(term.right)) * term.count / most
        spread = len(term.sentences) / sentences
        scores[key] = relatedness * place / (case + (frequency + spread) / relatedness)
    return scores


def _terms(document: Document) -> dict[str, _Term]:
    terms: dict[str, _Term] = defaultdict(_Term)
    before: int | None = None
    begun = -1
    for place, key in enumerate(document.keys):
        text, sentence = document.texts[place], document.sentences[place]
        term = terms[key]
        term.count += 1
        term.sentences[sentence] = None
        if text.isupper() and len(text) > 1:
            term.upper += 1
        elif text[:1].isupper() and sentence == begun:
            term.capital += 1
        begun = sentence
        if before is not None and document.blocks[before] == document.blocks[place]:
            term.left[document.keys[before]] += 1
            terms[document.keys[before]].right[key] += 1
        before = place
    return terms


def _variety(neighbours: Counter[str]) -> float:
    """The share of different neighbours on one side: a word with many is a function word."""
    return len(neighbours) / neighbours.total() if neighbours else 0.0
