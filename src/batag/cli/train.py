"""`batag train`: train a run and its bundle on labelled pages."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.tables import percent, show_old, show_points, show_scores, show_stop_words
from batag.cli.terminal import Pace, bar, console, counted, print_json, progress, time_left
from batag.errors import InputError, UsageError

if TYPE_CHECKING:
    from batag.training.prepared import FinishedRun, PreparedRun
    from batag.training.run import Run


def train(
    pages: Annotated[list[Path] | None, typer.Argument(metavar="PAGES", help="Files of labelled pages.")] = None,
    dev: Annotated[
        list[Path] | None,
        typer.Option("--dev", help="Labelled pages to choose the best epoch on (default: a tenth of PAGES is held out)."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run; must not exist yet.")] = Path("run"),
    recipe: options.RecipeFile = None,
    set_: options.Set = None,
    show_recipe: Annotated[bool, typer.Option("--show-recipe", help="Print the whole recipe and exit.")] = False,
    resume: Annotated[Path | None, typer.Option("--resume", metavar="RUN", help="Resume an interrupted run.")] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="BUNDLE",
            help="Continue training from this bundle (the base bundle), with its recipe; starter is the one of batag.",
            callback=options.note_starter,
        ),
    ] = None,
    replay: Annotated[
        list[Path] | None,
        typer.Option(
            "--replay",
            help="With --from: old pages to mix with the new ones (default: the pages that the base bundle was trained on).",
        ),
    ] = None,
    device: options.Device = "auto",
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Train on labelled pages; the run's folder gets checkpoints, metrics, curves and the bundle of the best epoch."""
    from batag.pages.file import check_targets
    from batag.training.base_bundle import recipe_of
    from batag.training.recipe import read_recipe

    check_targets([reading.problems], [*(pages or []), *(dev or []), *(replay or []), recipe, from_, resume])
    if resume is not None and (pages or dev or recipe or from_ or replay):
        raise UsageError("--resume continues with the run's own pages and recipe", todo="Leave out everything but --set")
    if replay and from_ is None:
        raise UsageError("--replay is for --from", todo="Name old and new pages together, or a bundle with --from")
    base = None if from_ is None else recipe_of(from_)
    if show_recipe:
        typer.echo(read_recipe(recipe, settings=set_ or [], base=base).text(), nl=False)
        return
    from batag.training.data import DataFiles
    from batag.training.run import Run

    if resume is not None:
        run = Run.open(resume, settings=set_)
    elif pages:
        for path in (*pages, *(dev or []), *(replay or [])):
            if path.is_dir():
                raise InputError("is a folder", where=str(path), todo="Name the files in it")
            if str(path) == "-" or (path.exists() and not path.is_file()):
                raise UsageError(f"{path} cannot be read a second time when the run is resumed", todo="Name files")
        chosen = read_recipe(recipe, settings=set_ or [], base=base)
        files = DataFiles(tuple(pages), tuple(dev or ()), reading.options)
        if from_ is not None:
            files = files.going_on_from(from_, old=replay, replay=bool(chosen.training.replay))
        run = Run.create(out, chosen, files)
    else:
        raise UsageError("no pages to train on", todo="Name files of labelled pages, or a run with --resume")
    report(train_watched(run, device=device, reading=reading), as_json=as_json)


def train_watched(run: Run, *, device: str, reading: options.Reading = options.READING) -> FinishedRun:
    """Prepare and train a run with progress on standard error: a bar at a terminal, a line per epoch in a log."""
    from batag.cli.cautions import not_reviewed, notes, rare_classes, sources
    from batag.training.window_crf import ROUNDS

    err = console(error=True)
    with reading.collected() as found:
        fitting = partial(progress, doing="fitting the window CRF", total=ROUNDS, unit="rounds", every=1, announced=True)
        watch = partial(progress, doing="reading and segmenting pages", announced=True)
        prepared = run.prepare(device=device, problems=found, watch=watch, fitting=fitting)
    data = prepared.data
    for line in not_reviewed(data.statistics["measured_by"]):
        err.print(line, style="bold red")
    for line in sources(data.statistics):
        err.print(line)
    for line in (*notes(data.statistics), *rare_classes(data.statistics)):
        err.print(line, style="yellow")
    parameters = sum(each.numel() for each in prepared.learner.model.parameters())
    heading = (
        f"{run.recipe.encoder.name} ({parameters:,} parameters, {run.recipe.input.kind} input, {run.recipe.objective.name}) on "
        f"{counted(len(data.train), 'example')}"
    )
    return follow(prepared, heading=heading)


def epoch_scores(done: Any) -> str:
    """The dev scores of an epoch as text."""

    def macros(scores: Any) -> str:
        summary = scores.summary()
        tags = f"tag F1 {percent(summary['tag_f1'])} F2 {percent(summary['tag_f2'])}"
        return f"{tags}, token macro F2 {percent(summary['macro_f2'])}"

    return f"dev {macros(done.scores)}" + (f" (old pages: {macros(done.old)})" if done.old is not None else "")


@contextmanager
def _stoppable() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed. The first one takes effect between two steps, when a checkpoint
    can be saved; a second one stops at once."""
    stopped = False

    def stop(number: int, frame: Any) -> None:
        nonlocal stopped
        stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # a job in the background stays one
        signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: stopped
    finally:
        signal.signal(signal.SIGINT, before)


def follow(run: PreparedRun, *, heading: str) -> FinishedRun:
    """Train with a bar on standard error, or lines in a log. If it is interrupted, print how to resume."""
    from batag.training.loop import StepDone

    err = console(error=True)
    total, pace, at = run.epochs * run.steps_per_epoch, Pace(), run.learner.step
    length = f"{counted(run.epochs, 'epoch')} of {counted(run.steps_per_epoch, 'step')}"
    resumed = f"; resumed at step {at:,}" if at else ""
    err.print(f"{heading}, {length}{resumed}")
    scores = ""
    with (
        closing(run.train()) as steps,  # whatever ends it, the folder is free again
        _stoppable() as stopped,
        bar("training", err, total=total - at) as show,
    ):
        while True:
            try:
                done = next(steps)
            except StopIteration as end:
                finished: FinishedRun = end.value
                return finished
            left = time_left(pace.seconds, (done.step - at) / (total - at)) if at < done.step else ""
            if isinstance(done, StepDone):
                rate = (done.step - at) / pace.seconds
                speed = f"loss {done.loss:.4f}  {rate:.1f} steps/s"
                show(done.step - at, f"epoch {done.epoch}/{run.epochs}  {speed}  {scores}")
                if not err.is_terminal and pace.due():
                    at_step = f"epoch {done.epoch:3d}  step {done.step:,} of {total:,}"
                    err.print(f"{at_step}  {speed}  {left}")
            else:
                scores = epoch_scores(done)
                best = "  best so far" if run.selection.epoch == done.epoch else ""
                more = f", {left}" if left and done.step < total else ""
                line = f"epoch {done.epoch:3d}  loss {done.loss:.4f}  {scores}  {pace.seconds:.0f} s{more}{best}"
                err.print(line)
            if stopped():
                run.save()
                err.print(f"stopped; resume with: batag train --resume {run.folder}")
                raise typer.Exit(130)


def report(run: FinishedRun, *, as_json: bool) -> None:
    """Print the result and the next command to type."""
    from batag.cli.cautions import doubts, without_onnx
    from batag.training.data import BUNDLE
    from batag.training.folder import CURVES, DIAL

    bundle = run.folder / BUNDLE
    if as_json:
        result: dict[str, Any] = {"run": str(run.folder), "bundle": str(bundle), "data": run.data.statistics, "dev": run.scores}
        result |= {"mixing_weight": run.mixing_weight, "doubts": doubts(run), "not_exported": run.not_exported or None}
        print_json(result)
        return
    out = console()
    chosen = f"epoch {run.scores['epoch']}, by {run.run.selection.metric}"
    what = "new dev pages" if run.scores.get("old") else "dev pages"
    out.print(f"the best epoch ({chosen}) on {run.scores['pages']:,} {what}, balanced tags:")
    show_scores(run.scores, out)
    show_points(run.scores["points"], out)
    show_old(run.scores, out)
    show_stop_words(run.scores, out)
    for note in doubts(run):
        out.print(note, style="yellow")
    if run.not_exported:
        out.print(without_onnx(run.not_exported), style="yellow")
    pictures = f"curves in {run.folder / CURVES}, the dial in {run.folder / DIAL}"
    out.print(f"{pictures}, bundle in {bundle}; next:")
    out.print(f"  batag evaluate {bundle} TEST_PAGES")
    out.print(f"  batag tag {bundle} PAGES --out TAGGED.jsonl")
