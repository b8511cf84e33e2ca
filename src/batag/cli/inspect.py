"""`batag inspect`: check labelled pages before training."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.terminal import cell, console, counted, print_json, watched
from batag.settings import settings

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 5


def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Files of labelled pages; a file with dev, valid or test in its name is that split."
        ),
    ],
    dev: Annotated[list[Path] | None, typer.Option("--dev", help="File to use as dev, whatever its name.")] = None,
    test: Annotated[list[Path] | None, typer.Option("--test", help="File to use as test, whatever its name.")] = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", help="Draw a bar chart of the classes to this .png or .svg file.")
    ] = None,
    segmentation: options.Segmentation = "auto",
    dictionary: options.UserDictionary = None,
    rules: options.Rules = None,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Check labelled pages: classes, rare classes, misaligned tags, inconsistent labels, leaks between splits, new words."""
    from batag.cli.files import segmentation_of
    from batag.labels.inspection import Inspection
    from batag.pages.file import check_targets
    from batag.pages.splitting import SPLITS

    check_targets([chart, reading.problems], [*files, *(dev or []), *(test or []), dictionary])
    given = [(split_of(path), path) for path in files]
    given += [("dev", path) for path in dev or []] + [("test", path) for path in test or []]
    inspection = Inspection(segmentation_of(segmentation, dictionary, rules=rules))
    formats: dict[str, str] = {}
    with reading.collected() as found:
        for split, path in sorted(given, key=lambda item: SPLITS.index(item[0])):
            with found.reading_one_of(given):
                reader = reading.pages(path, found)
                formats[str(path)] = reader.format
                inspection.add(watched(reader), split=split)
    report = {"files": formats} | inspection.report() | {"problems": dict(found.counts)}
    if not any(counts["pages"] for counts in report["splits"].values()):
        raise found.no_page(", ".join(map(str, files)))
    if chart is not None:
        from batag.evaluation.charts import draw_classes

        draw_classes(report, chart)
    if as_json:
        print_json(report)
    else:
        show(report, console())
        if chart is not None:
            console().print(f"chart in {chart}")


def split_of(path: Path) -> str:
    """The split in a file's name; train if there is none."""
    words = re.split(r"[^a-z]+", path.name.lower())
    if "test" in words:
        return "test"
    return "dev" if {"dev", "valid", "validation", "val"} & set(words) else "train"


def show(report: dict[str, Any], out: Console) -> None:
    """Print the report as tables."""
    from rich.table import Table

    from batag.labels.provenance import in_words

    for name, counts in report["splits"].items():
        out.rule(f"{name}: {counted(counts['pages'], 'page')}", align="left")
        bare = f" ({counts['labelled_pages_without_tags']:,} of them without a tag)" if counts["labelled_pages"] else ""
        lines = {
            "labelled": f"{counts['labelled_pages']:,}{bare}",
            "labelled by": in_words(counts["sources"]) or "nobody",
            "reviewed by people": f"{counts['reviewed_pages']:,} of the labelled pages",
            "languages": _counts(counts["languages"]),
            "shops": _counts(counts["shops"]) or "not given",
            "tokens": f"{counts['tokens']:,} ({counts['tokens_per_page']} per page)",
            "duplicate pages": f"{counts['duplicate_pages']:,}",
        }
        if counts["labelled_pages"]:
            lines["none : classes"] = counts["ratio"]
        if counts["languages_by_file"]:
            lines["language not clear"] = f"{_counts(counts['languages_by_file'])} (short pages, read like most of their file)"
        if "unknown_words" in counts:
            lines["new words"] = f"{counts['unknown_words']['fraction']:.1%} of the tokens are words that train does not have"
        if counts["rare_classes"]:
            lines["rare classes"] = (
                ", ".join(counts["rare_classes"]) + f" (fewer than {settings.rare_class_tags} tags: too few to trust)"
            )
        if counts["touching_tags"]:
            lines["touching tags"] = (
                f"{counts['touching_tags']:,} pairs of one class with nothing between; "
                "training keeps them apart, unless pages.scheme is flat"
            )
        for key, value in lines.items():
            out.print(f"  {key:16} {value}")
        table = Table("field", "pages", "characters per page", "tokens per page", "longest")
        for field, lengths in counts["fields"].items():
            cells = (lengths[key] for key in ("pages", "characters_per_page", "tokens_per_page", "longest_in_tokens"))
            table.add_row(cell(field), *(f"{cell:,}" for cell in cells))
        out.print(table)
        if counts["labelled_pages"]:
            _show_classes(counts, out)
    _show_findings(report, out)


def _show_classes(counts: dict[str, Any], out: Console) -> None:
    from rich.table import Table

    unknown = counts.get("unknown_words")
    headings = ["class", "tokens", "share", "", "tags", "distinct"]
    table = Table(*headings, *(["new words", "new tags"] if unknown else []))
    total = sum(each["tokens"] for each in counts["classes"].values()) or 1
    for name, each in counts["classes"].items():
        share = each["tokens"] / total
        cells: list[Any] = [cell(name), f"{each['tokens']:,}", f"{share:.1%}", "█" * max(round(30 * share), 1 if share else 0)]
        cells += [f"{each['tags']:,}", f"{each['distinct_texts']:,}"] if name != "none" else ["", ""]
        if unknown:
            seen = unknown["unseen_tags"].get(name)
            cells += [f"{unknown['by_class'].get(name, 0):.1%}", "" if seen is None else f"{seen:.1%}"]
        table.add_row(*cells)
    out.print(table)


def _show_findings(report: dict[str, Any], out: Console) -> None:
    from batag.labels.inspection import LISTED

    leaks, misaligned = report["leaks"], report["misaligned"]
    out.rule("to look at", align="left")
    findings = [
        (
            "misaligned tags (not at token borders)",
            misaligned["tags"],
            f"{misaligned['lost']:,} of them are lost",
            misaligned["listed"],
        ),
        (
            "pages with the text of an earlier page but other tags",
            report["disagreements"]["pages"],
            "",
            [f"{item['where']} and {item['earlier']}: {item['tags']}" for item in report["disagreements"]["listed"]],
        ),
        (
            "tag texts with several classes",
            report["ambiguous_tags"]["texts"],
            "",
            [f"{item['text']}: {_counts(item['classes'])}" for item in report["ambiguous_tags"]["listed"]],
        ),
        (
            "pages that are also in an earlier split",
            sum(leaks["pages"].values()),
            _counts(leaks["pages"]),
            [f"{item['where']} ({item['split']}) is also in {item['also']}" for item in leaks["listed"] if not item["near"]],
        ),
        (
            "pages that are nearly the same as one of an earlier split",
            sum(leaks["near_pages"].values()),
            _counts(leaks["near_pages"]),
            [f"{item['where']} ({item['split']}) is similar to {item['also']}" for item in leaks["listed"] if item["near"]],
        ),
    ]
    for what, number, more, listed in findings:
        if number:
            out.print(f"{what}: {number:,}{f' ({more})' if more else ''}", style="bold yellow")
            for each in listed[:_SHOWN]:
                out.print(f"    {each}")
            if number > _SHOWN:
                out.print(f"    ... and {number - _SHOWN:,} more; --json lists up to {LISTED}")
    if not any(number for _, number, _, _ in findings):
        out.print(_all_is_well(report), style="green")


def _all_is_well(report: dict[str, Any]) -> str:
    """The line about checks that found nothing; pages without tags cannot fail them."""
    splits = report["splits"].values()
    looked = ["no page is in two splits"] if len(report["splits"]) > 1 else []
    if any(tags["tags"] for counts in splits for tags in counts["classes"].values()):
        looked = ["tags fit the tokens", "no disagreement", *looked]
        return f"nothing: {', '.join(looked)}"
    labelled = sum(counts["labelled_pages"] for counts in splits)
    what = f"no tag on {counted(labelled, 'labelled page')}" if labelled else "no page is labelled"
    return f"{what}, so no tag could be checked (see docs/labelling.md){''.join(f'; {each}' for each in looked)}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())
