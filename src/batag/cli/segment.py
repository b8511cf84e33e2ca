"""`batag segment`: text to tokens, for the eye and for pipes."""

from __future__ import annotations

from typing import Annotated

import typer

from batag.cli import options


def segment(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT_OR_FILE", help="Texts or files; none: lines of standard input."),
    ] = None,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    rules: options.Rules = None,
    separator: Annotated[str, typer.Option(help="What stands between tokens in a pipe.")] = " ",
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Cut text into tokens: coloured in the terminal, one line a text in a pipe, offsets with --json."""
    import json

    from batag.cli.inputs import text_or_pages
    from batag.cli.terminal import console
    from batag.pages.cleaning import parse_rules
    from batag.pages.file import check_targets
    from batag.segmentation.dictionary import Dictionary
    from batag.segmentation.segmentation import Segmentation, language_of

    check_targets([reading.problems], [*(texts or []), dictionary])
    cutter = Segmentation(
        segmentation, rules=parse_rules(rules), dictionary=Dictionary.read(dictionary) if dictionary else None
    )
    out = console()
    with reading.collected() as found:
        for page in text_or_pages(texts or [], field="text", doing="segmenting", problems=found, **reading.options):
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
