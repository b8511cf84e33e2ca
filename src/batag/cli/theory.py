"""What `batag paper` says without training: parameters, schedules, thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Pages = tuple[Path, dict[str, Any]]


def show_parameters(out: Path, *, pages: Pages | None, as_json: bool) -> None:
    """The paper's table 2."""
    from rich.table import Table

    from batag.cli.terminal import console, print_json
    from batag.paper.parameters import count_parameters

    facts = count_parameters()
    if as_json:
        print_json(facts)
        return
    table = Table("encoder (4 layers, width 128, inner 512, 4 heads, 3 classes)", "parameters", "paper")
    for name, number in facts["parameters"].items():
        table.add_row(name, f"{number:,}", "1.316 million" if name == "bat" else "")
    console().print(table)
    console().print(facts["difference"], markup=False)


def show_schedules(out: Path, *, pages: Pages | None, as_json: bool) -> None:
    """The rates of every version at some steps, and all of them drawn."""
    from rich.table import Table

    from batag.cli.terminal import console, print_json
    from batag.paper.figures import draw_schedules
    from batag.paper.schedules import rates

    at = [1, 1_000, 4_000, 10_000, 50_000]
    found = rates(at)
    out.mkdir(parents=True, exist_ok=True)
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
    from batag.labels.scheme import NONE
    from batag.objectives import PAPER
    from batag.pages.formats import read_pages
    from batag.paper.figures import draw_thresholds
    from batag.paper.thresholds import switching_point
    from batag.sample import LANGUAGES, sample_pages
    from batag.segmentation.segmentation import Segmentation
    from batag.training.examples import choose_scheme, label_words

    if pages is None:
        given = (page for language in LANGUAGES for page in sample_pages(language, pages=600, split="train"))
        found = label_words(given, Segmentation())
    else:
        found = label_words(read_pages(pages[0], **pages[1]), Segmentation())
    classes = choose_scheme("flat", found, where="the sample catalogue" if pages is None else str(pages[0])).classes
    counts = [found.class_tokens[name] for name in (NONE, *classes)]
    points = {name: {label: switching_point(name, counts, place) for place, label in enumerate(classes, 1)} for name in PAPER}
    out.mkdir(parents=True, exist_ok=True)
    rarest = min(range(1, len(counts)), key=lambda place: counts[place])
    path = out / "thresholds.png"
    draw_thresholds(path, counts=counts, label=rarest, name=classes[rarest - 1])
    if as_json:
        said = dict(zip((NONE, *classes), counts, strict=True))
        print_json({"counts": said, "thresholds": points, "picture": str(path)})
        return
    table = Table("tagged from (%)")
    for name, count in zip(classes, counts[1:], strict=True):
        table.add_column(cell(f"{name} ({count:,})"))
    table.title = f"{counts[0]:,} tokens of no class"
    for name, row in points.items():
        table.add_row(name, *(percent(value) for value in row.values()))
    console().print(table)
    console().print(
        "A token is best tagged from F1/2 on if F1 is to be highest and from F2/5 on for F2, F being the score that is "
        "reached: for scores of 75 %, from 37.5 % and from 15 %. An objective far below tags too much, far above too little.",
        markup=False,
    )
    console().print(f"the rarest class drawn in {path}", markup=False)


SHOWN = {"parameters": show_parameters, "schedules": show_schedules, "thresholds": show_thresholds}
