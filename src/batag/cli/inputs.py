"""What a command is given to work on: texts, files of pages, or lines of standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from batag.cli.terminal import watched
from batag.errors import InputError, UsageError
from batag.pages.formats import format_of_name, read_pages
from batag.pages.language import LANGUAGES, known_language
from batag.pages.page import Page
from batag.pages.problems import Problems


def text_or_pages(
    given: Sequence[str], *, field: str, doing: str, problems: Problems, language: str | None, **reading: Any
) -> Iterator[Page]:
    """Pages of files, a page a text, or a page a line of standard input if nothing is given (`-` is a file there)."""
    if language is not None and known_language(language) is None:
        raise UsageError(f"{language!r} is not a language of ours", todo=f"There are {', '.join(LANGUAGES)}")
    known = known_language(language) if language else None
    if not given:
        lines = (line.decode(errors="replace").rstrip("\r\n") for line in sys.stdin.buffer)
        yield from (Page(str(number), {field: line}, language=known) for number, line in enumerate(lines, 1))
    for number, text in enumerate(given, 1):
        if text == "-" or (len(text) < 4096 and "\0" not in text and Path(text).is_file()):
            yield from watched(read_pages(text, language=language, **reading, problems=problems), doing=doing)
        elif format_of_name(text) is not None and not any(map(str.isspace, text)):
            raise InputError("cannot be opened (No such file or directory)", where=text, todo="Check the name")
        else:
            yield Page(str(number), {field: text}, language=known)
