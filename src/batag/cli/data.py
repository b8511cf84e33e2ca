"""Commands for data: `batag sample` (write a made-up catalogue), `split` (into train, dev and test without leaks), `convert`
(between formats) and `segment` (text into tokens)."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from batag.cli import options
from batag.cli.terminal import console, counted, escaped_cells, print_json, progress, watched
from batag.errors import InputError, UsageError


def sample(
    language: Annotated[str, typer.Option(help="Language of the pages: zh-Hant, zh-Hans, ja or en.")] = "zh-Hant",
    pages: Annotated[int, typer.Option(min=1, help="Number of pages.")] = 2000,
    split: Annotated[
        str, typer.Option(help="train, dev or test; dev and test have brands and goods that are not in train.")
    ] = "train",
    seed: Annotated[int, typer.Option(help="Random seed; the same seed writes the same file.")] = 0,
    style: Annotated[
        str, typer.Option(help="shops: ten kinds of shops, labels brand, goods and feature; paper: five shops as in the paper.")
    ] = "shops",
    export: Annotated[
        Path | None,
        typer.Option(
            help="New CSV file for the same pages as a shop exports them: number, title, description, brand, category, price, "
            "without labels. Without --out nothing else is written.",
        ),
    ] = None,
    out: options.OutFile = "-",
    to: options.To = None,
    as_json: options.Json = False,
) -> None:
    """Write labelled pages of a made-up catalogue, or a shop's export without labels."""
    from batag.cli.files import save
    from batag.pages.file import check_targets
    from batag.pages.formats import format_to_write
    from batag.pages.problems import Problems
    from batag.sample import check_export, sample_pages, write_export
    from batag.segmentation.segmentation import Segmentation

    labelled = export is None or out != "-"
    format = format_to_write(out, to)
    facts = {"pages": pages, "language": language, "split": split, "seed": seed, "style": style}

    def made() -> Iterator[Any]:
        return progress(sample_pages(language, pages=pages, split=split, seed=seed, style=style), doing="writing", total=pages)

    if export is not None:
        if style != "shops":
            raise UsageError(f"the style {style!r} has no brand and category columns to export", todo="Use --style shops")
        check_targets([export, out] if labelled else [export], [])
        check_export(export)
    if labelled:
        save(made(), out, source="sample", format=format, segmentation=Segmentation(), problems=Problems())
    if export is not None:
        write_export(made(), export, language=language)
    if as_json and (out != "-" or export is not None):
        files = ({"out": out, "format": format} if labelled else {}) | ({"export": str(export)} if export is not None else {})
        print_json(files | facts)
        return
    if out != "-":
        console(error=True).print(f"{pages:,} {language} pages in {out}; look at them with: batag inspect {out}")
    if export is not None:
        console(error=True).print(f"{pages:,} {language} pages in {export}, as a shop exports them, without labels")


def split(
    pages: Annotated[list[Path], typer.Argument(metavar="PAGES", help="Files of pages.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for train.jsonl, dev.jsonl, test.jsonl and split.json.")],
    shares: Annotated[str, typer.Option(help="Relative sizes of train, dev and test.")] = "8:1:1",
    seed: Annotated[int, typer.Option(help="Random seed; the same pages and seed give the same split.")] = 0,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Split pages into train, dev and test, by shop and language; duplicates and near-duplicates stay in one split."""
    from batag.pages.file import check_targets, open_output
    from batag.pages.formats import read_pages, write_stream
    from batag.pages.page import Page, without_surrogates
    from batag.pages.problems import Problems
    from batag.pages.splitting import SPLITS, assign_splits, parse_shares

    check_targets([*(out / f"{name}.jsonl" for name in SPLITS), out / "split.json", reading.problems], pages)
    parts = parse_shares(shares)
    for path in pages:
        if (path.exists() and not path.is_file() and not path.is_dir()) or str(path) == "-":
            raise UsageError(f"{path} can be read only once, and split reads twice", todo="Save it to a file first")

    def read(found: Problems, doing: str) -> Iterator[Page]:
        for path in pages:
            with found.reading_one_of(pages):
                yield from watched(read_pages(path, **reading.options, problems=found), doing=doing)

    with reading.collected() as found:
        assignment = assign_splits(read(found, "comparing"), shares=parts, seed=seed)
    if not assignment.splits:
        raise found.no_page(", ".join(map(str, pages)))
    report = {
        "pages": len(assignment.splits),
        "splits": assignment.counts,
        "groups": assignment.groups,
        "pages_with_twins": assignment.grouped,
        "shares": shares,
        "seed": seed,
        "files": [str(path) for path in pages],
    }
    empty = [name for name, share in zip(SPLITS, parts, strict=True) if share and not assignment.counts[name]]
    warning = (
        f"no page for {' and '.join(empty)}: there are too few pages, or too many duplicates (which stay in one split)"
        if empty
        else ""
    )
    report["warning"] = warning
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=str(out), todo="Name a folder")
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        streams = {name: files.enter_context(open_output(out / f"{name}.jsonl")) for name in SPLITS}
        written = 0
        for page, name in zip(read(Problems(), "writing"), assignment.splits, strict=False):
            write_stream([page], streams[name], format="jsonl")
            written += 1
        if written != len(assignment.splits):
            raise InputError("changed while it was being read", where=", ".join(map(str, pages)), todo="Split it again")
        text = without_surrogates(json.dumps(report, ensure_ascii=False, indent=2))
        files.enter_context(open_output(out / "split.json")).write(text.encode())
    if as_json:
        print_json(report)
        return
    from rich.table import Table

    table = Table("split", "pages", "share", title=f"{counted(len(assignment.splits), 'page')} in {out}", title_justify="left")
    for name, number in assignment.counts.items():
        table.add_row(name, f"{number:,}", f"{number / len(assignment.splits):.1%}")
    console().print(table)
    note = f"pages with duplicates or near-duplicates: {assignment.grouped:,}; these stay in one split"
    console().print(note)
    if warning:
        console().print(warning, style="bold yellow")


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="File to read; - for standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File to write; - for standard output.")],
    to: options.To = None,
    bom: options.Bom = False,
    excel_safe: options.ExcelSafe = False,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="Mark all pages as reviewed by a person: their tags become tags of a person.")
    ] = False,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Convert pages from one format to another; ids, text and tags are kept."""
    from batag.cli.files import save, segmentation_of
    from batag.pages.file import check_targets
    from batag.pages.formats import NEEDS_TOKENS, format_to_write, read_pages
    from batag.pages.page import PERSON, Page
    from batag.segmentation.majority import read_with_language

    check_targets([target, reading.problems], [source, dictionary])
    written = format_to_write(target, to)
    extra: dict[str, Any] = options.of_table(written, bom=bom, excel_safe=excel_safe)
    escaped: Counter[str] = Counter()
    if excel_safe:
        extra["escaped"] = escaped
    cutter = segmentation_of(segmentation, dictionary)
    kept: Counter[str] = Counter()

    def as_reviewed(pages: Iterable[Page]) -> Iterator[Page]:
        for page in pages:
            kept.update(tag.source for tag in page.tags if tag.source != PERSON)
            # Labels that could not be read are not "a person says that there is none".
            unread = not page.labelled and not page.extra.keys().isdisjoint(("tags", "labels"))
            yield page if unread else page.reviewed_by_person()

    with reading.collected() as found:
        read = read_with_language if written in NEEDS_TOKENS else read_pages
        reader = read(source, **reading.options, problems=found)
        pages = watched(reader, doing="converting")
        pages = as_reviewed(pages) if reviewed else pages
        count = save(pages, target, source=source, format=written, problems=found, segmentation=cutter, **extra)
    if as_json and target != "-":
        report = {"in": source, "from": reader.format, "out": target, "to": written, "pages": count}
        report |= {"escaped_cells": dict(escaped)} if excel_safe else {}
        report |= {"reviewed": dict(kept)} if reviewed else {}
        print_json(report | {"problems": dict(found.counts)})
    elif target != "-":
        more = f"; {escaped_cells(escaped.total())}" if excel_safe else ""
        tags = (
            " and ".join(f"{counted(number, 'tag')} by {name}" for name, number in kept.most_common()) or "no tag by a machine"
        )
        more += f"; all pages are marked as reviewed, and {tags} as the person's own" if reviewed else ""
        done = f"{counted(count, 'page')} from {source} ({reader.format}) to {target} ({written}){more}"
        console(error=True).print(done)


def segment(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT_OR_FILE", help="Texts or files (default: lines of standard input)."),
    ] = None,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    rules: options.Rules = None,
    separator: Annotated[str, typer.Option(help="Separator of tokens when the output is not a terminal.")] = " ",
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Split text into tokens: coloured in the terminal, one line per text in a pipe, offsets with --json."""
    from collections import Counter

    from batag.cli.files import note_by_file, segmentation_of, text_or_pages
    from batag.pages.file import check_targets

    check_targets([reading.problems], [*(texts or []), dictionary])
    cutter = segmentation_of(segmentation, dictionary, rules=rules)
    out, by_file = console(), Counter[str]()
    with reading.collected() as found:
        for page in text_or_pages(texts or [], field="text", doing="segmenting", problems=found, **reading.options):
            (tokenized,) = cutter.tokenize([page])
            by_file[tokenized.language] += tokenized.by_file
            for field in tokenized.fields:
                if as_json:
                    tokens = [
                        {"text": word, "start": start, "end": end}
                        for word, (start, end) in zip(field.words, field.origins, strict=True)
                    ]
                    line = {"id": page.id, "field": field.name, "language": tokenized.language, "tokens": tokens}
                    typer.echo(json.dumps(line, ensure_ascii=False))
                elif out.is_terminal:
                    from rich.text import Text

                    styles = ("cyan", "green")
                    words = ((word, styles[place % 2]) for place, word in enumerate(field.words))
                    out.print(Text(" ").join(Text(word, style) for word, style in words))
                else:
                    typer.echo(separator.join(field.words))
    note_by_file(by_file)
