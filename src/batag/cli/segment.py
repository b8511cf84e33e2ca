"""`batag segment`: text to tokens, for the eye and for pipes."""

from __future__ import annotations

from typing import Annotated

import typer

from batag.cli import options


def segment(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT_OR_FILE]...", help="Texts or files; none: lines of standard input."),
    ] = None,
    language: options.Language = None,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    rules: options.Rules = None,
    separator: Annotated[str, typer.Option(help="What stands between tokens in a pipe.")] = " ",
    format: options.Format = None,
    columns: options.Columns = None,
    encoding: options.Encoding = None,
    strict: options.Strict = False,
    problems: options.ProblemFile = None,
    as_json: options.Json = False,
) -> None:
    """Cut text into tokens: coloured in the terminal, one line a text in a pipe, offsets with --json."""
    import json
    import sys
    from collections.abc import Iterator
    from pathlib import Path

    from batag.cli.terminal import collected_problems, console
    from batag.errors import InputError, UsageError
    from batag.pages.formats import format_of_name, read_pages
    from batag.pages.language import LANGUAGES, known_language
    from batag.pages.page import Page
    from batag.pages.problems import Problems
    from batag.segmentation.dictionary import Dictionary
    from batag.segmentation.segmentation import Segmentation, language_of

    if language is not None and known_language(language) is None:
        raise UsageError(f"{language!r} is not a language of ours", todo=f"There are {', '.join(LANGUAGES)}")
    known = known_language(language) if language else None
    cutter = Segmentation(
        segmentation, rules=options.parse_rules(rules), dictionary=Dictionary.read(dictionary) if dictionary else None
    )

    def pages(found: Problems) -> Iterator[Page]:
        if not texts:
            lines = (line.decode(errors="replace").rstrip("\r\n") for line in sys.stdin.buffer)
            yield from (Page(str(number), {"text": line}, language=known) for number, line in enumerate(lines, 1))
        for number, text in enumerate(texts or [], 1):
            if len(text) < 4096 and "\0" not in text and Path(text).is_file():
                yield from read_pages(text, **options.of_input(format, columns, language, encoding), problems=found)
            elif format_of_name(text) is not None and not any(map(str.isspace, text)):
                raise InputError("cannot be opened (No such file or directory)", where=text, todo="Check the name")
            else:
                yield Page(str(number), {"text": text}, language=known)

    out = console()
    with collected_problems(strict=strict, path=problems) as found:
        for page in pages(found):
            for field in cutter(page):
                if as_json:
                    tokens = [
                        {"text": word, "start": start, "end": end}
                        for word, (start, end) in zip(field.words, field.origins, strict=True)
                    ]
                    line = {"id": page.id, "field": field.name, "language": language_of(page), "tokens": tokens}
                    typer.echo(json.dumps(line, ensure_ascii=False))
                elif out.is_terminal:
                    from rich.text import Text

                    styles = ("cyan", "green")
                    words = ((word, styles[place % 2]) for place, word in enumerate(field.words))
                    out.print(Text(" ").join(Text(word, style) for word, style in words))
                else:
                    typer.echo(separator.join(field.words))
