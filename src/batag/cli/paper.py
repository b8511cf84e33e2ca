"""`batag paper`: the paper's tables and figures, on any corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options

if TYPE_CHECKING:
    from batag.paper.corpus import Corpus
    from batag.paper.result import Result
    from batag.paper.store import Store


def paper(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="parameters (table 2), schedules (drawn), thresholds (of objectives), rates (1), "
            "encoders (3, 4), encoders-ja (5, 6), layers (7, 8), "
            "boost (9), objectives (10, 11), objectives-long (12, 13), curves (the figures) or ablations (the text's claims).",
        ),
    ],
    train: Annotated[Path | None, typer.Option("--train", help="Training pages; none: the sample catalogue.")] = None,
    dev: Annotated[Path | None, typer.Option("--dev", help="Pages to choose the best epoch by.")] = None,
    test: Annotated[Path | None, typer.Option("--test", help="Pages to report scores of.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="The corpus in headings; none: its folder's name.")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="Length of each training; none: the paper's.")] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Trainings a cell: seeds 0, 1, ...")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Trainings side by side, one core each.")] = 1,
    rows: Annotated[str | None, typer.Option("--rows", help='Only these rows, as in "CE;CLA(1,20)".')] = None,
    columns: Annotated[str | None, typer.Option("--columns", help='Only these columns, as in "BAT;Transformer".')] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Change the recipe of every cell.")
    ] = None,
    scale_warmup: Annotated[
        bool,
        typer.Option(
            "--scale-warmup", help="layers: shorten the paper's warm-ups as much as --epochs shortens its 100 epochs."
        ),
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of cells and tables; finished cells stay.")] = Path("paper"),
    quick: Annotated[bool, typer.Option("--quick", help="Small width, three encoders, two objectives, few epochs.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Train nothing: write what is finished, however little.")] = False,
    format: options.Format = None,
    columns_of_pages: Annotated[
        str | None, typer.Option("--fields", help="Where our fields stand in the pages, as --columns of other commands.")
    ] = None,
    language: options.Language = None,
    encoding: options.Encoding = None,
    as_json: options.Json = False,
) -> None:
    """Train the cells of a table that are not finished yet, and write it with the paper's own numbers beside."""
    from batag.cli import theory

    if table in theory.SHOWN:
        pages = None if train is None else (train, options.of_input(format, columns_of_pages, language, encoding))
        theory.SHOWN[table](out, pages=pages, as_json=as_json)
        return
    import json
    from dataclasses import replace

    from batag.cli.terminal import console, print_json
    from batag.errors import UsageError
    from batag.pages.file import open_output
    from batag.paper.figures import draw_result
    from batag.paper.markdown import write_markdown
    from batag.paper.result import Result
    from batag.paper.store import Store
    from batag.paper.tables import find_table
    from batag.paper.tables import quick as make_quick
    from batag.training.setting import parse_setting

    whole = find_table(table)
    definition = (make_quick(whole) if quick else whole).only(rows, columns)
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
        corpus = replace(corpus, reading=options.of_input(format, columns_of_pages, language, encoding))
    cells = list(definition.cells(corpus, seeds=seeds, epochs=epochs, more=set_ or []))
    if not show:
        try:
            _train(cells, store, jobs=jobs)
        except KeyboardInterrupt:
            console(error=True).print("stopped; the same command goes on from here", markup=False)
            raise typer.Exit(130) from None
    result = Result.gather(definition, cells, store)
    said = {"seeds": seeds, "jobs": jobs, "rows": rows, "columns": columns, "name": name, "format": format}
    said |= {"fields": columns_of_pages, "language": language, "encoding": encoding}
    own = [f"--set '{setting}'" for setting in set_ or []] + (["--scale-warmup"] if scale_warmup else [])
    parts = [f"batag paper {table}", *_files(corpus, train), *_options(said), *own]
    command = " ".join([*parts, *([f"--epochs {epochs}"] if epochs else []), *(["--quick"] if quick else [])])
    stem = "-".join(
        [
            corpus.name,
            table,
            *(["quick"] if quick else []),
            *(["scaled"] if scale_warmup else []),
            *(["part"] if rows or columns else []),
        ]
    )
    out.mkdir(parents=True, exist_ok=True)
    facts = result.facts() | {"command": command}
    texts = {
        ".md": write_markdown(result, command=command, paper_command=" ".join([*parts, f"--epochs {whole.epochs}"])),
        ".json": json.dumps(facts, ensure_ascii=False, indent=1) + "\n",
    }
    for suffix, text in texts.items():
        with open_output(out / f"{stem}{suffix}") as stream:
            stream.write(text.encode())
    draw_result(result, out / f"{stem}.png")
    if as_json:
        print_json(facts)
        return
    _show(result)
    missing = result.wanted - result.done
    state = f"{missing} of {result.wanted} cells are not finished; the same command goes on. " if missing else ""
    console().print(f"{state}Written: {out / stem}.md, .json, .png", markup=False)


def _corpus(train: Path | None, dev: Path | None, test: Path | None, *, name: str | None, out: Path) -> Corpus:
    from batag.errors import InputError, UsageError
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
    """Train what is missing, a line a cell, with the time left as far as the finished ones tell it."""
    import time

    from rich import progress as bars

    from batag.cli.tables import percent
    from batag.cli.terminal import console
    from batag.errors import BatagError, InputError
    from batag.paper.work import finish

    err = console(error=True)
    names = {cell.key: f"{row}, {column}, seed {seed}" for row, column, seed, cell in cells}
    finished = {cell.key: found["sources"] != cell.sources for *_, cell in cells if (found := store.find(cell))}
    missing = names.keys() - finished
    if finished:
        earlier = f" ({sum(finished.values())} by earlier sources)" if any(finished.values()) else ""
        err.print(f"{len(finished)} of {len(names)} cells are finished already{earlier}", markup=False)
    if not missing:
        return
    columns = (
        bars.TextColumn("{task.completed}/{task.total} cells"),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[last]}"),
        bars.TimeRemainingColumn(),
    )
    began, errors = time.monotonic(), []
    with bars.Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as display:
        task = display.add_task("", total=len(missing), last=f"{jobs} side by side")
        for done, (cell, result) in enumerate(finish([cell for *_, cell in cells], store, jobs=jobs), 1):
            name = names[cell.key]
            left = (time.monotonic() - began) / done * (len(missing) - done)
            if isinstance(result, BatagError):
                errors.append(f"{name}: {result}")
                said = f"error: {result}"
            elif "failed" in result:
                said = f"failed: {result['failed']}"
            else:
                scores = result["test"]["end"]
                said = (
                    f"test macro F1 {percent(scores['macro_f1'])} F2 {percent(scores['macro_f2'])}, {result['seconds']:.0f} s"
                )
            err.print(f"{done}/{len(missing)}  {name}: {said}; about {left / 60:.0f} min left", markup=False)
            display.update(task, completed=done, last=name)
    if errors:
        raise InputError(
            f"{len(errors)} of {len(missing)} cells could not be trained; the first is {errors[0]}",
            todo="The finished ones are kept; put it right and give the same command again",
        )


def _files(corpus: Corpus, train: Path | None) -> list[str]:
    """The files as they are typed, without the folders of this machine."""
    names = (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test))
    return [] if train is None else [f"--{part} {path.name}" for part, path in names]


def _options(said: dict[str, Any]) -> list[str]:
    """Options as they were typed; what was not said is left out."""
    given = {key: value for key, value in said.items() if value not in (None, 1)}
    return [f'--{key} "{value}"' if isinstance(value, str) else f"--{key} {value}" for key, value in given.items()]


def _show(result: Result) -> None:
    """The scores in the terminal, at the best epoch on dev."""
    from rich.table import Table

    from batag.cli.terminal import cell, console
    from batag.paper.result import METRICS, MOMENTS, spread

    out = console()
    for metric in result.metrics:
        table = Table(METRICS[metric], *(column.name for column in result.definition.columns))
        table.title = f"{result.definition.title}: test, {MOMENTS['best']} (paper's number in brackets)"
        table.title_justify = "left"
        for row in result.definition.rows:
            cells = []
            for column in result.definition.columns:
                said = spread(result.values(row.name, column.name, metric=metric, moment="best")) or "-"
                number = result.published((row.name, column.name), metric)
                cells.append(said if number is None else f"{said} ({number})")
            table.add_row(cell(row.name), *cells)
        out.print(table)
