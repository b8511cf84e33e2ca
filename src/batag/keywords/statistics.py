"""How many pages of a corpus contain each word and phrase: counted in one pass, in bounded memory, in a file that people can
read."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import log
from pathlib import Path

from batag.errors import InputError
from batag.keywords.candidate import Candidates, candidates
from batag.keywords.document import Document
from batag.keywords.kind import Kind
from batag.pages.compression import READ_ERRORS, decompressed
from batag.pages.file import open_file, open_output
from batag.pages.languages import LANGUAGES
from batag.settings import settings

_FORMAT = "batag keyword statistics 1"
_LONGEST_LINE = 4_000


@dataclass
class Language:
    """The counts of one language: pages, words, and the pages of each word and phrase. Rare ones may have been dropped: what is
    not there stood on at most `floor` pages."""

    pages: int = 0
    words: int = 0
    floor: int = 0
    counts: Counter[str] = field(default_factory=Counter)


class Statistics:
    """Document frequencies and lengths by language."""

    def __init__(self) -> None:
        self.languages: dict[str, Language] = {}

    @property
    def pages(self) -> int:
        """The number of pages that were counted."""
        return sum(each.pages for each in self.languages.values())

    @property
    def entries(self) -> int:
        """The number of words and phrases in memory."""
        return sum(len(each.counts) for each in self.languages.values())

    def add(self, document: Document, found: Candidates | None = None) -> None:
        """Count one page; when there are too many entries, the rarest are dropped."""
        language = self.languages.setdefault(document.language, Language())
        language.pages += 1
        language.words += len(document)
        keys = {key for key, kind in zip(document.keys, document.kinds, strict=True) if kind >= Kind.FRONT}
        phrases = candidates(document) if found is None else found
        language.counts.update(keys | {each.key for each in phrases.values()})
        if self.entries > settings.keyword_entries:
            self._prune()

    def fit(self, documents: Iterable[Document]) -> Statistics:
        """Count all pages."""
        for document in documents:
            self.add(document)
        return self

    def document_frequency(self, key: str, *, language: str) -> int:
        """On how many pages a word or phrase stands, at least."""
        known = self.languages.get(language)
        return 0 if known is None else known.counts.get(key, known.floor)

    def idf(self, key: str, *, language: str) -> float:
        """The inverse document frequency ln((N + 1) / (n + 1/2)), always above 0 (Spärck Jones 1972, smoothed)."""
        known = self.languages.get(language)
        if known is None:
            return log(2)
        return log((known.pages + 1) / (known.counts.get(key, known.floor) + 0.5))

    def mean_length(self, language: str) -> float:
        """The mean number of words of a page; 0 without pages."""
        known = self.languages.get(language)
        return known.words / known.pages if known is not None and known.pages else 0.0

    def _prune(self) -> None:
        """Drop the rarest entries until a quarter of the bound is free."""
        bound = settings.keyword_entries - settings.keyword_entries // 4
        while self.entries > bound:
            language = max(self.languages.values(), key=lambda each: len(each.counts))
            language.floor = max(language.floor + 1, min(language.counts.values()))
            language.counts = Counter({key: count for key, count in language.counts.items() if count > language.floor})

    def save(self, path: Path | str) -> None:
        """Write the counts: a line of JSON about each language, then its words and phrases, most frequent first."""
        with open_output(path) as stream:
            text = io.TextIOWrapper(stream, "utf-8", newline="\n", write_through=True)
            for name, each in sorted(self.languages.items()):
                head = {"format": _FORMAT, "language": name, "pages": each.pages, "words": each.words, "floor": each.floor}
                text.write(json.dumps(head | {"entries": len(each.counts)}) + "\n")
                for key, count in sorted(each.counts.items(), key=lambda pair: (-pair[1], pair[0])):
                    text.write(f"{count}\t{key}\n")
            text.detach()

    @classmethod
    def load(cls, path: Path | str) -> Statistics:
        """Read what `save` wrote; anything else is an error that names the line."""
        made = cls()
        lines = _lines(path)
        for where, line in lines:
            name, language, entries = _head(line, where)
            if name in made.languages:
                raise _wrong(where, f"the language {name} is there twice")
            made.languages[name] = language
            if made.entries + entries > settings.keyword_entries:
                more = f"{entries:,} entries are more than keyword_entries ({settings.keyword_entries:,})"
                raise InputError(more, where=where, todo="Raise BATAG_KEYWORD_ENTRIES, or fit again")
            for _ in range(entries):
                where, line = next(lines, (str(path), ""))
                count, tab, key = line.partition("\t")
                if not tab or not key or not count.isdecimal() or not 0 < int(count) <= language.pages:
                    raise _wrong(where, "the file ends early" if not line else f"{line[:40]!r} is not a count and a word")
                language.counts[key] = int(count)
        if not made.languages:
            raise _wrong(str(path), "the file is empty")
        return made


def _lines(path: Path | str) -> Iterator[tuple[str, str]]:
    number = 0
    with open_file(path) as raw:
        stream = decompressed(raw)
        while True:
            where = f"{path}:{number + 1}"
            try:
                line = stream.readline(_LONGEST_LINE)
                text = line.decode()
            except READ_ERRORS as error:
                raise _wrong(where, f"it cannot be read ({error})") from error
            except UnicodeDecodeError as error:
                raise _wrong(where, "it is not UTF-8 text") from error
            if not line:
                return
            if not text.endswith("\n"):
                raise _wrong(where, "a line is cut or too long")
            yield where, text[:-1]
            number += 1


def _head(line: str, where: str) -> tuple[str, Language, int]:
    try:
        head = json.loads(line)
        name, numbers = head["language"], [head[key] for key in ("pages", "words", "floor", "entries")]
        known = head["format"] == _FORMAT and name in LANGUAGES and all(type(each) is int and each >= 0 for each in numbers)
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise _wrong(where, f"{line[:40]!r} is not the head of a language")
    pages, words, floor, entries = numbers
    return name, Language(pages, words, floor), entries


def _wrong(where: str, reason: str) -> InputError:
    return InputError(f"is no file of keyword statistics: {reason}", where=where, todo="Make it with batag keywords fit")
