"""The pages that people labelled, as they come back: workbooks and CSV of Excel with the shop's own columns, and any other
format. A row whose labels cannot be used as they were meant is not used at all, and a line says what to do."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.pages.corrections import SEPARATOR, is_readable, label_of, shown
from batag.pages.fields import STANDARD_FIELDS
from batag.pages.formats.format import FORMATS, format_of_name
from batag.pages.formats.reading import PageMaker, read_records
from batag.pages.layout import KEY
from batag.pages.mentions import occurrences
from batag.pages.page import Page
from batag.pages.problems import SKIPPED_TAG, Problem
from batag.pages.source import Source
from batag.pages.tags import yes_or_no
from batag.start.columns import guess_columns
from batag.start.evidence import Texts, texts_of
from batag.start.names import names_of, own_names
from batag.start.survey import cell_text
from batag.start.table import open_table, read_table, table_format
from batag.terms.key import both_keys
from batag.terms.lexicon import BRAND, FEATURE, GOODS, read_lexicon
from batag.terms.meaning import kind_of_label

_CLUTTER = re.compile(r"\..*|~\$.*|thumbs\.db|ehthumbs\.db|desktop\.ini|.*\.tmp", re.IGNORECASE)
_FURTHER = {"商品種類": GOODS, "商品种类": GOODS, "品目": GOODS, "特點": FEATURE, "特点": FEATURE}
_HIDDEN = " occurs only where"


@dataclass(frozen=True)
class Reading:
    """How files of people are read: the `labels` of the shop's bundle, the columns of its export, the column of the row's own
    brand, and the encoding of the export."""

    labels: Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    brand: str | None = None
    language: str | None = None
    encoding: str | None = None


@dataclass
class People:
    """The pages that people reviewed, the number of pages that nobody has, and what to say of rows that cannot be used."""

    pages: list[Page] = field(default_factory=list)
    unseen: int = 0
    refused: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def files_of(folder: Path) -> list[Path]:
    """The files in a folder and those in it, without what Excel, macOS and Windows leave there."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if not any(map(_CLUTTER.fullmatch, path.relative_to(folder).parts)))


def read_people(folder: Path, reading: Reading) -> People:
    """Read everything that people labelled. A file that cannot be read is an error if its name says that it has pages; others,
    such as notes, are left aside, and a line says so."""
    people = People()
    for path in files_of(folder):
        try:
            _read(path, reading, people)
        except InputError as error:
            if format_of_name(path) is not None:
                raise
            people.refused.append(f"{path}: {error.what.partition('. ')[0]}; the file is not used")
    people.pages = _once(people)
    return people


def _once(people: People) -> list[Page]:
    """Each product once, with the labels that were read last; where files contradict each other, it is said."""
    kept: dict[Texts, Page] = {}
    for page in people.pages:
        texts = texts_of(page)
        if (before := kept.pop(texts, None)) is not None and _places(before) != _places(page):
            people.refused.append(f"{before.where}: {page.where} has other labels for the same product, which are used instead")
        kept[texts] = page
    return list(kept.values())


def _places(page: Page) -> set[tuple[str, int, int, str]]:
    return {(tag.field, tag.start, tag.end, tag.label) for tag in page.tags}


def own_label(label: str, labels: Collection[str]) -> str | None:
    """The label of the bundle that a person means by a word (品牌, maker); None if it is none of them."""
    if label in labels:
        return label
    word = label.strip().casefold()
    kind = kind_of_label(word) or _FURTHER.get(word)
    same = (each for each in labels if each.casefold() == word or (kind is not None and kind_of_label(each) == kind))
    return next(same, None)


def _read(path: Path, reading: Reading, people: People) -> None:
    source, format = _opened(path, reading)
    try:
        records = read_records(source, format)
        table = FORMATS[format].kind == "table"
        if table and not _has_text(source):
            source.close()
            source, _ = _opened(path, reading, columns=guess_columns(read_table(str(path))).texts)
            records = read_records(source, format)
        make = PageMaker(format, stem=source.stem, columns=source.columns, language=reading.language)
        spelling = dict(zip(source.header, source.names, strict=True))
        brand = None if reading.brand is None else spelling.get(reading.brand, reading.brand)
        unmarked = 0
        for record in records:
            if table and isinstance(record.value, Mapping):
                record = record._replace(value=_in_words_of_page(record.value, source, brand))
            page, value, found = make(record)
            if page is None or (problem := _lost(found, page)) is None:
                people.problems += found
            else:
                people.refused.append(_refusal(problem))
                continue
            if page is None:
                continue
            if not page.reviewed:
                people.unseen += 1
                unmarked += isinstance(value, Mapping) and "reviewed" not in source.names and any(map(is_readable, value))
            elif (own := _with_own_labels(page, reading.labels, people)) is not None:
                people.pages.append(own)
        if unmarked:
            what = f"{path}: no column reviewed, so that nobody can tell which rows a person has checked"
            people.refused.append(f"{what}; add the column, and write yes (是, はい) in the rows that are right now")
    finally:
        source.close()


def _opened(path: Path, reading: Reading, *, columns: Mapping[str, str] | None = None) -> tuple[Source, str]:
    """A file with the shop's columns, where it has them; an encoding that is not UTF-8 is guessed, as the export's is."""
    source, _ = open_table(str(path), usual=reading.encoding)
    source.any_columns = True
    source.language = reading.language
    if columns is None:
        source.usual_columns = reading.columns
    else:
        source.columns = columns
    try:
        return source, table_format(source)
    except BaseException:
        source.close()
        raise


def _has_text(source: Source) -> bool:
    """Whether it is known which column of a table is text."""
    return bool({*STANDARD_FIELDS} & source.columns.keys()) or not {*STANDARD_FIELDS, "fields", KEY}.isdisjoint(source.names)


def _in_words_of_page(row: Mapping[str, Any], source: Source, brand: str | None) -> Mapping[str, Any]:
    """The row with the names of its page in the cells of tags: `tags.xlsx` says 日立 where the page says HITACHI."""
    if row.get("tags") or not yes_or_no(row.get("reviewed")):
        return row  # these cells have the words of the page already, or are not used
    given = {name: cell for name, cell in row.items() if is_readable(name) and isinstance(cell, str) and cell.strip()}
    if not given:
        return row
    texts = [str(row[name]) for name in {*STANDARD_FIELDS, *source.columns.values()} if row.get(name)]
    own = cell_text(row.get(brand)) if brand is not None else ""
    made: dict[str, str] = {}
    for name, cell in given.items():
        found: dict[str, None] = {}
        for piece in filter(None, map(str.strip, SEPARATOR.split(cell))):
            names = _names(piece, kind_of_label(label_of(name)), own)
            there = [each for each in names if any(occurrences(text, each) for text in texts)]
            found |= dict.fromkeys(there or [piece])
        made[name] = shown(found)
    return {**row, **made}


def _names(text: str, kind: str | None, own: str) -> list[str]:
    """A text and the other names of the thing that it names: those of the row's own brand, and those of the lexicon."""
    found = [text]
    if kind == BRAND and text.casefold() in (name.casefold() for name in own_names(own)):
        found += names_of(own)
    (key,), (close,) = both_keys([text])
    entries = [each.entry for each in read_lexicon().find(key, close=close) if each.entry.kind == kind]
    if len({entry.id for entry in entries}) == 1:
        found += [name for names in entries[0].names.values() for name in names]
    return list(dict.fromkeys(found))


def _lost(found: Sequence[Problem], page: Page) -> Problem | None:
    """The problem by which a tag of a person was lost, if there is one."""
    return next((each for each in found if each.effect == SKIPPED_TAG and not _is_harmless(each, page)), None)


def _is_harmless(problem: Problem, page: Page) -> bool:
    """Whether a tag was left out where others of its text stay, or a longer one of its label has the text."""
    if problem.kind != "overlap":
        return False
    what, found, _ = problem.reason.partition(_HIDDEN)
    return not found or any(what.startswith(f"{tag.label}=") and what[len(tag.label) + 1 :] in tag.text for tag in page.tags)


def _refusal(problem: Problem) -> str:
    todo = "write the text as this product has it, or take it out"
    if problem.kind == "overlap":
        todo = "take one of the two out"
    elif problem.kind != "not-found":
        todo = "correct it, or take it out"
    return f"{problem.where}: {problem.reason}; the row is not used: {todo}, and run the same command again"


def _with_own_labels(page: Page, labels: Sequence[str], people: People) -> Page | None:
    """The page with labels of the bundle; None if a label means none of them, which is said."""
    meant = {label: own_label(label, labels) for label in dict.fromkeys(tag.label for tag in page.tags)}
    if unknown := [label for label, own in meant.items() if own is None]:
        texts = next(tag.text for tag in page.tags if tag.label == unknown[0])
        what = f"{page.where}: {unknown[0]}={texts}: there is no label {unknown[0]}"
        people.refused.append(f"{what}; the row is not used: the labels are {', '.join(labels)}")
        return None
    if all(label == own for label, own in meant.items()):
        return page
    return replace(page, tags=tuple(replace(tag, label=meant[tag.label] or tag.label) for tag in page.tags))
