"""Guess what the columns of an export hold: by their names, and by what stands in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from batag.errors import InputError, UsageError, nearest
from batag.pages.fields import KNOWN_KEYS
from batag.start.headers import (
    BRAND,
    CATEGORY,
    DESCRIPTION,
    FIELDS,
    GROUPS,
    ID,
    TITLE,
    export_of,
    field_of_name,
    fields_of_export,
)
from batag.start.table import Table

NO_COLUMN = "-"
"""In `--columns brand=-`: the shop has no such column."""
_EXAMPLES = 3
_LONGEST_EXAMPLE = 60
_NUMBER = re.compile(r"[\s\d.,:+\-%$€£¥￥元円/()NTUSD]+")
_LINK = re.compile(r"\s*(?:https?://|//|www\.)\S+\s*(?:[,;|]\s*\S+\s*)*")
_FILE = re.compile(r"\S+\.(?:jpe?g|png|gif|webp|svg|pdf|mp4)\b", re.IGNORECASE)
_HTML = re.compile(r"<(?:p|br|div|span|ul|li|table|b|strong|img|h\d)\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z0-9_\-./#]+")
_PATH = re.compile(r"\s*(?:>|＞|›|»|/|\||\\)\s*")
_LETTER = re.compile(r"[^\W\d_]")

_ITS_NAME, _GIVEN = "its name", "you said so"


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the export: the field that it holds (empty for none), why, what else it is, and some of its texts."""

    name: str
    field: str = ""
    why: str = ""
    holds: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of an export. `export` is the kind that is known as it is, or empty; `group` the column that the variants of
    a product share."""

    columns: tuple[Column, ...]
    export: str = ""
    group: str | None = None

    def column(self, field: str) -> str | None:
        """The column of a field, or None."""
        return next((each.name for each in self.columns if each.field == field), None)

    @property
    def is_named(self) -> bool:
        """Whether the name of any column told what it holds, or the user did."""
        return bool(self.export) or any(each.why in (_ITS_NAME, _GIVEN) for each in self.columns)

    @property
    def texts(self) -> dict[str, str]:
        """The columns that pages are read from: all but brand and category, which are not text to tag."""
        return {each.field: each.name for each in self.columns if each.field and each.field not in (BRAND, CATEGORY)}


@dataclass(frozen=True)
class _Look:
    """What stands in a column."""

    cells: Sequence[str]
    filled: float
    length: float
    different: float
    words: float
    numbers: float
    links: float
    html: float
    codes: float
    paths: float

    @property
    def is_text(self) -> bool:
        """Whether people may read it."""
        return self.words > 0.6 and self.links < 0.3 and self.numbers < 0.4


def guess_columns(table: Table, given: Mapping[str, str] | None = None) -> Columns:
    """Guess the columns of a table; those in `given` (field to column, `-` for none) are as they are given."""
    given = dict(given or {})
    _check_given(table, given)
    looks = {name: _look(table.column(name), len(table.rows)) for name in table.names}
    kind = export_of(table.names)
    found: dict[str, tuple[str, str]] = {}
    holds: dict[str, str] = {}
    for field, name in given.items():
        if name != NO_COLUMN:
            found[name] = field, _GIVEN
    taken = {*given}
    if kind is not None:
        for name, field in fields_of_export(kind, table.names).items():
            if field in FIELDS and field not in taken and name not in found and looks[name].cells:
                found[name] = field, f"column of {kind}"
                taken.add(field)
            elif name not in found:
                holds[name] = field
    for field, name in _by_name(looks, skip={*found, *holds}, holds=holds):
        if field not in taken and name not in found:
            found[name] = field, _ITS_NAME
            taken.add(field)
    for field, name, why in _by_content(looks, skip={*found, *holds}, taken=taken, title=_name_of(found, TITLE)):
        found[name] = field, why
        taken.add(field)
    if ID not in taken and (sku := _unique_sku(looks, holds)) is not None:
        found[sku] = ID, "a different code in each row"
    if _name_of(found, TITLE) is None or (not (given or holds or _any_by_name(found)) and _is_product(table)):
        raise _no_title(table)
    made = tuple(_column(name, looks[name], found.get(name), holds.get(name, "")) for name in table.names)
    group = next((name for name in table.names if name.casefold() == GROUPS[kind].casefold()), None) if kind in GROUPS else None
    return Columns(columns=made, export=kind or "", group=group)


def _check_given(table: Table, given: Mapping[str, str]) -> None:
    for field, name in given.items():
        if field not in (*FIELDS, "language", "shop") and (field in KNOWN_KEYS or nearest(field, FIELDS, cutoff=0.8)):
            raise UsageError(f"--columns {field}={name}: {field} is no field", todo=f"There are {', '.join(FIELDS)}")
        if name != NO_COLUMN and name not in table.names:
            turned = f"The field comes first: {name}={field}. " if name in FIELDS and field in table.names else ""
            hint = turned or (f"Did you mean {field}={near}? " if (near := nearest(name, table.names)) else "")
            todo = f"{hint}The columns are {', '.join(filter(None, table.names))}"
            raise InputError(f"has no column {name!r} (for {field})", where=table.path, todo=todo)
    twice = [name for name, times in Counter(given.values()).items() if times > 1 and name != NO_COLUMN]
    if twice:
        raise UsageError(f"--columns names {twice[0]!r} for two fields", todo="Name another column for one of them")


def _by_name(looks: Mapping[str, _Look], *, skip: set[str], holds: dict[str, str]) -> list[tuple[str, str]]:
    """The fields of columns with a known name, likeliest first; a name that cannot be right is not believed."""
    named = []
    for place, (name, look) in enumerate(looks.items()):
        if name in skip or (found := field_of_name(name)) is None:
            continue
        field, rank = found
        if field not in FIELDS:
            holds[name] = field
        elif _fits(field, look):
            # A column with more in it is likelier than one with a better name.
            named.append((round(-look.filled, 1), rank, place, field, name))
    return [(field, name) for *_, field, name in sorted(named)]


def _fits(field: str, look: _Look) -> bool:
    """Whether what stands in a column can be this field."""
    if not look.cells:
        return False
    if field == ID:
        return look.different > 0.2 and look.length <= 100
    if field in (BRAND, CATEGORY):
        return look.words > 0.5 and look.links < 0.3 and look.length <= (60 if field == BRAND else 200)
    return look.words > 0.5 and look.links < 0.5


def _by_content(
    looks: Mapping[str, _Look], *, skip: set[str], taken: set[str], title: str | None
) -> list[tuple[str, str, str]]:
    """The fields that no name told, by what stands in the columns."""
    texts = {name: look for name, look in looks.items() if name not in skip and look.is_text and look.filled > 0.3}
    found: list[tuple[str, str, str]] = []

    def take(field: str, name: str, why: str) -> None:
        found.append((field, name, why))
        texts.pop(name, None)

    if title is None and TITLE not in taken:
        names = {name: look for name, look in texts.items() if 4 <= look.length <= 200 and look.html < 0.2 and look.paths < 0.5}
        if names:
            # Short texts that are all different; of two, the one that is in more rows.
            title = max(names, key=lambda name: (round(names[name].different * names[name].filled, 1), names[name].length))
            take(TITLE, title, "short texts, nearly all different" if looks[title].different > 0.5 else "its texts")
        elif texts:
            title = max(texts, key=lambda name: texts[name].filled)
            take(TITLE, title, "the only text")
    if DESCRIPTION not in taken and title is not None:
        longer = {
            name: look for name, look in texts.items() if look.length > max(30.0, 1.3 * looks[title].length) or look.html > 0.2
        }
        if longer:
            take(DESCRIPTION, max(longer, key=lambda name: longer[name].length), "long texts")
    if BRAND not in taken and title is not None:
        titles = looks[title].cells
        for name, look in list(texts.items()):
            if look.length > 30 or look.paths >= 0.3 or look.length >= looks[title].length:
                continue
            # In a small shop every product may have another brand; nearly all of them then stand in the titles.
            if (share := _inside(look, titles)) >= (0.3 if look.different < 0.7 else 0.7):
                take(BRAND, name, f"{share:.0%} of its texts stand in titles")
                break
    if CATEGORY not in taken:
        paths = {name: look for name, look in texts.items() if look.paths > 0.5 and look.different < 0.5}
        if paths:
            take(CATEGORY, max(paths, key=lambda name: paths[name].filled), "paths with few different ends")
    if ID not in taken:
        codes = [
            name
            for name, look in looks.items()
            if name not in skip and look.codes > 0.95 and look.different > 0.95 and look.filled > 0.95
        ]
        if codes and len(looks) > 1:
            take(ID, codes[0], "a different code in each row")
    return found


def _unique_sku(looks: Mapping[str, _Look], holds: Mapping[str, str]) -> str | None:
    """A column of stock numbers that names every row by itself."""
    return next(
        (name for name, held in holds.items() if held == "sku" and looks[name].different == 1 and looks[name].filled > 0.95),
        None,
    )


def _inside(look: _Look, titles: Sequence[str]) -> float:
    """The share of the first different texts of a column that stand in a title."""
    some = list(dict.fromkeys(cell.casefold() for cell in look.cells))[:50]
    joined = "\n".join(titles[:2_000]).casefold()
    parts = ([part for part in re.split(r"[\s/()（）|]+", text) if len(part) > 1] for text in some)
    return sum(any(part in joined for part in own) for own in parts) / max(len(some), 1)


def _look(cells: Sequence[str], rows: int) -> _Look:
    count = max(len(cells), 1)

    def share(pattern: re.Pattern[str], *, whole: bool = True) -> float:
        return sum(bool(pattern.fullmatch(cell) if whole else pattern.search(cell)) for cell in short) / count

    short = [cell[:300] for cell in cells]
    return _Look(
        cells,
        len(cells) / max(rows, 1),
        median(map(len, cells)) if cells else 0.0,
        len(set(cells)) / count,
        share(_LETTER, whole=False),
        share(_NUMBER),
        sum(bool(_LINK.match(cell) or _FILE.fullmatch(cell)) for cell in short) / count,
        share(_HTML, whole=False),
        share(_CODE),
        sum(len(_PATH.split(cell)) > 1 for cell in short) / count,
    )


def _column(name: str, look: _Look, found: tuple[str, str] | None, holds: str) -> Column:
    examples = tuple(_shown(cell) for cell in list(dict.fromkeys(look.cells))[:_EXAMPLES])
    column = Column(name=name, holds=holds, examples=examples)
    if found is not None:
        return replace(column, field=found[0], why=found[1])
    if holds:
        return replace(column, why=_ITS_NAME)
    if not look.cells:
        return replace(column, holds="empty", why="nothing in it")
    if look.links >= 0.3:
        return replace(column, holds="link", why="links or files")
    if look.numbers >= 0.4:
        return replace(column, holds="number", why="numbers")
    return replace(column, holds="text" if look.is_text else "other", why="not recognised")


def _shown(cell: str) -> str:
    line = " ".join(cell.split())
    return line if len(line) <= _LONGEST_EXAMPLE else f"{line[: _LONGEST_EXAMPLE - 1]}…"


def _name_of(found: Mapping[str, tuple[str, str]], field: str) -> str | None:
    return next((name for name, (own, _) in found.items() if own == field), None)


def _any_by_name(found: Mapping[str, tuple[str, str]]) -> bool:
    """Whether the name of a column told what it holds."""
    return any(why == _ITS_NAME or why.startswith("column of") for _, why in found.values())


def _is_product(table: Table) -> bool:
    """Whether the first row, where the names of the columns should be, looks like a product."""
    return any(_NUMBER.fullmatch(name) or _LINK.match(name) or len(name) > 30 for name in table.names if name)


def _no_title(table: Table) -> InputError:
    if _is_product(table):
        todo = "Put the names of the columns into the first row, such as: title,description,brand"
        return InputError("begins with a product, not with the names of its columns", where=table.path, todo=todo)
    todo = f"Name it: --columns {TITLE}=NAME; the columns are {', '.join(filter(None, table.names)) or 'none'}"
    return InputError("has no column that looks like the names of products", where=table.path, todo=todo)
