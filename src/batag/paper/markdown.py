"""A table's result as Markdown: conditions, scores beside the paper's, differences, predicted counts."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from batag.labels.scheme import NONE
from batag.paper.comparison import Difference
from batag.paper.corpus import PARTS
from batag.paper.result import METRICS, MOMENTS, Place, Result, seed_of, spread


def write_markdown(result: Result, *, command: str) -> str:
    """The whole Markdown page."""
    definition = result.definition
    parts = [f"# {definition.title} (the paper's {definition.paper})", _conditions(result, command)]
    for moment, when in MOMENTS.items():
        for metric in result.all_metrics:
            parts += [f"## {_head(metric)} on test, {when}", _grid(result, _scores(result, metric, moment))]
    parts.append(
        "Differences are in points, over the seeds that both have, with the middle 95 % of a paired bootstrap over test pages "
        "(2,000 resamplings, seeds together); in brackets the paper's own. The interval is about the choice of test pages "
        "alone: a difference that is within the spread of seeds proves nothing."
    )
    for base in definition.bases:
        tables = [
            (f"### {_head(metric)}, {when}", _grid(result, cells, without=base))
            for moment, when in MOMENTS.items()
            for metric in result.all_metrics
            if (cells := _differences(result, base, metric, moment))
        ]
        if tables:
            parts += [f"## {base} minus the others", _tally(result, base), *(part for pair in tables for part in pair)]
    if definition.compares_columns:
        sooner = {other: result.sooner(one, other) for other, one in result.pairs(definition.base)}
        if any(sooner.values()):
            parts.append(f"## When {definition.base} reached the others' best macro F2 on dev")
            parts.append("Epochs, and seconds that the processor was busy.")
            parts.append(_grid(result, sooner, without=definition.base))
    if definition.special and result.finished:
        parts.append("## Warm-up and loss")
        parts.append("Steps of warm-up of all steps, and the training loss of the last epoch, seed by seed.")
        parts.append(_grid(result, {place: "; ".join(map(_warmup, found)) for place, found in result.finished.items()}))
    if definition.curves and result.finished:
        parts += ["## Macro F2 on dev by epoch (mean of seeds)", _by_epoch(result)]
    if definition.amounts is not None:
        for moment, when in MOMENTS.items():
            parts += [f"## Tokens predicted on test, {when}", _amounts(result, moment)]
    if result.failed:
        lines = [
            f"- {row}, {column}, seed {seed_of(each)}: {each['failed']}"
            for (row, column), found in result.failed.items()
            for each in found
        ]
        parts += ["## Failed", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _conditions(result: Result, command: str) -> str:
    found = result.conditions()
    if not found:
        return f"Nothing finished yet (0 of {result.wanted} cells). Command: `{command}`"
    pages = " / ".join(f"{found['pages'].get(part, 0):,}" for part in PARTS)
    counts = " : ".join(f"{count:,}" for count in found["training_tokens"])
    left_out = [
        f"{part}: {number:,} {what.replace('_', ' ')}"
        for part, left in found["left_out"].items()
        for what, number in left.items()
    ]
    left_out += [f"{number:,} {kind}" for kind, number in found["problems"].items()]
    commits = ", ".join(f"{name} ({number})" for name, number in found["commits"].items())
    lines = [
        f"{' and '.join(map(str, found['epochs']))} epochs (the paper: {result.definition.epochs}), seeds "
        f"{', '.join(map(str, found['seeds']))}; {result.done} of {result.wanted} cells finished, "
        f"{found['seconds'] / 3600:.1f} hours of one core.",
        f"Corpus {found['corpus']['name']}: {pages} pages, training tokens {counts} ({', '.join(found['classes'])}).",
        f"Left out or not fitting: {'; '.join(left_out)}." if left_out else "",
        f"{'; '.join(found['versions'])}; {' to '.join(dict.fromkeys((found['dates'][0], found['dates'][-1])))}; CPU, one "
        "process per cell.",
        f"Cells by the commit that trained them: {commits}." if len(found["commits"]) > 1 else "",
        f"Command: `{command}`",
    ]
    return "\n\n".join(line for line in lines if line)


def _scores(result: Result, metric: str, moment: str) -> dict[Place, str]:
    """Mean and spread of each place, with the best in bold and the paper's number."""
    seeds = max((len(found) for found in result.finished.values()), default=0)
    best = _best(result, metric, moment)
    cells = {}
    for place in result.places:
        values, failed = result.values(*place, metric=metric, moment=moment), len(result.failed.get(place, []))
        text = spread(values) if values else "failed" if failed else "-"
        if place in best:
            text = f"**{text}**"
        if failed and values:
            text += f" ({failed} of {failed + len(values)} failed)"
        elif 0 < len(values) < seeds:
            text += f" ({len(values)} seed{'s' if len(values) > 1 else ''})"
        paper = result.published(place, metric)
        cells[place] = text if paper is None else f"{text} (paper {paper})"
    return cells


def _best(result: Result, metric: str, moment: str) -> set[Place]:
    """The best place of each row, or of each column where rows are compared; none if there is only one."""
    lines: dict[str, dict[Place, float]] = {}
    for place in result.finished:
        values = result.values(*place, metric=metric, moment=moment)
        lines.setdefault(place[0 if result.definition.compares_columns else 1], {})[place] = statistics.mean(values)
    return {place for line in lines.values() if len(line) > 1 for place, mean in line.items() if mean == max(line.values())}


def _differences(result: Result, base: str, metric: str, moment: str) -> dict[Place, str]:
    cells = {}
    for other, one in result.pairs(base):
        if difference := result.difference(one, other, metric=metric, moment=moment):
            ours, theirs = result.published(one, metric), result.published(other, metric)
            paper = f" (paper {ours - theirs:+.1f})" if ours is not None and theirs is not None else ""
            cells[other] = f"{difference}{paper}"
    return cells


def _tally(result: Result, base: str) -> str:
    """How often the base is ahead in each column, and how often the interval excludes 0."""
    columns = [column.name for column in result.definition.columns if column.name != base]
    lines = []
    for moment, when in MOMENTS.items():
        for metric in result.all_metrics:
            found: dict[str, list[Difference]] = {}
            for other, one in result.pairs(base):
                if difference := result.difference(one, other, metric=metric, moment=moment):
                    found.setdefault(other[1], []).append(difference)
            cells = [_standing(found[name]) if name in found else "-" for name in columns]
            lines.append([f"{METRICS[metric]}, {when}", *cells])
    return _table([f"{base} is", *columns], lines)


def _standing(found: Sequence[Difference]) -> str:
    ahead, behind = (sum(sign * each.points > 0 for each in found) for sign in (1, -1))
    clear, clear_behind = sum(each.low > 0 for each in found), sum(each.high < 0 for each in found)
    return f"ahead {ahead} of {len(found)} ({clear} clear), behind {behind} ({clear_behind} clear)"


def _warmup(cell: Mapping[str, Any]) -> str:
    """A note about runs that end soon after their warm-up and so were hardly trained at the full rate."""
    last = cell["epochs"][-1]
    return f"{cell['recipe']['schedule']['warmup']:,} of {last['step']:,}, loss {last['loss']:.1f}"


def _by_epoch(result: Result) -> str:
    places = list(result.finished)
    curves = [[[line["macro_f2"] for line in each["epochs"]] for each in result.finished[place]] for place in places]
    means = [[f"{100 * statistics.mean(values):.1f}" for values in zip(*curve, strict=True)] for curve in curves]
    lines = [[number, *values] for number, values in enumerate(zip(*means, strict=True), 1)]
    return _table(["epoch", *(", ".join(place) for place in places)], lines)


def _amounts(result: Result, moment: str) -> str:
    """Predicted beside gold counts, and the paper's own, which are of another test set."""
    papers = result.definition.amounts or {}
    theirs = list(next(iter(papers.values()), {}))
    lines: list[list[str]] = []
    classes: Sequence[str] = ()
    for (row, column), found in result.finished.items():
        classes = [name for name in found[0]["classes"] if name != NONE]
        if not lines:
            true = found[0]["test"][moment]["true"]
            lines.append(["truth", "", *(f"{true[name]:,}" for name in classes), *("" for _ in theirs)])
        amounts = [statistics.mean(each["test"][moment]["predicted"][name] for each in found) for name in classes]
        paper = [f"{papers.get(row, {}).get(name, 0):,}" for name in theirs]
        lines.append([row, column, *(f"{amount:,.0f}" for amount in amounts), *paper])
    return _table(["", "", *classes, *(f"paper, {name}" for name in theirs)], lines)


def _grid(result: Result, cells: Mapping[Place, str], *, without: str | None = None) -> str:
    """Cells by row and column, without the row or column that the others are compared with."""
    rows, columns = (
        [choice.name for choice in choices if choice.name != without]
        for choices in (result.definition.rows, result.definition.columns)
    )
    return _table(["", *columns], [[row, *(cells.get((row, column)) or "-" for column in columns)] for row in rows])


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def _head(metric: str) -> str:
    return METRICS[metric].replace("macro", "Macro", 1)
