"""The input of commands (texts, files of pages, lines of standard input), and writing pages."""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from batag.cli.cautions import by_file
from batag.cli.terminal import console, counted, watched
from batag.errors import InputError, nearest
from batag.pages.cleaning import parse_rules
from batag.pages.file import once_only
from batag.pages.formats import NEEDS_TOKENS, format_of_name, write_pages
from batag.pages.languages import check_language
from batag.pages.page import PERSON, Page
from batag.pages.problems import Problems
from batag.pages.record import too_many_characters
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.majority import read_with_language
from batag.segmentation.segmentation import Segmentation, bring_tokens

_SUFFIXES = frozenset({".json", ".txt", ".gz", ".zst"})
_MISSPELT = 0.8
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,7}$")


def segmentation_of(name: str, dictionary: Path | None, *, rules: str | None = None) -> Segmentation:
    """Build the segmentation that the options of a command name."""
    words = Dictionary.read(dictionary) if dictionary else None
    return Segmentation(name, rules=parse_rules(rules), dictionary=words)


def text_or_pages(
    given: Sequence[str], *, field: str, doing: str, problems: Problems, language: str | None, **reading: Any
) -> Iterator[Page]:
    """Yield the pages of the given files and one page per given text; without arguments, one page per line of standard input
    (`-` reads it as a file of pages)."""
    known = check_language(language) if language is not None else None
    if not given:
        lines = (line.decode(errors="replace").rstrip("\r\n") for line in sys.stdin.buffer)
        yield from _texts(lines, field=field, language=known, where="standard input:", problems=problems)
    for number, text in enumerate(given, 1):
        if text == "-" or os.path.isfile(text) or once_only(text):
            with problems.reading_one_of(given):
                yield from watched(read_with_language(text, language=language, **reading, problems=problems), doing=doing)
        elif os.path.isdir(text):
            raise InputError("is a folder", where=text, todo="Name the files in it")
        else:
            check_text(text)
            note_like_a_path(text)
            yield from _texts([text], field=field, language=known, where="text ", problems=problems, first=number)


def check_text(text: str) -> None:
    """Raise an error if an argument looks like the name of a missing file rather than like text."""
    if any(map(str.isspace, text)) or not {".", "/"} & set(text):
        return
    folder, name = os.path.split(text)
    there = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    near = nearest(name, there, cutoff=_MISSPELT)
    path = Path(text)
    named = format_of_name(text) or path.suffix in _SUFFIXES or text.startswith(("/", "./", "../", "~/"))
    if near or named or (folder and os.path.isdir(folder)):
        hint = f"Did you mean {os.path.join(folder, near)}? " if near else "Check the name. "
        todo = f"{hint}To tag a text that looks like a file name, give it on standard input"
        raise InputError("cannot be opened (No such file or directory)", where=text, todo=todo)


def note_like_a_path(text: str) -> None:
    """Print that an argument is taken for a text, if it looks like the name of a file; 防水/透氣 is more likely a title."""
    if not any(map(str.isspace, text)) and (("/" in text and text.isascii()) or _ENDING.search(text)):
        console(error=True).print(f"{text}: there is no such file; it is taken for a text", style="yellow")


def _texts(
    texts: Iterable[str], *, field: str, language: str | None, where: str, problems: Problems, first: int = 1
) -> Iterator[Page]:
    """Yield one page per text; a text over the size limit is a problem of the input."""
    for number, text in enumerate(texts, first):
        if limit := too_many_characters(len(text)):
            problems.add("too-long", f"{where}{number}", f"the text has more than {limit}")
        else:
            yield Page(str(number), {field: text}, language=language)


def save(
    pages: Iterable[Page],
    path: str | Path,
    *,
    source: str,
    format: str,
    segmentation: Segmentation,
    problems: Problems,
    **options: Any,
) -> int:
    """Write pages and return their number. Column formats get tokens first; tags that cannot be kept are reported."""
    count = not_reviewed = 0
    lost: Counter[str] = Counter()

    def passing() -> Iterable[Page]:
        nonlocal count, not_reviewed
        for page in pages:
            count += 1
            if format in NEEDS_TOKENS and page.reviewed is False:
                not_reviewed += 1
                lost.update(tag.source for tag in page.tags if tag.source != PERSON)
            yield bring_tokens(page, segmentation) if format in NEEDS_TOKENS else page
        if not count:
            # Before the file gets its name: an empty result replaces nothing.
            raise problems.no_page(source)

    write_pages(passing(), path, format=format, **options)
    if not_reviewed:
        note_lost_sources(format, lost, pages=not_reviewed)
    return count


def note_by_file(languages: Mapping[str, int]) -> None:
    """Print how many pages were read in the language of most pages of their file, by language."""
    for line in by_file(languages):
        console(error=True).print(line, style="yellow")


def note_lost_sources(format: str, tags: Mapping[str, int], *, pages: int) -> None:
    """Print that the format cannot store the sources of tags (`tags` counts them by source) on pages that nobody reviewed."""
    named = [f"{counted(number, 'tag')} by {name}" for name, number in Counter(tags).most_common() if number]
    note = f"{format} cannot store the source of a tag, nor that a page was not reviewed: "
    note += f"{' and '.join(named) or 'no tag by a machine'} on {counted(pages, 'page')} that no person has reviewed "
    note += "will count as a person's when the file is read again"
    console(error=True).print(note, style="bold yellow")
