"""Stop words, which cannot be a tag by themselves: one list per language, and the user's own. A text that was tagged on
training pages is allowed all the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from batag.errors import InputError, UsageError
from batag.pages.languages import LANGUAGES

_REMEMBERED = 65_536
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})  # not Lm: a line of ー is a decoration
_CORE = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)
# Three digits or more, but not in a price such as 1,980 or 1234.50.
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MODEL = re.compile(r"(?<!\d)(?<!\d[.,])\d{3,}(?!\d|[.,]\d)")


def stop_words(language: str | None, *, more: Iterable[str | Path] = ()) -> frozenset[str]:
    """The stop words of one language (None for all), folded, and `more`: a str is a word, a `Path` a file of words."""
    if language is not None and language not in LANGUAGES:
        raise UsageError(f"no stop words for the language {language!r}", todo=f"Use one of {', '.join(LANGUAGES)}")
    listed, own = _listed(language), stop_words_of(more)
    return listed | own if own else listed


def stop_words_by_language(*, more: Iterable[str | Path] = (), allowed: Iterable[str] = ()) -> dict[str, StopWords]:
    """The `StopWords` of each language: its list, the user's own words (`more`), and texts that may be tags all the same
    (`allowed`)."""
    own, kept = stop_words_of(more), frozenset(allowed)
    return {each: StopWords(stop_words(each) | own, allowed=kept, own=own) for each in LANGUAGES}


def stop_words_of(more: Iterable[str | Path]) -> frozenset[str]:
    """The user's own stop words, folded: a str is a word, a `Path` a file of words."""
    words: frozenset[str] = frozenset()
    for item in (more,) if isinstance(more, str) else more:
        words |= _folded(read_words(item) if isinstance(item, Path) else (item,))
    return words


def read_words(path: Path) -> list[str]:
    """The words of a UTF-8 file, one per line; blank lines and lines that start with # are ignored."""
    try:
        return _parse(path.read_bytes(), name=str(path))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path), todo="Name a text file of words") from error


def fold(text: str) -> str:
    """The form in which words are compared: NFKC, lower case, straight apostrophes, single spaces."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.replace("\u2019", "'").split())


def outline(text: str) -> str:
    """A folded text with every number replaced by 0, so that 12 oz and 8.5 oz are equal."""
    return _NUMBER.sub("0", fold(text))


@dataclass(frozen=True)
class StopWords:
    """Decides whether a text may be a tag.

    Texts in `allowed` (in outline form) may be tags, unless they contain one of the user's `own` stop words.
    """

    words: frozenset[str]
    allowed: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    _judged: Callable[[str], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", _folded(self.words))
        object.__setattr__(self, "own", _folded(self.own))
        # The same few texts are tags of very many pages.
        object.__setattr__(self, "_judged", lru_cache(_REMEMBERED)(self._judge))

    def only_stop_words(self, text: str) -> bool:
        """Whether `text` consists of stop words only: each piece between spaces is a stop word or has no letter.

        Numbers of one or two digits, prices and percentages cannot be tags; three digits or more may be a model (501). Text is
        not segmented: 免運 特價 consists of stop words, 免運特價 and 50ml do not unless they are in the list.
        """
        return self._judged(text)

    def _judge(self, text: str) -> bool:
        folded = fold(text)
        if not _holds(self.words, folded) and any(
            _may_be_a_name(piece) and not _holds(self.words, piece) for piece in folded.split()
        ):
            return False
        return outline(text) not in self.allowed or any(_holds(self.own, piece) for piece in (folded, *folded.split()))


def _holds(words: frozenset[str], piece: str) -> bool:
    core = _CORE.search(piece)
    return piece in words or (core is not None and core[0] in words)


def _may_be_a_name(piece: str) -> bool:
    kinds = set(map(unicodedata.category, piece))
    priced = "Sc" in kinds or "%" in piece
    return bool(kinds & _LETTERS) or (not priced and _MODEL.search(piece) is not None)


@cache
def _listed(language: str | None) -> frozenset[str]:
    if language is None:
        return frozenset().union(*map(_listed, LANGUAGES))
    if (listed := LANGUAGES[language].stop_words) is None:
        return frozenset()
    return _folded(_parse(listed.read_bytes(), name=listed.name))


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold, words)) - {""}


def _parse(data: bytes, *, name: str) -> list[str]:
    words = []
    for number, line in enumerate(data.splitlines(), 1):  # bytes: only CR and LF end a line
        try:
            word = line.decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            raise InputError("not UTF-8", where=f"{name}:{number}", todo="Save the word list as UTF-8") from error
        if "\0" in word:
            raise InputError("a NUL character", where=f"{name}:{number}", todo="Save the word list as UTF-8 text")
        if word and not word.startswith("#"):
            words.append(word)
    return words
