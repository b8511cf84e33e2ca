"""Print scores as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from batag.cli.terminal import cell, counted

if TYPE_CHECKING:
    from rich.console import Console


def percent(value: float) -> str:
    """A score in percent with one decimal, as in the paper: 84.3."""
    return f"{100 * value:.1f}"


def show_scores(report: Mapping[str, Any], out: Console) -> None:
    """Print the token-level and tag-level scores of a report."""
    from rich.table import Table

    tokens, tags = report["tokens"], report["tags"]
    table = Table("token level", *("precision", "recall", "F1", "F2", "true", "predicted"), title_justify="left")
    for name, row in tokens["classes"].items():
        cells = [percent(row[key]) for key in ("precision", "recall", "f1", "f2")]
        table.add_row(cell(name), *cells, f"{row['true']:,}", f"{row['predicted']:,}")
    table.add_section()
    for name, suffix in (("macro", ""), ("macro without none", "_without_none")):
        table.add_row(name, "", "", percent(tokens[f"macro_f1{suffix}"]), percent(tokens[f"macro_f2{suffix}"]), style="bold")
    out.print(table)
    table = Table("tag level (exact borders)", "precision", "recall", "F1", "F2", "true", "predicted", "found")
    summary = ("micro", "macro")
    for name, row in [*tags["classes"].items(), *((name, tags[name]) for name in summary)]:
        if row is tags["micro"]:
            table.add_section()
        cells = [percent(row[key]) for key in ("precision", "recall", "f1", "f2")]
        amounts = [f"{row[key]:,}" if key in row else "" for key in ("true", "predicted", "found")]
        table.add_row(cell(name), *cells, *amounts, style="bold" if row is tags.get(name) else "")
    out.print(table)


def show_stop_words(report: Mapping[str, Any], out: Console) -> None:
    """Print how many predicted and gold tags the stop words removed, if any."""
    counts, gold = report["stop_words"], report["tags"]["micro"]["true"]
    if counts["removed"] or counts["forbidden"]:
        line = (
            f"stop words: removed {counts['removed']:,} predicted tags ({counts['removed_right']:,} of them correct), and "
            f"{counts['forbidden']:,} of {gold:,} gold tags cannot be found (only stop words and small numbers, which no "
            "training page has as a tag)"
        )
        out.print(line, style="yellow")


def show_old(report: Mapping[str, Any], out: Console) -> None:
    """Print the scores on old dev pages in one line, if there were any."""
    if old := report.get("old"):
        tokens, micro = old["tokens"], old["tags"]["micro"]
        line = (
            f"separately, on {counted(old['pages'], 'old dev page')}: macro F1 {percent(tokens['macro_f1'])}, macro F2 "
            f"{percent(tokens['macro_f2'])}, tag F1 {percent(micro['f1'])}, tag F2 {percent(micro['f2'])}"
        )
        out.print(line)


def show_comparison(reports: Mapping[str, Any], out: Console, *, heading: str, classes: Sequence[str] = ()) -> None:
    """Print one line per tagger: its macro scores, the F1 of some classes, and its scores of tags; the last one is in bold."""
    from rich.table import Table

    table = Table(heading, "macro F1", "macro F2", *(f"{each} F1" for each in classes), "tags F1", "tags F2")
    for number, (name, report) in enumerate(reports.items(), 1):
        tokens, micro = report["tokens"], report["tags"]["micro"]
        scores = [tokens["macro_f1"], tokens["macro_f2"], *(tokens["classes"][each]["f1"] for each in classes)]
        style = "bold" if number == len(reports) else ""
        table.add_row(name, *map(percent, (*scores, micro["f1"], micro["f2"])), style=style)
    out.print(table)


def show_points(points: Mapping[str, Any], out: Console) -> None:
    """Print the scores of the three operating points on the pages that they were chosen on."""
    from rich.table import Table

    if not points:
        return
    table = Table("dial (chosen on these pages)", *("precision", "recall", "tag F0.5", "tag F1", "tag F2", "token macro F2"))
    for name, row in points.items():
        keys = ("precision", "recall", "tag_f0.5", "tag_f1", "tag_f2", "macro_f2")
        table.add_row(name, *(percent(row[key]) for key in keys))
    out.print(table)
    out.print("clean, balanced and rich are values of --richness; no offsets: every tag that is more probable than not")


def show_groups(by: Mapping[str, Mapping[str, Any]], out: Console) -> None:
    """Print one line per language, field and shop."""
    from rich.table import Table

    if not by:
        return
    table = Table("by", "", "tokens", "macro F1", "macro F2", "tags", "tag F1", "tag F2")
    for group, members in by.items():
        for name, report in members.items():
            tokens, micro = report["tokens"], report["tags"]["micro"]
            scores = percent(tokens["macro_f1"]), percent(tokens["macro_f2"])
            table.add_row(
                group,
                cell(name or "(none)"),
                f"{tokens['tokens']:,}",
                *scores,
                f"{micro['true']:,}",
                percent(micro["f1"]),
                percent(micro["f2"]),
            )
        table.add_section()
    out.print(table)
