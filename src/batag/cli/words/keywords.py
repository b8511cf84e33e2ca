"""`batag keywords`: the keywords of pages or texts, without any label."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.terminal import console, counted, print_json, visible
from batag.errors import UsageError
from batag.keywords import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.text import Text

    from batag.keywords.extractor import Extractor, Keyword
    from batag.keywords.statistics import Statistics
    from batag.pages.page import Page
    from batag.pages.problems import Problems
    from batag.segmentation.segmentation import Segmentation

FIT = "fit"
_TABLES = frozenset({"csv", "tsv", "xlsx"})
Backbone = Annotated[
    Path | None, typer.Option("--backbone", help="Local folder of a Hugging Face model, for the method embedding.")
]
StatisticsFile = Annotated[
    Path | None,
    typer.Option(
        "--statistics",
        help="Statistics of a corpus, made with `batag keywords fit` (default: of the given files, which are then read twice).",
    ),
]


def keywords(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help=f"{', '.join(METHODS)}; or fit, to write the statistics of a corpus (a file instead: auto)."
        ),
    ],
    pages: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT_OR_FILE", help="Texts or files of pages (default: lines of standard input)."),
    ] = None,
    top: Annotated[int, typer.Option("--top", help="Number of keywords of a page.", min=1)] = 10,
    statistics: StatisticsFile = None,
    backbone: Backbone = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="File to write (.jsonl, .csv, .xlsx, .parquet, ..., also .gz and .zst)."),
    ] = None,
    to: options.To = None,
    bom: options.Bom = False,
    excel_safe: options.ExcelSafe = False,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Find the keywords of texts or pages, in all languages and without any label; fit counts the words of a corpus."""
    from batag.cli.files import segmentation_of
    from batag.pages.file import check_targets, once_only

    given = list(pages or [])
    if method not in (*METHODS, FIT) and (os.path.isfile(method) or once_only(method)):
        given, method = [method, *given], "auto"
    files = [each for each in given if os.path.isfile(each) or each == "-"]
    check_targets([out, reading.problems], [*files, statistics, dictionary])
    cutter = segmentation_of(segmentation, dictionary)
    if method == FIT:
        _fit(given, out, cutter, reading=reading, as_json=as_json)
        return
    extractor = extractor_of(method, given, cutter, statistics=statistics, backbone=backbone, reading=reading)
    _extract(extractor, given, out, top=top, to=to, bom=bom, excel_safe=excel_safe, reading=reading, as_json=as_json)


def extractor_of(
    method: str,
    given: Sequence[str],
    segmentation: Segmentation,
    *,
    statistics: Path | None,
    backbone: Path | None,
    reading: options.Reading,
) -> Extractor:
    """The extractor of that name. Without a file of statistics they are those of the given files, if these can be read
    twice."""
    from batag.keywords import build_extractor, extractor_class
    from batag.keywords.statistics import Statistics
    from batag.pages.file import once_only

    extra: dict[str, Any] = {}
    if method == "embedding" and backbone is not None:
        from batag.features.backbone import Backbone as Model

        extra["vectors"] = Model(backbone).read
    elif backbone is not None:
        raise UsageError("--backbone is for the method embedding", todo="Leave it out, or name that method")
    uses = extractor_class(method).uses_statistics
    known = None
    if statistics is not None:
        if not uses:
            raise UsageError(f"{method} uses no statistics", todo="Leave --statistics out, or use auto, tfidf or bm25")
        known = Statistics.load(statistics)
    elif uses and given and all(os.path.isfile(each) and not once_only(each) for each in given):
        # Problems of the input are told when the pages are read again.
        known = count_words(given, segmentation, reading=reading, problems=None)
    return build_extractor(method, statistics=known, segmentation=segmentation, **extra)


def count_words(
    given: Sequence[str], segmentation: Segmentation, *, reading: options.Reading, problems: Problems | None
) -> Statistics:
    """The statistics of files of pages."""
    from batag.cli.terminal import watched
    from batag.keywords.document import documents
    from batag.keywords.statistics import Statistics

    found = Statistics()
    for path in given:
        found.fit(documents(watched(reading.pages(path, problems), doing="counting words of"), segmentation))
    return found


def _fit(given: Sequence[str], out: str | None, segmentation: Segmentation, *, reading: options.Reading, as_json: bool) -> None:
    if not given or out is None or out == "-":
        raise UsageError("fit needs files of pages and --out FILE", todo="Write: batag keywords fit PAGES --out words.tsv")
    with reading.collected() as problems:
        found = count_words(given, segmentation, reading=reading, problems=problems)
        if not found.pages:
            raise problems.no_page(", ".join(given))
        found.save(out)
    if as_json:
        print_json({"out": out, "pages": found.pages, "entries": found.entries, "problems": dict(problems.counts)})
    else:
        amount = f"{counted(found.entries, 'word')} and phrases of {counted(found.pages, 'page')}"
        console(error=True).print(f"{amount} in {out}")


def _extract(
    extractor: Extractor,
    given: Sequence[str],
    out: str | None,
    *,
    top: int,
    to: str | None,
    bom: bool,
    excel_safe: bool,
    reading: options.Reading,
    as_json: bool,
) -> None:
    from batag.cli.files import save, text_or_pages
    from batag.pages.fields import MAIN_FIELD
    from batag.pages.formats import format_to_write
    from batag.pages.record import dump, to_record

    out = "-" if out is None and to is not None else out
    format = format_to_write(out or "-", to)
    table = options.of_table(format, bom=bom, excel_safe=excel_safe)
    terminal = console()
    with reading.collected() as found:
        read = text_or_pages(given, field=MAIN_FIELD, doing="finding keywords of", problems=found, **reading.options)
        pairs = extractor.extract_many(read, top=top)
        if out is not None and (out != "-" or format != "jsonl"):
            source = ", ".join(given or ["standard input"])
            plain = format in _TABLES
            written = (with_keywords(page, own, plain=plain) for page, own in pairs)
            more: dict[str, Any] = {"segmentation": extractor.segmentation, **table}
            more |= {"also": ("keywords",)} if plain else {}
            number = save(written, out, source=source, format=format, problems=found, **more)
            console(error=True).print(f"{counted(number, 'page')} in {'standard output' if out == '-' else out}")
            return
        for page, own in pairs:
            if terminal.is_terminal and not as_json and out is None:
                for line in highlighted(page, own):
                    terminal.print(line)
            else:
                sys.stdout.buffer.write(dump(to_record(with_keywords(page, own))) + b"\n")
        sys.stdout.buffer.flush()


def with_keywords(page: Page, found: Sequence[Keyword], *, plain: bool = False) -> Page:
    """The page with its keywords: all of them in order in the column `keywords` (as one text if `plain`), and as tags; where
    two overlap, the longer one is the tag."""
    from dataclasses import replace

    from batag.pages.check import settle

    tags = settle((tag for each in found for tag in each.tags(page)), page.fields, None)
    listed = [{"text": each.text, "score": each.score} for each in found]
    shown = "; ".join(each.text for each in found) if plain else listed
    return replace(page, tags=tags, labelled=True, reviewed=False, extra={**page.extra, "keywords": shown})


def highlighted(page: Page, found: Sequence[Keyword]) -> Iterable[Text]:
    """Yield the page's fields with coloured keywords, and then a line of the keywords with their scores."""
    from rich.text import Text

    from batag.cli.tag import STYLES

    for name, text in page.fields.items():
        line = Text(visible(text))
        for field, start, end in _places(found):
            if field == name:
                line.stylize(STYLES[0], start, end)
        yield line
    line = Text("  ")
    for each in found:
        line.append(f" {visible(each.text)} ", STYLES[0]).append(f" {each.score:.3g}  ", "dim")
    yield line if found else Text("   no keyword", "dim")


def _places(found: Sequence[Keyword]) -> Iterator[tuple[str, int, int]]:
    for each in found:
        yield from each.places
