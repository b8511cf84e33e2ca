"""`batag convert`: any readable format to any writable one."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from batag.cli import options


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="File to read; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File to write; - is standard output.")],
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format to write: jsonl, parquet, csv, tsv, xlsx, conll, words, doccano or label-studio."),
    ] = None,
    bom: options.Bom = False,
    excel_safe: options.ExcelSafe = False,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="A person has seen all pages: the tags on them, and what has none, are people's.")
    ] = False,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Read pages in one format and write them in another; ids, text and tags stay."""
    from collections.abc import Iterable, Iterator

    from batag.cli.saving import save
    from batag.cli.terminal import console, counted, escaped_cells, print_json, watched
    from batag.pages.file import check_targets
    from batag.pages.formats import NEEDS_TOKENS, format_to_write, read_pages
    from batag.pages.page import PERSON, Page
    from batag.segmentation.dictionary import Dictionary
    from batag.segmentation.majority import read_with_language
    from batag.segmentation.segmentation import Segmentation

    check_targets([target, reading.problems], [source, dictionary])
    written = format_to_write(target, to)
    extra: dict[str, Any] = options.of_table(written, bom=bom, excel_safe=excel_safe)
    escaped: Counter[str] = Counter()
    if excel_safe:
        extra["escaped"] = escaped
    cutter = Segmentation(segmentation, dictionary=Dictionary.read(dictionary) if dictionary else None)
    kept: Counter[str] = Counter()

    def seen(pages: Iterable[Page]) -> Iterator[Page]:
        for page in pages:
            kept.update(tag.source for tag in page.tags if tag.source != PERSON)
            # Labels that could not be read are not "a person says that there is none".
            unread = not page.labelled and not page.extra.keys().isdisjoint(("tags", "labels"))
            yield page if unread else page.seen()

    with reading.collected() as found:
        read = read_with_language if written in NEEDS_TOKENS else read_pages
        reader = read(source, **reading.options, problems=found)
        pages = watched(reader, doing="converting")
        pages = seen(pages) if reviewed else pages
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
        more += f"; all pages count as seen by a person, and {tags} as the person's own" if reviewed else ""
        done = f"{counted(count, 'page')} from {source} ({reader.format}) to {target} ({written}){more}"
        console(error=True).print(done, markup=False)
