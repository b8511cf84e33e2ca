"""Weak labels: mark the terms of lists (brands, categories, search words) wherever they occur on pages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from batag.labels.alignment import cut_tags
from batag.labels.scheme import TokenSpan
from batag.pages.check import overlaps
from batag.pages.cleaning import Cleaner
from batag.pages.mentions import lower
from batag.pages.page import TERMS, Offsets, Page, Tag
from batag.segmentation.segmentation import Segmentation, TokenizedField, language_of, parted
from batag.segmentation.variants import simplified_only, traditional_only

_fold_width, _fold_spaces = Cleaner(["width"]), Cleaner(["spaces"])


class Terms:
    """Terms with their labels, matched in any case, width and Chinese script, with any apostrophe and white space. A term in
    two lists gets the label of the first."""

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        self.labels: dict[str, str] = {}
        self.in_two_lists: list[tuple[str, str]] = []
        self._forms: dict[str, dict[str, str]] = {}
        for label, terms in lists.items():
            for written in terms:
                # As written too: the cleaning rule for width may be switched off.
                folded, plain = (" ".join(_fold(form).split()) for form in (_fold_width(written).text, written))
                if folded and self.labels.setdefault(folded, label) != label:
                    self.in_two_lists.append((folded, label))
                elif folded:
                    for form in (folded, plain):
                        self._forms.setdefault(_simplified(form), {})[form] = folded
        self._simplified = list(self._forms)
        self._matcher: Any = None

    def __len__(self) -> int:
        return len(self.labels)

    def spans(self, tokenized: TokenizedField, *, language: str) -> Iterator[tuple[TokenSpan, str]]:
        """Find terms in a field, longest first, from token border to token border; yields the span and the term."""
        if not self._simplified:
            return
        if self._matcher is None:
            from ahocorasick_rs import AhoCorasick, MatchKind

            self._matcher = AhoCorasick(self._simplified, matchkind=MatchKind.Standard)
        starts = {start: number for number, (start, _) in enumerate(tokenized.tokens)}
        ends = {end: number for number, (_, end) in enumerate(tokenized.tokens)}
        origins = tokenized.origins
        seen = _fold_spaces(_fold(tokenized.cleaned.text))
        fitting = []
        for which, start, end in self._matcher.find_matches_as_indexes(_simplified(seen.text), overlapping=True):
            low, high = seen.to_original(start, end)
            if low in starts and high in ends and _whole(tokenized, origins, starts[low], ends[high]):
                term = self._term(self._simplified[which], seen.text[start:end], language)
                if term is not None:
                    fitting.append((start - end, starts[low], ends[high], term))
        taken: set[int] = set()
        found = []
        for _, first, last, term in sorted(fitting):
            if taken.isdisjoint(range(first, last + 1)):
                taken.update(range(first, last + 1))
                found.append(((first, last, self.labels[term]), term))
        yield from sorted(found)

    def _term(self, simplified: str, seen: str, language: str) -> str | None:
        """The term with the spelling found on the page, or else one in the other Chinese script."""
        forms = self._forms[simplified]
        others = (term for form, term in forms.items() if _of_other_script(form, seen, language))
        return forms.get(seen) or next(others, None)


@dataclass
class Marking:
    """Adds tags with the source `terms` to pages wherever terms occur, and counts them."""

    terms: Terms
    segmentation: Segmentation = field(default_factory=Segmentation)
    pages: int = 0
    left_alone: int = 0
    marked_before: int = 0
    without: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)

    def __call__(self, pages: Iterable[Page]) -> Iterator[Page]:
        """Yield each page with its new tags. Reviewed pages and pages without a term are unchanged; other tags of a page are
        kept."""
        for page, fields in self.segmentation.many(pages):
            self.pages += 1
            before = page.tags
            if page.reviewed:
                self.left_alone += 1
                yield page
                continue
            self.marked_before += bool(before)
            tags: list[Tag] = []
            language = language_of(page)
            for tokenized in fields:
                matches = list(self.terms.spans(tokenized, language=language))
                self.found.update(term for _, term in matches)
                tags += cut_tags(page, tokenized, [span for span, _ in matches], source=TERMS)
            overlap = overlaps(before)
            tags = [tag for tag in tags if not overlap(tag)]
            self.tags.update(tag.label for tag in tags)
            self.without += not (tags or before)
            both = sorted((*before, *tags), key=lambda tag: (list(page.fields).index(tag.field), tag.start))
            yield replace(page, tags=tuple(both)) if tags else page

    def report(self) -> dict[str, Any]:
        """The counts: for each label its terms, how many of them were found, and the tags they made."""
        labels = list(dict.fromkeys(self.terms.labels.values()))
        terms = Counter(self.terms.labels.values())
        seen = Counter(self.terms.labels[term] for term in self.found)
        rows = {label: {"terms": terms[label], "found": seen[label], "tags": self.tags[label]} for label in labels}
        pages = {"pages": self.pages, "labelled_by_people": self.left_alone, "marked_before": self.marked_before}
        pages["without_terms"] = self.without
        return pages | {"labels": rows, "in_two_lists": len(self.terms.in_two_lists)}


def _fold(text: str) -> str:
    """The text in lower case with straight apostrophes; offsets stay the same."""
    return lower(text).replace("\u2019", "'")


def _simplified(text: str) -> str:
    if text.isascii():
        return text
    # Here, because the segmenter of Chinese comes with it.
    from batag.segmentation.chinese import simplify

    return simplify(text)


def _of_other_script(term: str, seen: str, language: str) -> bool:
    """Whether a term and the text differ only by Chinese script. Never in Japanese, where 机 is not 機; and outside Simplified
    pages not by a character that both scripts use (the term 錶, and 尺寸表 on the page)."""
    if language == "ja":
        return False
    others = (other for own, other in zip(term, seen, strict=True) if own != other)
    return language == "zh-Hans" or all(other in traditional_only() or other in simplified_only() for other in others)


def _whole(field: TokenizedField, origins: Sequence[Offsets], first: int, last: int) -> bool:
    """Whether tokens are one continuous piece of the original: not across removed markup (`New</b> <i>Balance`), and not a part
    of one character (2 in ½)."""
    text = field.cleaned.original
    shared = (0 < after < len(origins) and origins[after - 1][1] > origins[after][0] for after in (first, last + 1))
    return not any(shared) and not any(parted(text[origins[n][1] : origins[n + 1][0]]) for n in range(first, last))
