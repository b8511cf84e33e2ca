"""`batag evaluate`: score a bundle on labelled pages."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.tables import show_groups, show_scores, show_stop_words
from batag.cli.terminal import console, counted, one_line, print_json
from batag.cli.words.keywords import Backbone, StatisticsFile
from batag.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from batag.pages.page import Page
    from batag.tagging.tagger import Tagger


def evaluate(
    bundle: options.Bundle,
    pages: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PAGES", help="Files of labelled pages (with --keywords also without a bundle)."),
    ] = None,
    wrong: Annotated[
        Path | None,
        typer.Option("--wrong", help="Write the pages with errors to this JSONL file, with gold and predicted tags."),
    ] = None,
    chart: Annotated[Path | None, typer.Option("--chart", help="Draw the scores to this .png or .svg file.")] = None,
    dial: Annotated[
        Path | None,
        typer.Option("--dial", help="Draw the scores by richness and a reliability plot to this .png or .svg file."),
    ] = None,
    keywords: Annotated[
        str | None,
        typer.Option("--keywords", help="Score these methods of keywords instead, comma-separated, with labels ignored."),
    ] = None,
    terms: Annotated[
        list[str] | None,
        typer.Option("--terms", metavar="FILE=LABEL", help="With --keywords: score a list of terms too; may be repeated."),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option("--gold", help="With --keywords: column that lists the true keywords (default: the pages' tags)."),
    ] = None,
    statistics: StatisticsFile = None,
    backbone: Backbone = None,
    richness: options.Richness = None,
    engine: options.Engine = "auto",
    device: options.Device = "auto",
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Evaluate a bundle by tokens (macro F1 and F2) and by tags (exact match), overall and by language, field and shop."""
    from batag.cli.cautions import not_reviewed
    from batag.cli.files import note_by_file
    from batag.evaluation.charts import check_picture, draw_scores
    from batag.pages.file import check_targets, once_only, open_output
    from batag.pages.problems import Problems
    from batag.pages.record import dump
    from batag.tagging.assessment import assess
    from batag.tagging.tagger import Tagger

    if keywords is not None:
        from batag.cli.words.scores import evaluate_keywords

        for option, value in (("--wrong", wrong), ("--chart", chart), ("--dial", dial)):
            if value is not None:
                raise UsageError(f"{option} does not go with --keywords", todo="Leave one of them out")
        evaluate_keywords(
            [bundle, *(pages or [])],
            methods=keywords,
            terms=terms or [],
            gold=gold,
            statistics=statistics,
            backbone=backbone,
            richness=richness,
            reading=reading,
            as_json=as_json,
        )
        return
    for option, given in (("--terms", terms), ("--gold", gold), ("--statistics", statistics), ("--backbone", backbone)):
        if given:
            raise UsageError(f"{option} is for --keywords", todo="Leave it out, or add --keywords METHOD")
    if not pages:
        raise UsageError("there are no pages to score on", todo="Write: batag evaluate BUNDLE PAGES")
    check_targets([wrong, chart, dial, reading.problems], [*pages, bundle])
    for picture in (chart, dial):
        if picture is not None:
            check_picture(picture)
    tagger = Tagger.load(bundle, engine=engine, device=device)
    tagger.decoding.least(richness)
    if dial is not None and tagger.dial is None:
        raise UsageError("this bundle has no operating points to draw", todo="Leave --dial out, or train again")
    if dial is not None and (once := next(filter(once_only, pages), None)) is not None:
        raise UsageError(f"--dial reads the pages twice, and {once} can be read once", todo="Name a file")
    usual = tagger.usual_columns
    with ExitStack() as files, reading.collected() as found:
        stream = files.enter_context(open_output(wrong)) if wrong is not None else None
        listed = None if stream is None else lambda record: stream.write(dump(record) + b"\n")
        labelled = reading.pages_of(pages, found, usual_columns=usual, doing="scoring")
        assessment = assess(tagger, labelled, richness=richness, wrong=listed)
        if not assessment.pages:
            where = ", ".join(map(str, pages))
            if not assessment.not_labelled + assessment.not_reviewed:
                todo = "The file is empty, or see the problems listed"
                raise InputError("no page could be read", where=where, todo=todo)
            raise InputError("no labelled page to score on", where=where, todo="See docs/labelling.md")
    report = assessment.report()
    for line in not_reviewed(assessment.measured_by):
        console(error=True).print(line, style="bold red")
    note_by_file(assessment.languages_by_file)
    if dial is not None:
        report["dial"] = draw_sweep(tagger, reading.pages_of(pages, Problems(), usual_columns=usual), dial)
    if chart is not None:
        title = f"{tagger.bundle.description.name} on {', '.join(path.name for path in pages)}"
        draw_scores(report, chart, title=one_line(title))
    if as_json:
        print_json({"bundle": str(bundle), "files": [str(path) for path in pages]} | report | {"problems": dict(found.counts)})
        return
    out = console()
    line = f"pages without errors: {assessment.right:,} of {assessment.pages:,}"
    for number, what in ((assessment.not_labelled, "not labelled"), (assessment.not_reviewed, "not reviewed")):
        line += f"; left out: {number:,} {what}" if number else ""
    out.print(line)
    show_scores(report, out)
    show_groups(report["by"], out)
    show_stop_words(report, out)
    if assessment.unknown_classes:
        names = ", ".join(sorted(assessment.unknown_classes))
        note = f"the bundle does not know {names}: their tags count as missed, their tokens do not count"
        out.print(note, style="yellow")
    if dial is not None:
        drawn = report["dial"]
        errors = f"ECE {drawn['ece']['raw']:.3f} before calibration, {drawn['ece']['calibrated']:.3f} after"
        out.print(f"scores of {counted(drawn['tags'], 'tag')}, of any richness: {errors}")
    for path, what in ((wrong, "wrong pages"), (chart, "chart"), (dial, "dial")):
        if path is not None:
            out.print(f"{what} in {path}")


def draw_sweep(tagger: Tagger, pages: Iterable[Page], path: Path) -> dict[str, Any]:
    """Evaluate the tagger at every richness, draw the scores to a file and return them."""
    from batag.evaluation.charts import draw_dial
    from batag.evaluation.sweep import Sweep
    from batag.labels.provenance import Measuring

    assert tagger.dial is not None
    sweep = Sweep(tagger.predict(Measuring(pages)), tagger.scheme, stop_words=tagger.decoding.stop_words)
    report = sweep.report(tagger.dial, tagger.calibration)
    draw_dial(report, path, title=tagger.bundle.description.name)
    return report
