"""Inspect labelled pages before training: counts, rare classes, misaligned tags, inconsistent labels, leaks between splits."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from batag.labels.alignment import align
from batag.labels.counts import class_counts, ratio
from batag.labels.provenance import SourceCounts
from batag.labels.scheme import NONE
from batag.pages.duplicates import Groups, fingerprint, text_hash
from batag.pages.page import Page
from batag.pages.splitting import SPLITS
from batag.pages.stopwords import fold
from batag.segmentation.segmentation import Segmentation, TokenizedField, settled_language
from batag.settings import settings

LISTED = 200
"""Maximum number of findings of each kind that are listed; all are counted."""


@dataclass
class FieldLengths:
    """Lengths of one field."""

    pages: int = 0
    characters: int = 0
    tokens: int = 0
    longest: int = 0


@dataclass
class SplitStatistics:
    """The counts of one split."""

    pages: int = 0
    labelled: int = 0
    sources: SourceCounts = field(default_factory=SourceCounts)
    untagged: int = 0
    fields: dict[str, FieldLengths] = field(default_factory=lambda: defaultdict(FieldLengths))
    languages: Counter[str] = field(default_factory=Counter)
    languages_by_file: Counter[str] = field(default_factory=Counter)
    shops: Counter[str] = field(default_factory=Counter)
    class_tokens: Counter[str] = field(default_factory=Counter)
    class_tags: Counter[str] = field(default_factory=Counter)
    class_texts: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    tokens: int = 0
    unknown: int = 0
    unknown_tagged: Counter[str] = field(default_factory=Counter)
    unseen_tags: Counter[str] = field(default_factory=Counter)
    touching: int = 0
    texts: set[int] = field(default_factory=set)
    duplicates: int = 0


class Inspection:
    """Inspects pages as they are added; add the pages of train before those of dev and test."""

    def __init__(self, segmentation: Segmentation | None = None) -> None:
        self.segmentation = segmentation or Segmentation()
        self.splits: dict[str, SplitStatistics] = {}
        self.misaligned: list[str] = []
        self.misaligned_tags = 0
        self.lost_tags = 0
        self.disagreements: list[dict[str, Any]] = []
        self.disagreeing_pages = 0
        self.leaks: list[dict[str, Any]] = []
        self.leaking = Counter[str]()
        self.nearly_leaking = Counter[str]()
        self._words: set[str] = set()
        self._tag_texts: set[tuple[str, str]] = set()
        self._classes_of: dict[str, Counter[str]] = defaultdict(Counter)
        self._seen: dict[int, tuple[int, str, str]] = {}
        self._groups = Groups()
        self._places: list[tuple[str, str, str, int]] = []

    def add(self, pages: Iterable[Page], *, split: str = "train") -> None:
        """Inspect the pages of one split (train, dev or test)."""
        counts = self.splits.setdefault(split, SplitStatistics())
        for page, fields in self.segmentation.many(pages):
            self._count(page, fields, counts, split)
            self._compare(page, counts, split)

    def _count(self, page: Page, fields: list[TokenizedField], counts: SplitStatistics, split: str) -> None:
        counts.pages += 1
        counts.labelled += page.labelled
        counts.sources.add(page)
        counts.untagged += page.labelled and not page.tags
        language, by_file = settled_language(page)
        counts.languages[language] += 1
        counts.languages_by_file[language] += by_file
        if page.shop:
            counts.shops[page.shop] += 1
        for each in fields:
            words = each.words
            lengths = counts.fields[each.name]
            lengths.pages += 1
            lengths.characters += len(each.cleaned.original)
            lengths.tokens += len(words)
            lengths.longest = max(lengths.longest, len(words))
            counts.tokens += len(words)
            classes = self._align(page, each, counts)
            for word, name in zip(words, classes, strict=True):
                counts.class_tokens[name] += page.labelled
                if split == "train":
                    self._words.add(word)
                elif word not in self._words:
                    counts.unknown += 1
                    counts.unknown_tagged[name] += page.labelled
        self._note_tags(page, counts, split)

    def _align(self, page: Page, each: TokenizedField, counts: SplitStatistics) -> list[str]:
        spans, misaligned = align(page, each)
        self.misaligned_tags += len(misaligned)
        self.lost_tags += sum(1 for item in misaligned if item.lost)
        self.misaligned += map(str, misaligned[: max(LISTED - len(self.misaligned), 0)])
        classes = [NONE] * len(each.tokens)
        end, before = -1, ""
        for first, last, name in spans:
            classes[first : last + 1] = [name] * (last + 1 - first)
            counts.touching += first == end + 1 and name == before
            end, before = last, name
        return classes

    def _note_tags(self, page: Page, counts: SplitStatistics, split: str) -> None:
        for tag in page.tags:
            text = fold(tag.text)
            counts.class_tags[tag.label] += 1
            counts.class_texts[tag.label].add(text_hash(text))
            self._classes_of[text][tag.label] += 1
            if split == "train":
                self._tag_texts.add((tag.label, text))
            elif (tag.label, text) not in self._tag_texts:
                counts.unseen_tags[tag.label] += 1

    def _compare(self, page: Page, counts: SplitStatistics, split: str) -> None:
        """Compare a page with earlier pages of the same text: in which split they are, and whether their labels differ."""
        text = fingerprint(page)
        self._groups.add(text)
        key = text_hash(text)
        self._places.append((split, page.id, page.where, key))
        counts.duplicates += key in counts.texts
        counts.texts.add(key)
        if not page.labelled:
            return
        marks = "; ".join(f"{tag.label}={fold(tag.text)}" for tag in page.tags)
        signature, other_id, other_place = self._seen.setdefault(key, (text_hash(marks), page.id, page.where))
        if signature != text_hash(marks):
            self.disagreeing_pages += 1
            if len(self.disagreements) < LISTED:
                earlier = f"{other_place} (page {other_id})"
                self.disagreements.append({"where": page.where, "page": page.id, "earlier": earlier, "tags": marks})

    def _find_leaks(self) -> None:
        """Find pages whose text, or nearly the same text, is in an earlier split."""
        self.leaks, self.leaking, self.nearly_leaking = [], Counter(), Counter()
        if len(self.splits) < 2:
            return
        first_alike: dict[int, tuple[str, str]] = {}
        first_same: dict[int, tuple[str, str]] = {}
        for group, (split, page, where, key) in zip(self._groups.of(), self._places, strict=True):
            alike, same = first_alike.setdefault(group, (split, where)), first_same.setdefault(key, (split, where))
            near = same[0] == split
            earlier, place = alike if near else same
            if SPLITS.index(earlier) >= SPLITS.index(split):
                continue
            (self.nearly_leaking if near else self.leaking)[split] += 1
            if len(self.leaks) < LISTED:
                self.leaks.append({"split": split, "page": page, "where": where, "near": near, "also": f"{earlier}: {place}"})

    def ambiguous(self, most: int = LISTED) -> list[tuple[str, dict[str, int]]]:
        """The texts of tags with several classes, most frequent first."""
        several = [(text, counts) for text, counts in self._classes_of.items() if len(counts) > 1]
        several.sort(key=lambda item: (-item[1].total(), item[0]))
        return [(text, dict(counts.most_common())) for text, counts in several[:most]]

    def report(self) -> dict[str, Any]:
        """All findings as a JSON object."""
        self._find_leaks()
        ambiguous = sum(1 for counts in self._classes_of.values() if len(counts) > 1)
        texts = [{"text": text, "classes": counts} for text, counts in self.ambiguous()]
        leaks = (self.leaking + self.nearly_leaking).total()
        return {
            "splits": {name: self._split_report(name, counts) for name, counts in self.splits.items()},
            "misaligned": {"tags": self.misaligned_tags, "lost": self.lost_tags}
            | _listed(self.misaligned, self.misaligned_tags),
            "disagreements": {"pages": self.disagreeing_pages} | _listed(self.disagreements, self.disagreeing_pages),
            "ambiguous_tags": {"texts": ambiguous} | _listed(texts, ambiguous),
            "leaks": {"pages": dict(self.leaking), "near_pages": dict(self.nearly_leaking)} | _listed(self.leaks, leaks),
        }

    def _split_report(self, name: str, counts: SplitStatistics) -> dict[str, Any]:
        tokens = class_counts(counts.class_tokens)
        report: dict[str, Any] = {
            "pages": counts.pages,
            "labelled_pages": counts.labelled,
            "labelled_pages_without_tags": counts.untagged,
            "reviewed_pages": counts.sources.reviewed,
            "sources": counts.sources.report(),
            "languages": dict(counts.languages.most_common()),
            "languages_by_file": dict((+counts.languages_by_file).most_common()),
            "shops": dict(counts.shops.most_common()),
            "fields": {
                each: {
                    "pages": lengths.pages,
                    "characters_per_page": round(lengths.characters / lengths.pages, 1),
                    "tokens_per_page": round(lengths.tokens / lengths.pages, 1),
                    "longest_in_tokens": lengths.longest,
                }
                for each, lengths in counts.fields.items()
            },
            "tokens": counts.tokens,
            "tokens_per_page": round(counts.tokens / counts.pages, 1) if counts.pages else 0.0,
            "ratio": ratio(tokens),
            "classes": {
                each: {
                    "tokens": number,
                    "tags": counts.class_tags[each],
                    "distinct_texts": len(counts.class_texts.get(each, ())),
                }
                for each, number in (tokens | {each: tokens.get(each, 0) for each in counts.class_tags}).items()
            },
            "rare_classes": sorted(each for each, number in counts.class_tags.items() if number < settings.rare_class_tags),
            "touching_tags": counts.touching,
            "duplicate_pages": counts.duplicates,
        }
        if name != "train" and "train" in self.splits:
            tagged = {each: number for each, number in tokens.items() if number}
            report["unknown_words"] = {
                "fraction": _fraction(counts.unknown, counts.tokens),
                "by_class": {each: _fraction(counts.unknown_tagged[each], number) for each, number in tagged.items()},
                "unseen_tags": {each: _fraction(counts.unseen_tags[each], n) for each, n in counts.class_tags.items()},
            }
        return report


def _listed(found: list[Any], number: int) -> dict[str, Any]:
    """The first findings, and the number of the others."""
    return {"listed": found, "not_listed": number - len(found)}


def _fraction(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
