"""The terms of a shop: the lexicon with the shop's synonyms and taxonomy over it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from batag.pages.languages import check_language
from batag.pages.page import Tag
from batag.terms.key import both_keys, match_keys
from batag.terms.lexicon import ANY, BRAND, GOODS, PROMO, Entry, Found, Lexicon, read_lexicon
from batag.terms.mapping import Mapping
from batag.terms.meaning import Meaning, kind_of_label
from batag.terms.scripts import shown_in
from batag.terms.synonyms import Synonyms, read_synonyms
from batag.terms.taxonomy import Taxonomy, read_taxonomy
from batag.terms.voting import Match

SYNONYMS, LEXICON, KEY, STOP = "synonyms", "lexicon", "key", "stop"
_REMEMBERED = 200_000
_Asked = tuple[str, str | None, str | None]


class Terms:
    """Says what tags mean. The lexicon is read when the first tag is asked for; `language` is that of canonical forms."""

    def __init__(self, *, synonyms: Synonyms | None = None, taxonomy: Taxonomy | None = None, language: str = "en") -> None:
        self.synonyms = Synonyms() if synonyms is None else synonyms
        self.taxonomy, self.language = taxonomy, check_language(language)
        self._known: dict[_Asked, tuple[str | None, str | None]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process remembers nothing."""
        return _again, (self.synonyms, self.taxonomy, self.language)

    def digest(self) -> str:
        """A digest of everything that the names of tags depend on besides batag itself."""
        everything = (sorted(self.synonyms.canonical.items()), self.language)
        digest = hashlib.blake2b(repr(everything).encode(errors="replace"), digest_size=16)
        if (taxonomy := self.taxonomy) is not None:
            digest.update(repr((taxonomy.source, taxonomy.version, taxonomy.languages)).encode(errors="replace"))
            for index in (taxonomy.parents, taxonomy.whole, taxonomy.parts):
                digest.update(repr(list(index.items())).encode(errors="replace"))
        return digest.hexdigest()

    @cached_property
    def lexicon(self) -> Lexicon:
        """batag's lexicon."""
        return read_lexicon()

    @cached_property
    def mapping(self) -> Mapping | None:
        """From tags to the categories of the taxonomy."""
        return None if self.taxonomy is None else Mapping(self.taxonomy, self.lexicon)

    @cached_property
    def _own_names(self) -> dict[str, str]:
        """The entries that the shop calls by a canonical form of its own; not if it has two for one entry."""
        found: dict[str, set[str]] = {}
        shown = list(dict.fromkeys(self.synonyms.canonical.values()))
        for canonical, key, close in zip(shown, *both_keys(shown), strict=True):
            entries = {each.entry.id for each in self.lexicon.find(key, close=close) if not each.marked}
            if len(entries) == 1:
                found.setdefault(entries.pop(), set()).add(canonical)
        return {entry: names.pop() for entry, names in found.items() if len(names) == 1}

    def meaning(self, text: str, *, label: str | None = None, language: str | None = None) -> Meaning:
        """What a text means as a tag with this label on a page in this language; both may be unknown."""
        return self.meanings([(text, label, language)])[0]

    def meanings(self, asked: Sequence[_Asked]) -> list[Meaning]:
        """What many texts mean (text, label, language)."""
        texts = [text for text, _, _ in asked]
        return [self._meaning(*each, key, close) for each, key, close in zip(asked, *both_keys(texts), strict=True)]

    def _meaning(self, text: str, label: str | None, language: str | None, key: str, close: str) -> Meaning:
        found = self.lexicon.find(key, close=close) or self.lexicon.find_twice(close)
        kind = kind_of_label(label)
        entry, others = _chosen([each for each in found if each.entry.kind != PROMO], kind=kind, language=language)
        own = self.synonyms.get(key)
        if own is not None:
            canonical, by = own, SYNONYMS
        elif not key or (entry is None and any(each.entry.kind == PROMO for each in found)):
            return Meaning(text, key, None, STOP)
        elif entry is not None:
            canonical, by = self._shown(entry), LEXICON
        else:
            # What may be a brand keeps its s: Vans are no van.
            maybe = any(each.entry.kind == BRAND for each in found) and kind in (BRAND, None)
            canonical, by = shown_in(close if maybe else key, self.language), KEY
        category = None
        if self.mapping is not None and kind in (GOODS, None) and (entry is None or entry.kind == GOODS):
            category = self._category(own, key, entry, exact=kind is None and label is not None)
        return Meaning(text, key, canonical, by, entry, others, category)

    def _shown(self, entry: Entry) -> str:
        """The canonical form of an entry: the shop's own, or its usual name."""
        return self._own_names.get(entry.id) or entry.name(self.language)

    def _category(self, own: str | None, key: str, entry: Entry | None, *, exact: bool) -> Match | None:
        assert self.mapping is not None
        if own is not None and entry is None:
            # A synonym that only the shop knows leads where its canonical form leads.
            (key,) = match_keys([own])
            entry, _ = _chosen([each for each in self.lexicon.find(key) if each.entry.kind == GOODS], kind=GOODS, language=None)
        return self.mapping.find(key, entry=entry, exact=exact)

    def name_tags(self, pages: Iterable[tuple[str | None, Sequence[Tag]]]) -> list[list[Tag]]:
        """The tags of pages (with the language of each) with their canonical form and category."""
        listed = [(language, list(tags)) for language, tags in pages]
        new = dict.fromkeys(
            asked for language, tags in listed for tag in tags if (asked := (tag.text, tag.label, language)) not in self._known
        )
        if len(self._known) + len(new) > _REMEMBERED:
            self._known.clear()
            new = dict.fromkeys((tag.text, tag.label, language) for language, tags in listed for tag in tags)
        for asked, key, close in zip(new, *both_keys([text for text, _, _ in new]), strict=True):
            self._known[asked] = self._name(*asked, key, close)
        return [[self._named(tag, language) for tag in tags] for language, tags in listed]

    def _name(self, text: str, label: str | None, language: str | None, key: str, close: str) -> tuple[str | None, str | None]:
        """The canonical form and the category of a text: at once if it names nothing, or one thing of the label's kind."""
        if key and not self.synonyms:
            kind = kind_of_label(label)
            found = self.lexicon.find(key, close=close) or self.lexicon.find_twice(close)
            if not found or (len(found) == 1 and found[0].entry.kind == kind):
                entry = found[0].entry if found else None
                asked = self.mapping is not None and kind in (GOODS, None)
                match = self.mapping.find(key, entry=entry, exact=kind is None) if asked and self.mapping is not None else None
                shown = shown_in(key, self.language) if entry is None else self._shown(entry)
                return shown, None if match is None else match.id
        meaning = self._meaning(text, label, language, key, close)
        return meaning.canonical, None if meaning.category is None else meaning.category.id

    def _named(self, tag: Tag, language: str | None) -> Tag:
        canonical, category = self._known[tag.text, tag.label, language]
        own = tag.field, tag.start, tag.end, tag.label, tag.text, tag.score, tag.normal, tag.source
        return Tag(*own, canonical, category)


def read_terms(*, synonyms: Path | str | None = None, taxonomy: Path | str | None = None, language: str = "en") -> Terms:
    """The terms with a shop's file of synonyms and a taxonomy that `batag terms import` wrote."""
    return Terms(
        synonyms=None if synonyms is None else read_synonyms(synonyms),
        taxonomy=None if taxonomy is None else read_taxonomy(taxonomy),
        language=language,
    )


def _chosen(found: Sequence[Found], *, kind: str | None, language: str | None) -> tuple[Entry | None, tuple[Entry, ...]]:
    """The entry that is meant, and the others that may be: of the label's kind, a name of that language, no ordinary word."""
    if kind is not None:
        found = [each for each in found if each.entry.kind == kind]
    if len(found) == 1:
        return found[0].entry, ()
    everything = tuple({each.entry.id: each.entry for each in found}.values())
    if len(everything) > 1 and language is not None:
        found = [each for each in found if each.language in (ANY, language)] or found
    if len(everything) > 1:
        found = [each for each in found if not each.marked] or found
    entries = {each.entry.id: each.entry for each in found}
    entry = next(iter(entries.values())) if len(entries) == 1 else None
    return entry, tuple(each for each in everything if each is not entry)


def _again(synonyms: Synonyms, taxonomy: Taxonomy | None, language: str) -> Terms:
    return Terms(synonyms=synonyms, taxonomy=taxonomy, language=language)
