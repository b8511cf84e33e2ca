"""`batag paper`: the paper's tables and figures on any corpus; parameters, schedules and thresholds need no training."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.tables import percent
from batag.cli.terminal import cell, console, print_json
from batag.errors import BatagError, InputError, UsageError

if TYPE_CHECKING:
    from batag.paper.corpus import Corpus
    from batag.paper.result import Result
    from batag.paper.store import Store

_NOT_NAMED = frozenset({"table", "out", "show", "as_json"})
"""Parameters that are left out of the recorded command: the output folder, and options that change no result."""


def paper(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Table of the paper, by name and number: parameters (2), schedules (a figure), thresholds (of objectives), "
            "rates (1), encoders (3, 4), encoders-ja (5, 6), layers (7, 8), "
            "boost (9), objectives (10, 11), objectives-long (12, 13), curves (the figures) or ablations (claims of the text).",
        ),
    ],
    train: Annotated[Path | None, typer.Option("--train", help="Training pages (default: the sample catalogue).")] = None,
    dev: Annotated[Path | None, typer.Option("--dev", help="Pages to choose the best epoch on.")] = None,
    test: Annotated[Path | None, typer.Option("--test", help="Pages to report scores on.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the corpus (default: the name of its folder).")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="Epochs per cell (default: as in the paper).")] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Trainings per cell, with seeds 0, 1, ...")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Trainings in parallel, one core each.")] = 1,
    only_rows: Annotated[str | None, typer.Option("--only-rows", help='Rows to train, such as "CE;CLA(1,20)".')] = None,
    only_columns: Annotated[
        str | None, typer.Option("--only-columns", help='Columns to train, such as "BAT;Transformer".')
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Change a value of every cell's recipe.")
    ] = None,
    scale_warmup: Annotated[
        bool,
        typer.Option("--scale-warmup", help="Table layers: scale the paper's warm-up by the same factor as its 100 epochs."),
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of finished cells and tables.")] = Path("paper"),
    quick: Annotated[bool, typer.Option("--quick", help="Small width, three encoders, two objectives, few epochs.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Train nothing; write the table with the finished cells.")] = False,
    format: options.Format = None,
    columns: options.Columns = None,
    language: options.Language = None,
    encoding: options.Encoding = None,
    as_json: options.Json = False,
) -> None:
    """Train the unfinished cells of one of the paper's tables, and write the table beside the paper's own numbers."""
    reading = options.Reading(format, columns, language, encoding)
    if table in THEORY:
        out.mkdir(parents=True, exist_ok=True)
        THEORY[table](out, train, reading, as_json)
        return

    from batag.pages.file import open_output
    from batag.paper.figures import draw_result
    from batag.paper.markdown import write_markdown
    from batag.paper.result import Result
    from batag.paper.store import Store
    from batag.paper.tables import find_table
    from batag.paper.tables import quick as make_quick
    from batag.training.setting import parse_setting

    whole = find_table(table)
    definition = (make_quick(whole) if quick else whole).only(only_rows, only_columns)
    if scale_warmup:
        if not definition.special:
            raise UsageError(f"--scale-warmup: the table {table} has no warm-ups of its own", todo="It goes with layers")
        definition = definition.with_scaled_warmup(epochs or whole.epochs)
    for setting in set_ or []:
        parse_setting(setting)
    store = Store(out)
    if show and name and not (train or dev or test):
        corpus = store.corpus(name)
    else:
        corpus = _corpus(train, dev, test, name=name, out=out)
        corpus = replace(corpus, reading=reading.options)
    cells = list(definition.cells(corpus, seeds=seeds, epochs=epochs, more=set_ or []))
    if not show:
        try:
            _train(cells, store, jobs=jobs)
        except KeyboardInterrupt:
            console(error=True).print("stopped; run the same command again to resume")
            raise typer.Exit(130) from None
    result = Result.gather(definition, cells, store)
    command = _command(context)
    marks = {"quick": quick, "scaled": scale_warmup, "part": only_rows or only_columns}
    stem = "-".join([corpus.name, table, *(mark for mark, wanted in marks.items() if wanted)])
    report = result.to_dict() | {"command": command}
    texts = {
        ".md": write_markdown(result, command=command),
        ".json": json.dumps(report, ensure_ascii=False, indent=1) + "\n",
    }
    out.mkdir(parents=True, exist_ok=True)
    for suffix, text in texts.items():
        with open_output(out / f"{stem}{suffix}") as stream:
            stream.write(text.encode())
    draw_result(result, out / f"{stem}.png")
    if as_json:
        print_json(report)
        return
    _show(result)
    missing = result.wanted - result.done
    state = f"{missing} of {result.wanted} cells are not finished; run the same command again to resume. " if missing else ""
    console().print(f"{state}Written: {out / stem}.md, .json, .png")


def _corpus(train: Path | None, dev: Path | None, test: Path | None, *, name: str | None, out: Path) -> Corpus:
    from batag.paper.corpus import Corpus, sample_corpus

    if train is None and dev is None and test is None:
        return sample_corpus(out, pages=600)
    if train is None or dev is None or test is None:
        raise UsageError("--train, --dev and --test go together", todo="Name all three, or none for the sample catalogue")
    for path in (train, dev, test):
        if not path.is_file():
            raise InputError("is not a file", where=str(path), todo="Name a file of labelled pages")
    if name is not None and (not name.strip() or "/" in name or "\\" in name):
        raise UsageError(f"--name {name!r} cannot be part of a file's name", todo="Leave / out")
    return Corpus(name or train.resolve().parent.name or "corpus", train, dev, test)


def _train(cells: list[tuple[str, str, int, Any]], store: Store, *, jobs: int) -> None:
    """Train the unfinished cells, and print a line per cell with its scores and the estimated time left."""
    from batag.paper.work import finish

    err = console(error=True)
    names = {cell.key: f"{row}, {column}, seed {seed}" for row, column, seed, cell in cells}
    missing = {cell.key for *_, cell in cells if not store.find(cell)}
    if len(missing) < len(names):
        err.print(f"{len(names) - len(missing)} of {len(names)} cells are finished already")
    if not missing:
        return
    began, errors = time.monotonic(), []
    for done, (trained, result) in enumerate(finish([each for *_, each in cells], store, jobs=jobs), 1):
        name = names[trained.key]
        left = (time.monotonic() - began) / done * (len(missing) - done)
        if isinstance(result, BatagError):
            errors.append(f"{name}: {result}")
            outcome = f"error: {result}"
        elif "failed" in result:
            outcome = f"failed: {result['failed']}"
        else:
            scores = result["test"]["end"]
            macros = f"macro F1 {percent(scores['macro_f1'])} F2 {percent(scores['macro_f2'])}"
            outcome = f"test {macros}, {result['seconds']:.0f} s"
        err.print(f"{done}/{len(missing)}  {name}: {outcome}; about {left / 60:.0f} min left")
    if errors:
        raise InputError(
            f"{len(errors)} of {len(missing)} cells could not be trained; the first is {errors[0]}",
            todo="Finished cells are kept; correct this and run the same command again",
        )


def _command(context: typer.Context) -> str:
    """The command line that makes this table, with file names instead of paths and without default values."""
    words = [f"batag paper {context.params['table']}"]
    for option in context.command.params:
        value = context.params[option.name or ""]
        if option.name in _NOT_NAMED or value == option.default:
            continue
        for each in value if isinstance(value, list) else [value]:
            given = each.name if isinstance(each, Path) else str(each)
            words.append(option.opts[0] if each is True else f"{option.opts[0]} {shlex.quote(given)}")
    return " ".join(words)


def _show(result: Result) -> None:
    """Print the scores of the best epoch on dev."""
    from rich.table import Table

    from batag.paper.result import METRICS, MOMENTS, spread

    out = console()
    for metric in result.metrics:
        table = Table(METRICS[metric], *(column.name for column in result.definition.columns))
        table.title = f"{result.definition.title}: test, {MOMENTS['best']} (paper's number in brackets)"
        table.title_justify = "left"
        for row in result.definition.rows:
            cells = []
            for column in result.definition.columns:
                score = spread(result.values(row.name, column.name, metric=metric, moment="best")) or "-"
                number = result.published((row.name, column.name), metric)
                cells.append(score if number is None else f"{score} ({number})")
            table.add_row(cell(row.name), *cells)
        out.print(table)


def _show_parameters(out: Path, train: Path | None, reading: options.Reading, as_json: bool) -> None:
    """Print the paper's table 2."""
    from rich.table import Table

    from batag.paper.theory import count_parameters

    found = count_parameters()
    if as_json:
        print_json(found)
        return
    table = Table("encoder (4 layers, width 128, inner 512, 4 heads, 3 classes)", "parameters", "paper")
    for name, number in found["parameters"].items():
        table.add_row(name, f"{number:,}", "1.316 million" if name == "bat" else "")
    console().print(table)
    console().print(found["difference"])


def _show_schedules(out: Path, train: Path | None, reading: options.Reading, as_json: bool) -> None:
    """Print the learning rate of every schedule at some steps, and draw all schedules."""
    from rich.table import Table

    from batag.paper.figures import draw_schedules
    from batag.paper.theory import rates

    at = [1, 1_000, 4_000, 10_000, 50_000]
    found = rates(at)
    path = out / "schedules.png"
    draw_schedules(path)
    if as_json:
        print_json({"rates": {name: dict(zip(at, row, strict=True)) for name, row in found.items()}, "picture": str(path)})
        return
    table = Table("learning rate at step", *(f"{step:,}" for step in at))
    for name, row in found.items():
        table.add_row(name, *(f"{rate:.6e}" for rate in row))
    console().print(table)
    console().print(f"drawn in {path}")


def _show_thresholds(out: Path, train: Path | None, reading: options.Reading, as_json: bool) -> None:
    """Print from which probability on each objective predicts each class of these pages."""
    from rich.table import Table

    from batag.pages.formats import read_pages
    from batag.paper.corpus import sample_corpus
    from batag.paper.figures import draw_thresholds
    from batag.paper.thresholds import class_counts, switching_points

    file = train or sample_corpus(out, pages=600).train
    counts = class_counts(read_pages(file, **reading.options), where=str(file))
    found = switching_points(counts)
    none, *of_classes = counts.values()
    rarest = 1 + of_classes.index(min(of_classes))
    path = out / "thresholds.png"
    draw_thresholds(path, counts=list(counts.values()), label=rarest, name=list(counts)[rarest])
    if as_json:
        print_json({"counts": counts, "thresholds": found, "picture": str(path)})
        return
    table = Table("tagged from (%)", title=f"{none:,} tokens of no class")
    for name, count in list(counts.items())[1:]:
        table.add_column(cell(f"{name} ({count:,})"))
    for name, row in found.items():
        table.add_row(name, *(percent(value) for value in row.values()))
    console().print(table)
    console().print(
        "A token is best tagged from F1/2 on if F1 is to be highest and from F2/5 on for F2, F being the score that is "
        "reached: for scores of 75 %, from 37.5 % and from 15 %. An objective far below tags too much, far above too little."
    )
    console().print(f"the rarest class drawn in {path}")


THEORY = {"parameters": _show_parameters, "schedules": _show_schedules, "thresholds": _show_thresholds}
