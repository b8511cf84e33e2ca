"""`batag tag`: tag pages or text."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from batag.cli import options
from batag.cli.terminal import console, visible
from batag.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.text import Text

    from batag.catalogue.tagged import Options
    from batag.pages.page import Page, Tag
    from batag.tagging.tagger import Tagger
    from batag.terms.terms import Terms


def tag(
    bundle: options.Bundle,
    pages: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT_OR_FILE", help="Texts, files or folders of pages (default: lines of standard input)."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the tagged parts (tagged/), or one file (.parquet, .jsonl, .csv, .xlsx, ..., also .gz and .zst).",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format to write: parquet, jsonl, jsonl.gz, csv, xlsx, ... (default: from the file name)."),
    ] = None,
    bom: options.Bom = False,
    excel_safe: options.ExcelSafe = False,
    richness: options.Richness = None,
    labels: Annotated[str | None, typer.Option("--labels", help="Only tags with these labels, comma-separated.")] = None,
    min_score: Annotated[float, typer.Option("--min-score", help="Only tags with at least this score.", min=0, max=1)] = 0.0,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Keep one tag per text and label instead of every occurrence.")
    ] = False,
    stop_words: Annotated[
        Path | None,
        typer.Option("--stop-words", help="File of further stop words, one per line; a tag never consists of stop words only."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", help="Only the best tags of each page, one per label and canonical form, at most this many.", min=1
        ),
    ] = None,
    synonyms: options.Synonyms = None,
    taxonomy: options.Taxonomy = None,
    canonical_language: options.CanonicalLanguage = None,
    workers: Annotated[
        int, typer.Option("--workers", help="Number of worker processes, one thread each; 0 for one per CPU.", min=0)
    ] = 0,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Run on a Ray cluster: ray (starts one on this machine) or ray://HOST:10001."),
    ] = None,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Start over: discard an unfinished job and replace a finished file."),
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(
            "--server", help="Tag by the service at this address instead of a bundle: the first argument is a file then."
        ),
    ] = None,
    engine: options.Engine = "auto",
    device: Annotated[
        str,
        typer.Option("--device", help="Device to run on: auto, cpu, cuda or mps; auto is the CPU in a catalogue job."),
    ] = "auto",
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Tag texts, pages in a pipe, or a catalogue to a folder or file; an interrupted job resumes with the same command."""
    from batag.bundles.names import terms_for
    from batag.catalogue.inputs import find_inputs, is_input
    from batag.catalogue.tagged import Options
    from batag.cli import cataloguing
    from batag.cli.files import check_text
    from batag.cli.services.remote import tag_remotely
    from batag.cli.words.terms import show_notes
    from batag.pages.file import check_targets
    from batag.pages.formats import format_to_write

    out = "-" if out is None and to is not None else out
    shape = cataloguing.shape_of(out, to) if out is not None and out != "-" else None
    format = format_to_write("-", to) if shape is None else shape.format
    chosen = Options(
        format=format,
        compression=shape.compression if shape is not None else "",
        richness=richness,
        labels=tuple(each.strip() for each in labels.split(",")) if labels else (),
        min_score=min_score,
        distinct=distinct,
        top=top or 0,
        **options.of_table(format, bom=bom, excel_safe=excel_safe),
    )
    if server is not None:
        theirs: dict[str, object] = {
            "--stop-words": stop_words,
            "--synonyms": synonyms,
            "--taxonomy": taxonomy,
            "--cluster": cluster,
        }
        theirs |= {"--engine": engine != "auto", "--device": device != "auto", "--workers": workers}
        if asked := [name for name, given in (theirs | {"--canonical-language": canonical_language}).items() if given]:
            what = f"{' and '.join(asked)} {'do' if len(asked) > 1 else 'does'} not go with --server"
            todo = f"Leave {'them' if len(asked) > 1 else 'it'} out: the service has its own (options of batag serve)"
            raise UsageError(what, todo=todo)
        if shape is not None and not shape.one_file:
            raise UsageError("a service tags to one file, not to a folder", todo="Name a file: --out tagged.csv")
        tag_remotely(server, [str(bundle), *(pages or ())], out, chosen, reading=reading, restart=restart)
        return
    terms = terms_for(bundle, synonyms=synonyms, taxonomy=taxonomy, language=canonical_language)
    show_notes(terms)
    own_files = [bundle, stop_words, synonyms, taxonomy]
    texts = [each for each in pages or () if not is_input(each)]
    if shape is not None:
        for text in texts:
            check_text(text)
        if not shape.one_file and (texts or not pages):
            raise UsageError("parts are made of files, not of texts", todo="Name files or folders, or - for standard input")
    if shape is not None and shape.is_job and pages and not texts:
        check_targets([shape.out if shape.one_file else None, reading.problems], [synonyms, taxonomy])
        cataloguing.run(
            bundle,
            pages,
            shape,
            chosen,
            reading=reading,
            engine=engine,
            device="cpu" if device == "auto" else device,
            workers=workers,
            cluster=cluster,
            restart=restart,
            stop_words=stop_words,
            terms=terms,
            as_json=as_json,
        )
        return
    target = "" if out is None or out == "-" else out
    given: list[str] = []
    for each in pages or []:
        folder = os.path.isdir(each)
        given += find_inputs([each], format=reading.format, out=target, one_file=True) if folder else [each]
    check_targets([out, reading.problems], [*filter(is_input, given), *own_files])
    if out is not None and os.path.isfile(out) and not restart:
        raise InputError("is there already", where=out, todo="Use --restart to replace it, or name another file")
    tagger = _loaded(bundle, chosen, engine=engine, device=device, stop_words=stop_words, terms=terms)
    reading, columns = cataloguing.of_shop(bundle, reading, [each for each in given if is_input(each)])
    _stream(tagger, given, out, chosen, reading=reading, columns=columns, as_json=as_json)


def _loaded(bundle: Path, chosen: Options, *, engine: str, device: str, stop_words: Path | None, terms: Terms) -> Tagger:
    from batag.cli.cataloguing import check_labels
    from batag.tagging.tagger import Tagger

    more = () if stop_words is None else (stop_words,)
    tagger = Tagger.load(bundle, engine=engine, device=device, stop_words=more, terms=terms)
    tagger.decoding.least(chosen.richness)
    check_labels(chosen.labels, tagger.labels)
    return tagger


def _stream(
    tagger: Tagger,
    pages: list[str],
    out: str | None,
    chosen: Options,
    *,
    reading: options.Reading,
    columns: dict[str, str],
    as_json: bool,
) -> None:
    """Tag page by page, to the terminal, a pipe or a file."""
    from batag.catalogue.tagged import choose
    from batag.catalogue.totals import Totals
    from batag.cli.cataloguing import summary
    from batag.cli.files import note_by_file, save, text_or_pages
    from batag.pages.fields import MAIN_FIELD
    from batag.pages.record import dump, to_record
    from batag.tagging.top import top as best

    totals = Totals(began=time.monotonic())
    terminal = console()
    with reading.collected() as found, ExitStack() as end:
        end.callback(lambda: note_by_file(totals.languages_by_file))

        def tagged() -> Iterator[Page]:
            how = reading.options | {"usual_columns": tagger.usual_columns | columns}
            given = text_or_pages(pages, field=MAIN_FIELD, doing="tagging", problems=found, **how)
            for prediction in tagger.predict(given):
                kept = choose(tagger.tags_of(prediction, chosen.richness), chosen)
                kept = best(kept, chosen.top) if chosen.top else kept
                totals.tags.update(each.label for each in kept)
                totals.pages += 1
                totals.languages_by_file[prediction.language] += prediction.by_file
                page = prediction.page
                yield replace(page, tags=tuple(kept), labelled=True, reviewed=False, extra={**page.extra, "error": None})

        if out is not None and (out != "-" or chosen.format != "jsonl"):
            source = ", ".join(pages or ["standard input"])
            table = {name: True for name in ("bom", "excel_safe") if getattr(chosen, name)}
            save(tagged(), out, source=source, format=chosen.format, problems=found, segmentation=tagger.segmentation, **table)
            console(error=True).print(summary(totals, "standard output" if out == "-" else out))
            return
        for page in tagged():
            if terminal.is_terminal and not as_json and out is None:
                for line in highlighted(page, tagger.labels):
                    terminal.print(line)
            else:
                sys.stdout.buffer.write(dump(to_record(page)) + b"\n")
        sys.stdout.buffer.flush()


STYLES = ("black on bright_green", "black on bright_cyan", "black on bright_yellow", "black on bright_magenta", "white on blue")


def highlighted(page: Page, labels: tuple[str, ...]) -> Iterable[Text]:
    """Yield the page's fields with coloured tags, and then a line with the tags and their scores."""
    from rich.text import Text

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
