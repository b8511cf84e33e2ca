"""The term lists whose names are features of words: batag's lexicon, a list of the user's own, or both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from zlib import crc32

from batag.errors import InputError
from batag.features.term_matcher import Hides, TermMatcher
from batag.terms.lexicon import FEATURE, GOODS, read_lexicon

LEXICON = "lexicon"
_PLURALS = (GOODS, FEATURE)
_TODO = "Write one name per line: text, a tab, label"
Named = tuple[str, str]
"""A name and its label."""


@dataclass(frozen=True)
class TermLists:
    """Whether names of the lexicon count, and names of the user's own with their labels."""

    lexicon: bool = False
    own: tuple[Named, ...] = ()

    def __bool__(self) -> bool:
        return self.lexicon or bool(self.own)

    @cached_property
    def matcher(self) -> TermMatcher:
        """What finds the names."""
        return _of_lexicon() if self.lexicon and not self.own else _matcher(self.own, lexicon=self.lexicon)

    def join(self, other: TermLists) -> TermLists:
        """The names of both."""
        return TermLists(self.lexicon or other.lexicon, tuple(dict.fromkeys((*self.own, *other.own))))

    def text(self) -> str:
        """The user's own names as a file."""
        return "".join(f"{name}\t{label}\n" for name, label in self.own)


@dataclass(frozen=True)
class Hiding:
    """Hides a share of the names of each page at random; `seed` and the number of a page tell which, so that a training can be
    repeated."""

    share: float
    seed: str

    def of_page(self, number: int) -> Hides:
        """Whether a name is hidden on this page."""
        begun = crc32(f"{self.seed}/{number}/".encode())
        limit = round(self.share * 2**32)
        return lambda name: crc32(name.encode(errors="replace"), begun) < limit


def parse_terms(chosen: str) -> tuple[bool, str]:
    """Whether `input.terms` names the lexicon, and the file that it names: `lexicon`, `FILE` or `lexicon,FILE`."""
    first, _, rest = chosen.partition(",")
    return (True, rest.strip()) if first.strip() == LEXICON else (False, chosen.strip())


def term_files(chosen: str) -> tuple[Path, ...]:
    """The file that `input.terms` names, if any."""
    _, file = parse_terms(chosen)
    return (Path(file),) if file else ()


def read_lists(chosen: str, files: Sequence[Path], *, base: TermLists | None = None) -> TermLists | None:
    """The lists of `input.terms` and of a base bundle; None without any."""
    own = tuple(name for path in files for name in read_names(path))
    return TermLists(parse_terms(chosen)[0], own).join(base or TermLists()) or None


def read_names(path: Path) -> tuple[Named, ...]:
    """Read lines of a name, a tab and its label; `*` behind a name marks an ordinary word, a line with `#` is a comment."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", where=str(path), todo=_TODO) from error
    return parse_names(text.split("\n"), where=str(path))


def parse_names(lines: Sequence[str], *, where: str) -> tuple[Named, ...]:
    """The names and labels of the lines of such a file."""
    found: dict[Named, None] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, tab, label = line.rstrip("\r").partition("\t")
        label = label.strip()
        if not tab or not name.strip() or not label or len(label.split()) > 1:
            raise InputError("is not a name, a tab and a label of one word", where=f"{where}:{number}", todo=_TODO)
        found[name.strip(), label] = None
    return tuple(found)


def _matcher(own: Iterable[Named], *, lexicon: bool) -> TermMatcher:
    names: dict[str, list[str]] = {}
    for row in read_lexicon().rows if lexicon else ():
        listed = names.setdefault(row.kind, [])
        for each in row.names().values():
            listed += each
    for name, label in own:
        names.setdefault(label, []).append(name)
    return TermMatcher(names, with_plurals=_PLURALS)


@cache
def _of_lexicon() -> TermMatcher:
    return _matcher((), lexicon=True)
