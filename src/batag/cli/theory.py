"""What `batag paper` prints without training: parameters, schedules, thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Pages = tuple[Path, dict[str, Any]]


def show_parameters(out: Path, *, pages: Pages | None, as_json: bool) -> None:
    """The paper's table 2."""
    from rich.table import Table

    from batag.cli.terminal import console, print_json
    from batag.paper.theory import count_parameters

    found = count_parameters()
    if as_json:
        print_json(found)
        return
    table = Table("encoder (4 layers, width 128, inner 512, 4 heads, 3 classes)", "parameters", "paper")
    for name, number in found["parameters"].items():
        table.add_row(name, f"{number:,}", "1.316 million" if name == "bat" else "")
    console().print(table)
    console().print(found["difference"], markup=False)


def show_schedules(out: Path, *, pages: Pages | None, as_json: bool) -> None:
    """The rates of every schedule at some steps, and all of them drawn."""
    from rich.table import Table

    from batag.cli.terminal import console, print_json
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
    console().print(f"drawn in {path}", markup=False)


def show_thresholds(out: Path, *, pages: Pages | None, as_json: bool) -> None:
    """From which probability on each objective would have a token tagged, for the classes of these pages."""
    from rich.table import Table

    from batag.cli.tables import percent
    from batag.cli.terminal import cell, console, print_json
    from batag.pages.formats import read_pages
    from batag.paper.corpus import sample_corpus
    from batag.paper.figures import draw_thresholds
    from batag.paper.thresholds import class_counts, switching_points

    file, reading = (sample_corpus(out, pages=600).train, {}) if pages is None else pages
    counts = class_counts(read_pages(file, **reading), where=str(file))
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
        "reached: for scores of 75 %, from 37.5 % and from 15 %. An objective far below tags too much, far above too little.",
        markup=False,
    )
    console().print(f"the rarest class drawn in {path}", markup=False)


THEORY = {"parameters": show_parameters, "schedules": show_schedules, "thresholds": show_thresholds}
