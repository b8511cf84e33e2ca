"""`batag weak`: label pages with lists of terms (brands, categories)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.terminal import cell, console, counted, print_json, watched
from batag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from batag.labels.weak import Terms
    from batag.pages.page import Page


def weak(
    source: Annotated[str, typer.Argument(metavar="PAGES", help="File of pages; - for standard input.")],
    terms: Annotated[
        list[str],
        typer.Option(
            "--terms", metavar="FILE=LABEL", help="File of terms, one per line, and the label to give them; may be repeated."
        ),
    ],
    out: options.OutFile = "-",
    to: options.To = None,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Label pages with term lists (weak labels): longest terms first, whole words, any case, width or Chinese script."""
    from batag.cli.files import note_by_file, save, segmentation_of
    from batag.labels.weak import Marking
    from batag.pages.file import check_targets
    from batag.pages.formats import format_to_write

    check_targets([out, reading.problems], [source, dictionary, *(each.rpartition("=")[0] for each in terms)])
    written = format_to_write(out, to)
    cutter = segmentation_of(segmentation, dictionary)
    marking = Marking(lists_of(terms), cutter)
    with reading.collected() as found:
        reader = reading.pages(source, found)
        given = _counted(watched(reader, doing="marking"), by_file := Counter[str]())
        save(marking(given), out, source=source, format=written, problems=found, segmentation=cutter)
    note_by_file(by_file)
    report = marking.report() | {"out": out, "problems": dict(found.counts)}
    if as_json and out != "-":
        print_json(report)
    else:
        _show(report)


def _counted(pages: Iterable[Page], counts: Counter[str]) -> Iterator[Page]:
    """The pages, and in `counts` by language how many have only that of most pages of the file."""
    from batag.segmentation.segmentation import settled_language

    for page in pages:
        language, by_file = settled_language(page)
        counts[language] += by_file
        yield page


def lists_of(given: list[str]) -> Terms:
    """The terms of files given as FILE=LABEL."""
    from batag.labels.scheme import NONE
    from batag.labels.weak import Terms
    from batag.pages.stopwords import read_words

    lists: dict[str, list[str]] = {}
    for each in given:
        file, equals, label = each.rpartition("=")
        if not equals or not file.strip() or not label.strip():
            raise UsageError(f"--terms {each!r} is not FILE=LABEL", todo="Write it like --terms brands.txt=brand")
        if not Path(file).exists() and Path(label.strip()).is_file():
            todo = f"Did you mean --terms {label.strip()}={file.strip()}? The file comes first"
            raise UsageError(f"--terms {each!r}: there is no file {file.strip()!r}", todo=todo)
        if label.strip() == NONE:
            raise UsageError(f"--terms {each!r}: {NONE!r} is the class of tokens without a tag", todo="Name another label")
        lists.setdefault(label.strip(), []).extend(read_words(Path(file)))
    terms = Terms(lists)
    if not len(terms):
        raise UsageError("no term in any list", todo="Write one term per line")
    return terms


def _show(report: dict[str, Any]) -> None:
    from rich.table import Table

    err = console(error=True)
    table = Table("label", "terms", "found on pages", "tags")
    for label, row in report["labels"].items():
        table.add_row(cell(label), *(f"{row[key]:,}" for key in ("terms", "found", "tags")))
    err.print(table)
    more = f"; {counted(report['in_two_lists'], 'term')} in two lists (the first counts)" if report["in_two_lists"] else ""
    err.print(
        f"{counted(report['pages'], 'page')}: {report['labelled_by_people']:,} labelled by people and not changed, "
        f"{report['marked_before']:,} labelled before (their tags are kept, more are added), "
        f"{report['without_terms']:,} without a term and so without labels{more}"
    )
