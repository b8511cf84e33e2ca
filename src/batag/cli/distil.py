"""`batag distil`: train a small, fast bundle to imitate a large one on unlabelled pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from batag.cli import options
from batag.cli.tables import percent, show_comparison, show_points, show_scores, show_stop_words
from batag.cli.terminal import console, counted, print_json, progress

if TYPE_CHECKING:
    from batag.training.distillation import DistillationEpoch, PreparedDistillation
    from batag.training.distillation.agreement import Agreement
    from batag.training.loop import StepDone


def distil(
    bundle: Annotated[
        Path,
        typer.Argument(
            metavar="BUNDLE",
            help="The teacher: folder of a bundle or a finished run, or starter.",
            callback=options.note_starter,
        ),
    ],
    pages: Annotated[list[Path], typer.Argument(metavar="PAGES", help="Files of pages; their labels are ignored.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the new bundle; must not exist yet.")] = Path("swift"),
    dev: Annotated[
        list[Path] | None,
        typer.Option("--dev", help="Labelled pages to choose the operating points on (default: keep the teacher's)."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="TABLE.KEY=VALUE",
            help="Change a value of the student's recipe, such as encoder.width=64; may be repeated.",
        ),
    ] = None,
    device: options.Device = "auto",
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Distil a large bundle into a small one on unlabelled pages: nearly as accurate, and faster."""
    from batag.bundles.bundle import read_bundle
    from batag.cli.cautions import far_from_teacher, not_reviewed, without_onnx
    from batag.pages.file import check_targets
    from batag.tagging.assessment import assess
    from batag.tagging.tagger import Tagger
    from batag.training.distillation import Distillation, student_recipe
    from batag.training.folder import check_new

    check_targets([reading.problems], [bundle, *pages, *(dev or [])])
    check_new(out)
    teacher = read_bundle(bundle)
    distillation = Distillation(teacher, student_recipe(teacher, settings=set_ or []), device=device)
    usual = teacher.description.usual_columns
    with reading.collected() as found:
        given, judges = (reading.pages_of(files, found, usual_columns=usual) for files in (pages, dev or []))
        run = distillation.read(given, dev=judges if dev else None, where=", ".join(map(str, pages)))
    epochs: list[DistillationEpoch] = []
    for _ in progress(_steps(run, epochs), doing="teaching", total=run.epochs * run.steps_per_epoch, unit="steps", every=10):
        pass
    finished, statistics = run.ship(out, epochs[-1]), run.data.statistics
    scores, compared = finished.scores, {}
    if "dev" in scores:
        before = assess(Tagger.load(bundle, device=device), run.data.new_dev.pages).report()
        compared = {"teacher": before, "student": scores["dev"]}
    doubts = far_from_teacher(epochs[-1].agreement.tag_f1, compared)
    if "dev" in scores:
        for line in not_reviewed(scores["dev"]["measured_by"]):
            console(error=True).print(line, style="bold red")
    if as_json:
        result = {"bundle": str(out), "teacher": str(teacher.folder), "trained_on": statistics, "metrics": scores}
        print_json(result | {"teacher_dev": compared.get("teacher"), "doubts": doubts})
        return
    to = console()
    if "dev" in scores:
        to.print("scores on dev, balanced tags:")
        show_scores(scores["dev"], to)
        show_points(scores["dev"]["points"], to)
        show_stop_words(scores["dev"], to)
        show_comparison(compared, to, heading="dev pages")
    to.print(f"on {statistics['held_out']:,} held-out pages {_alike(epochs[-1].agreement)}")
    for line in doubts:
        to.print(line, style="yellow")
    if finished.not_exported:
        to.print(without_onnx(finished.not_exported), style="yellow")
    to.print(f"bundle in {out}; next:")
    to.print(f"  batag evaluate {out} TEST_PAGES")
    to.print(f"  batag tag {out} PAGES --out TAGGED.jsonl")


def _steps(run: PreparedDistillation, epochs: list[DistillationEpoch]) -> Iterator[StepDone]:
    """Train the student and yield its steps, with one line per epoch on standard error; the epochs are collected."""
    from batag.training.loop import StepDone

    err, began, encoder = console(error=True), time.monotonic(), run.recipe.encoder
    size = f"{encoder.depth} layer{'s' if encoder.depth > 1 else ''}, width {encoder.width}/{encoder.inner}"
    heading = (
        f"{encoder.name} ({size}) learns from {run.bundle.description.name} on {counted(run.data.statistics['pages'], 'page')}"
    )
    err.print(f"{heading}, {counted(run.epochs, 'epoch')} of {counted(run.steps_per_epoch, 'step')}")
    for done in run.train():
        if isinstance(done, StepDone):
            yield done
        else:
            epochs.append(done)
            seconds = time.monotonic() - began
            line = f"epoch {done.epoch:3d}  loss {done.loss:.4f}  held out: {_alike(done.agreement)}  {seconds:.0f} s"
            err.print(line)


def _alike(agreement: Agreement) -> str:

    scores = f"tag F1 {percent(agreement.tag_f1)}, F2 {percent(agreement.tag_f2)}"
    return f"{percent(agreement.same)} % of token labels are the teacher's ({scores})"
