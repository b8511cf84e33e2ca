"""`batag curve`: a learning curve, to see what more labelled pages would bring."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from batag.cli import options
from batag.cli.tables import percent
from batag.cli.terminal import Pace, cell, console, counted, one_line, print_json
from batag.errors import InputError


def curve(
    pages: Annotated[list[Path], typer.Argument(metavar="PAGES", help="Files of labelled pages.")],
    dev: Annotated[
        list[Path] | None, typer.Option("--dev", help="Labelled pages to score on (default: a fifth of PAGES is held out).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the runs; finished runs are reused.")] = Path("curve"),
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", help="Numbers of pages to train on, comma-separated (default: 50,100,250,500,1000,2000 and all)."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs per size, each on different pages.")] = 1,
    recipe: options.RecipeFile = None,
    set_: options.Set = None,
    device: options.Device = "auto",
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Draw a learning curve: train on subsets of your labelled pages and estimate what more pages would bring."""
    from rich import progress as bars
    from rich.table import Column, Table

    from batag.evaluation.charts import draw_learning_curve
    from batag.pages.file import check_targets
    from batag.training.learning_curve import Point, pages_for, parse_sizes, split_pages, train_point
    from batag.training.loop import StepDone
    from batag.training.prepared import PreparedRun
    from batag.training.recipe import read_recipe

    picture = out / "curve.png"
    check_targets([picture, reading.problems], [*pages, *(dev or []), recipe])
    if out.exists() and not out.is_dir():
        raise InputError("is no folder", where=str(out), todo="Name another folder with --out")
    changes = list(set_ or [])
    read_recipe(recipe, settings=changes)
    with reading.collected() as found:
        given = list(reading.pages_of(pages, found))
        held = None if dev is None else list(reading.pages_of(dev, found))
    err = console(error=True)
    if not_reviewed := sum(page.reviewed is False for page in [*given, *(held or [])]):
        note = f"left out {counted(not_reviewed, 'page')} that no person has reviewed: a learning curve needs labels of people"
        err.print(note, style="yellow")
    without: list[dict[str, int]] = []
    points: list[Point] = []
    pace, steps = Pace(), 0
    shown = bars.Progress(
        bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TimeRemainingColumn(), console=err, transient=True,
        disable=not err.is_terminal,
    )  # fmt: skip
    with shown:
        for seed in range(seeds):
            train, scored = split_pages(given, held, seed=seed)
            chosen = read_recipe(recipe, settings=["training.export=false", *changes, f"training.seed={seed}"])
            for size in parse_sizes(sizes, most=len(train)):
                before = len(points)
                name = f"{counted(size, 'page')}, seed {seed}"
                task = shown.add_task(name, total=None)
                for done in train_point(out / f"{size}-{seed}", train[:size], scored, chosen, device=device):
                    if isinstance(done, PreparedRun):
                        steps = done.epochs * done.steps_per_epoch
                        shown.update(task, total=steps)
                    elif isinstance(done, StepDone):
                        shown.update(task, completed=done.step)
                        if not err.is_terminal and pace.due():
                            err.print(f"{name}: step {done.step:,} of {steps:,}")
                    elif isinstance(done, Point):
                        points.append(done)
                        scores = f"macro F1 {percent(done.macro_f1)} F2 {percent(done.macro_f2)}"
                        err.print(f"{name}: {scores}")
                shown.remove_task(task)
                if len(points) == before:
                    without.append({"pages": size, "seed": seed})
                    err.print(f"{name}: left out, no tag", style="yellow")
    if not points:
        todo = "Ask for larger --sizes, or see docs/labelling.md"
        raise InputError("no tag on the pages of any size", where=", ".join(map(str, pages)), todo=todo)
    names = one_line(", ".join(path.name for path in pages))
    draw_learning_curve([asdict(point) for point in points], picture, title=f"{names}: learning curve")
    promises = {metric: pages_for(points, metric, gain=0.01) for metric in ("macro_f1", "macro_f2")}
    if as_json:
        report = {"points": [asdict(point) for point in points], "without_tags": without, "not_reviewed_left_out": not_reviewed}
        print_json(report | {"pages_for_one_point_more": promises, "chart": str(picture)})
        return
    rows = sorted({point.pages for point in points})
    classes = list(points[-1].classes)
    table = Table("pages", "macro F1", "macro F2", *(Column(cell(f"{name} F2")) for name in classes))
    for size in rows:
        own = [point for point in points if point.pages == size]
        columns_ = [[point.macro_f1 for point in own], [point.macro_f2 for point in own]]
        columns_ += [[point.classes.get(name, {}).get("f2", 0.0) for point in own] for name in classes]
        table.add_row(f"{size:,}", *(percent(sum(values) / len(values)) for values in columns_))
    out_console = console()
    out_console.print(table)
    for metric, name in (("macro_f1", "macro F1"), ("macro_f2", "macro F2")):
        pages_wanted = promises[metric]
        more = (
            f"about {pages_wanted:,} pages in all, if the curve continues like this"
            if pages_wanted
            else "the curve is too flat or too short to say"
        )
        out_console.print(f"one more point of {name}: {more}")
    out_console.print(f"curve in {picture}")
