"""Synonyms of a shop: a text file with lines such as `Levi's = LEVIS, リーバイス`; the first form is the canonical one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from batag.errors import InputError
from batag.terms.key import match_keys
from batag.terms.limits import lines_of, read_limited

_COMMAS = re.compile("[,，、;；]")
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f]")
_LONGEST_NAME = 200
_SHOWN = 6


@dataclass(frozen=True)
class Synonyms:
    """Canonical forms by the key of each name; a canonical form is its own. `notes` says what a person may not have meant."""

    canonical: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def get(self, key: str) -> str | None:
        """The canonical form of a key, or None."""
        return self.canonical.get(key)

    def __bool__(self) -> bool:
        return bool(self.canonical)


@dataclass(frozen=True, slots=True)
class _Name:
    text: str
    key: str
    line: int


def read_synonyms(path: Path | str) -> Synonyms:
    """Read a file of synonyms; a line that cannot be is an error with its number."""
    path = Path(path)
    data = read_limited(path, what="a file of synonyms")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError("is not UTF-8", where=f"{path}:{line}", todo="Save the synonyms as UTF-8 text") from error
    return parse_synonyms(lines_of(text), where=str(path))


def parse_synonyms(lines: Iterable[str], *, where: str) -> Synonyms:
    """The synonyms of lines of text."""
    parents: dict[str, _Name] = {}
    shown: dict[str, _Name] = {}
    named: dict[str, _Name] = {}
    twice: list[tuple[_Name, _Name]] = []
    for head, names in _groups(lines, where):
        first = shown.setdefault(head.key, head)
        for name in names:
            if name.key == head.key:
                if name.text == head.text:
                    todo = "Leave it out: the canonical form is its own synonym"
                    raise InputError(f"{name.text!r} stands on both sides", where=f"{where}:{name.line}", todo=todo)
                continue
            before = parents.setdefault(name.key, first)
            if before.key != head.key:
                what = f"{name.text!r} has two canonical forms, {before.text!r} (line {named[name.key].line}) and {head.text!r}"
                raise InputError(what, where=f"{where}:{name.line}", todo="Keep one of them")
            if (same := named.setdefault(name.key, name)) is not name and same.text == name.text:
                twice.append((same, name))
    _check_cycles(parents, named, where)
    return Synonyms(_ends(parents, shown), _notes(shown, twice, where))


def _notes(shown: Mapping[str, _Name], twice: Sequence[tuple[_Name, _Name]], where: str) -> tuple[str, ...]:
    """Nothing at all, or the same name again, changes nothing; but somebody may have meant something else."""
    if not shown:
        return (f"{where}: has no synonyms, so it changes nothing. Lines are like Levi's = LEVIS, リーバイス",)
    if not twice:
        return ()
    first, again = twice[0]
    others = f", and so {'is one other' if len(twice) == 2 else f'are {len(twice) - 1:,} others'}" if len(twice) > 1 else ""
    before = "earlier in the line" if first.line == again.line else f"in line {first.line}"
    return (f"{where}:{again.line}: {again.text!r} is listed {before} already{others}. Once is enough",)


def _groups(lines: Iterable[str], where: str) -> Iterator[tuple[_Name, list[_Name]]]:
    """Each line as its canonical form and the other names."""
    rows: list[tuple[int, list[str]]] = []
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        head, equals, rest = line.replace("＝", "=").partition("=")
        names = [each.strip() for each in _COMMAS.split(rest)]
        what = ""
        if _CONTROL.search(line):
            what = "has a character that is no text"
        elif not equals:
            what = "has no ="
        elif not head.strip():
            what = "has no canonical form before the ="
        elif "=" in rest:
            what = "has more than one ="
        elif not all(names):
            what = "has no name behind the =" if not rest.strip() else "has an empty name between commas"
        elif too_long := next((each for each in (head, *names) if len(each) > _LONGEST_NAME), None):
            what = f"has a name of {len(too_long):,} characters"
        if what:
            raise InputError(
                f"the line {line[:60]!r} {what}", where=f"{where}:{number}", todo="Write it like Levi's = LEVIS, リーバイス"
            )
        rows.append((number, [head.strip(), *names]))
    keys = iter(match_keys(name for _, names in rows for name in names))
    for number, names in rows:
        made = [_Name(name, next(keys), number) for name in names]
        for name in made:
            if not name.key:
                raise InputError(f"{name.text!r} has no letter or digit", where=f"{where}:{number}", todo="Leave it out")
        yield made[0], made[1:]


def _check_cycles(parents: Mapping[str, _Name], named: Mapping[str, _Name], where: str) -> None:
    fine: set[str] = set()
    for key in parents:
        path: dict[str, None] = {}
        while key in parents and key not in path and key not in fine:
            path[key] = None
            key = parents[key].key
        if key in path:
            ring = list(path)[list(path).index(key) :]
            lines = sorted({named[each].line for each in ring})
            words = " = ".join(_some([named[each].text for each in [*ring, ring[0]]]))
            what = f"a cycle: {words} (lines {', '.join(_some([str(line) for line in lines]))})"
            raise InputError(what, where=f"{where}:{lines[0]}", todo="Keep one of them as the canonical form")
        fine.update(path)


def _some(words: Sequence[str]) -> list[str]:
    """All words, or the first and the last ones of many."""
    return [*words] if len(words) <= _SHOWN else [*words[: _SHOWN - 2], "…", words[-1]]


def _ends(parents: Mapping[str, _Name], shown: Mapping[str, _Name]) -> dict[str, str]:
    """The canonical form that each key leads to, over any number of lines."""
    found: dict[str, str] = {}
    for key in {**parents, **shown}:
        path = []
        while key in parents and key not in found:
            path.append(key)
            key = parents[key].key
        last = found[key] if key in found else found.setdefault(key, shown[key].text)
        found.update(dict.fromkeys(path, last))
    return found
