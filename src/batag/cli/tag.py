"""`batag tag`: pages or text to tags."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from batag.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.text import Text

    from batag.pages.page import Page, Tag
    from batag.pages.problems import Problems


def tag(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle or of a finished run.")],
    pages: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT_OR_FILE]...", help="Texts or files of pages; none: lines of standard input."),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="File to write: .jsonl, .csv, .parquet, ... .gz, .zst.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="Format to write, if the file's name does not tell.")] = None,
    distinct: Annotated[bool, typer.Option("--distinct", help="One tag a text and label, not every occurrence.")] = False,
    stop_words: Annotated[
        Path | None, typer.Option("--stop-words", help="Words that are no tag by themselves, one a line, besides ours.")
    ] = None,
    richness: options.Richness = None,
    device: options.Device = "auto",
    format: options.Format = None,
    columns: options.Columns = None,
    language: options.Language = None,
    encoding: options.Encoding = None,
    strict: options.Strict = False,
    problems: options.ProblemFile = None,
    as_json: options.Json = False,
) -> None:
    """Tag pages: to a file, highlighted in the terminal, or as JSON lines in a pipe (and with --json)."""
    import sys
    import time
    from collections import Counter
    from dataclasses import replace

    from batag.cli.inputs import text_or_pages
    from batag.cli.loading import load_tagger
    from batag.cli.saving import save
    from batag.cli.terminal import collected_problems, console
    from batag.pages.formats import format_to_write
    from batag.pages.record import dump, to_record
    from batag.tagging.tagger import distinct as distinct_tags

    written = format_to_write(out, to) if out is not None else "jsonl"
    tagger = load_tagger(bundle, device=device, stop_words=() if stop_words is None else (stop_words,))
    tagger.offsets(richness)
    said_of_input = options.of_input(format, columns, language, encoding)
    counts: Counter[str] = Counter()
    began = time.monotonic()

    def tagged(found: Problems) -> Iterator[Page]:
        given = text_or_pages(pages or [], field="title", doing="tagging", problems=found, **said_of_input)
        for prediction in tagger.predict(given):
            tags = tagger.tags_of(prediction, richness)
            kept = distinct_tags(tags) if distinct else tags
            counts.update(each.label for each in kept)
            counts[""] += 1
            page = prediction.page
            yield replace(page, tags=tuple(kept), labelled=True, extra={**page.extra, "error": None})

    with collected_problems(strict=strict, path=problems) as found:
        if out is not None and out != "-":
            source = ", ".join(pages or ["standard input"])
            save(tagged(found), out, source=source, format=written, segmentation=tagger.segmentation)
            number, seconds = counts.pop(""), time.monotonic() - began
            classes = ", ".join(f"{count:,} {name}" for name, count in counts.most_common()) or "no tag"
            rate = f"{seconds:,.0f} s, {number / max(seconds, 1e-9):,.0f} a second"
            console(error=True).print(f"{number:,} pages tagged in {out} ({rate}): {classes}", markup=False)
            return
        terminal = console()
        for page in tagged(found):
            if terminal.is_terminal and not as_json and out is None:
                for line in highlighted(page, tagger.labels):
                    terminal.print(line)
            else:
                sys.stdout.buffer.write(dump(to_record(page)) + b"\n")
        sys.stdout.buffer.flush()


STYLES = ("black on bright_green", "black on bright_cyan", "black on bright_yellow", "black on bright_magenta", "white on blue")


def highlighted(page: Page, labels: tuple[str, ...]) -> Iterable[Text]:
    """The page's fields with their tags in colour, and what the tags are."""
    from rich.text import Text

    from batag.cli.terminal import visible

    style = {label: STYLES[number % len(STYLES)] for number, label in enumerate(labels)}
    for name, text in page.fields.items():
        line = Text(visible(text))
        here: list[Tag] = [tag for tag in page.tags if tag.field == name]
        for tag in here:
            line.stylize(style[tag.label], tag.start, tag.end)
        yield line
    found = {(tag.label, tag.text): tag for tag in page.tags}
    line = Text("  ")
    for (label, text), tag in found.items():
        line.append(f" {visible(label)} ", style[label]).append(f" {visible(text)} ").append(f"{tag.score or 0:.2f}  ", "dim")
    yield line if found else Text("   no tag", "dim")
