"""Propose synonyms from tagged pages, each with its evidence, for a person to accept."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from batag.terms.forms import Form
from batag.terms.key import match_key
from batag.terms.lexicon import BRAND
from batag.terms.meaning import kind_of_label
from batag.terms.voting import NAME, SYNONYM

COLUMN, PAGES, SPELLING, CATEGORY = "column", "pages", "spelling", "category"
_MOST_IN_GROUP = 6
_LEAST_PAGES = 2
_SHARE = 0.8
_TOGETHER = 0.6
_LEAST_TOGETHER = 3
_SPELT = 6
_LONGEST_SPELT = 60
_CJK = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_NO_NAME = re.compile("[,，、;；=\n\r]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why two forms may be the same."""

    kind: str
    words: str


@dataclass(frozen=True)
class Proposal:
    """Forms of one label that may be the same thing, the most frequent first."""

    label: str
    texts: tuple[str, ...]
    counts: tuple[int, ...]
    evidence: tuple[Evidence, ...]


Pair = tuple[Form, Form, Evidence]


def propose(forms: Mapping[tuple[str, str], Form]) -> list[Proposal]:
    """Proposals of merges, those with most tags first. No form is in two of them."""
    by_label: dict[str, list[Form]] = defaultdict(list)
    for form in forms.values():
        if not _NO_NAME.search(form.text):
            by_label[form.label].append(form)
    proposals: list[Proposal] = []
    taken: set[str] = set()
    for label, own in by_label.items():
        pairs = [*_by_column(own), *_together(own), *_by_spelling(own), *_by_category(own)]
        for group, evidence in _joined(pairs):
            group = [form for form in group if match_key(form.text) not in taken]
            keys = {match_key(form.text): form for form in reversed(group)}
            if len(keys) > 1:
                taken |= keys.keys()
                shown = sorted(keys.values(), key=lambda form: (-form.count, form.text))
                texts = tuple(form.text for form in shown)
                proposals.append(Proposal(label, texts, tuple(form.count for form in shown), tuple(evidence)))
    return sorted(proposals, key=lambda each: (-sum(each.counts), each.texts))


def _by_column(forms: Iterable[Form]) -> Iterator[Pair]:
    """Forms that stand beside the same value of a column nearly always, as 日立 and HITACHI beside the brand HITACHI."""
    beside: dict[tuple[str, str], list[Form]] = defaultdict(list)
    for form in forms:
        for column, values in form.values.items():
            value, number = values.most_common(1)[0]
            if number >= _LEAST_PAGES and number >= _SHARE * values.total():
                beside[column, value].append(form)
    for (column, value), own in beside.items():
        if 1 < len(own) <= _MOST_IN_GROUP:
            words = f"the column {column} says {value!r} on the pages of both"
            yield from ((one, other, Evidence(COLUMN, words)) for one, other in pairwise(own))


def _together(forms: list[Form]) -> Iterator[Pair]:
    """Brands in two scripts that stand on the same pages."""
    brands = [form for form in forms if kind_of_label(form.label) == BRAND and len(form.pages) >= _LEAST_TOGETHER]
    on_page: dict[int, list[Form]] = defaultdict(list)
    for form in brands:
        for page in form.pages:
            on_page[page].append(form)
    seen: set[tuple[int, int]] = set()
    for own in on_page.values():
        for one, other in combinations(own[:_MOST_IN_GROUP], 2):
            if (id(one), id(other)) in seen or bool(_CJK.search(one.text)) == bool(_CJK.search(other.text)):
                continue
            seen.add((id(one), id(other)))
            both, all_pages = len(one.pages & other.pages), len(one.pages | other.pages)
            if both >= _LEAST_TOGETHER and both >= _TOGETHER * all_pages:
                yield one, other, Evidence(PAGES, f"{both} of {all_pages} pages have both")


def _by_spelling(forms: list[Form]) -> Iterator[Pair]:
    """Long words in letters that differ in one, but not in a digit."""
    near: dict[str, list[Form]] = defaultdict(list)
    for form in forms:
        key = form.meaning.key
        if _SPELT <= len(key) <= _LONGEST_SPELT and not re.search("[0-9\u3400-\u9fff]", key):
            for place in range(len(key)):
                near[key[:place] + "\0" + key[place + 1 :]].append(form)  # one letter is another
                near[key[:place] + key[place + 1 :]].append(form)  # one letter is missing
            near[key].append(form)
    seen: set[tuple[int, int]] = set()
    for own in near.values():
        for one, other in pairwise(own[:_MOST_IN_GROUP]):
            if (
                one is not other and (id(one), id(other)) not in seen and one.meaning.entry is None
            ) or other.meaning.entry is None:
                if one is other or (id(one), id(other)) in seen:
                    continue
                seen.add((id(one), id(other)))
                yield one, other, Evidence(SPELLING, f"{one.meaning.key!r} and {other.meaning.key!r} differ in one letter")


def _by_category(forms: list[Form]) -> Iterator[Pair]:
    """Forms that are names of one category."""
    named: dict[str, list[Form]] = defaultdict(list)
    for form in forms:
        match = form.meaning.category
        if match is not None and match.by in (NAME, SYNONYM):
            named[match.id].append(form)
    for category, own in named.items():
        if 1 < len(own) <= _MOST_IN_GROUP:
            yield from (
                (one, other, Evidence(CATEGORY, f"both are names of the category {category}")) for one, other in pairwise(own)
            )


def _joined(pairs: Iterable[Pair]) -> Iterator[tuple[list[Form], list[Evidence]]]:
    """Groups of forms that pairs connect, with all evidence."""
    group_of: dict[int, int] = {}
    groups: dict[int, tuple[dict[int, Form], list[Evidence]]] = {}
    for one, other, evidence in pairs:
        first = group_of.setdefault(id(one), id(one))
        groups.setdefault(first, ({id(one): one}, []))
        second = group_of.setdefault(id(other), id(other))
        groups.setdefault(second, ({id(other): other}, []))
        if first != second:
            forms, before = groups.pop(second)
            groups[first][0].update(forms)
            groups[first][1].extend(before)
            group_of.update(dict.fromkeys(forms, first))
        groups[first][1].append(evidence)
    for forms, found in groups.values():
        yield list(forms.values()), list(dict.fromkeys(found))


def as_file(proposals: Iterable[Proposal], *, source: str) -> str:
    """The proposals as a file of synonyms with the evidence in comments."""
    lines = [
        f"# Synonyms that batag proposes for {' '.join(source.split())}. Nothing reads it until a person has accepted it:",
        "# delete the lines that are wrong, put the name to show first, and save it as synonyms.txt (batag tag --synonyms).",
    ]
    for each in proposals:
        tags = ", ".join(f"{text} {count:,}" for text, count in zip(each.texts, each.counts, strict=True))
        lines += ["", f"# {' '.join(each.label.split())}: {tags} tags", *(f"# {evidence.words}" for evidence in each.evidence)]
        lines.append(f"{each.texts[0]} = {', '.join(each.texts[1:])}")
    return "\n".join([*lines, ""])
