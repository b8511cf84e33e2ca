"""A table's result as Markdown: conditions, scores with the paper's beside them, differences, amounts."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from batag.labels.scheme import NONE
from batag.paper.comparison import Difference
from batag.paper.corpus import PARTS
from batag.paper.definition import Definition
from batag.paper.result import METRICS, MOMENTS, Result, spread


def write_markdown(result: Result, *, command: str, paper_command: str) -> str:
    """The whole page."""
    definition = result.definition
    parts = [f"# {definition.title} (the paper's {definition.paper})", _conditions(result, command, paper_command)]
    for moment, when in MOMENTS.items():
        for metric in result.all_metrics:
            parts += [f"## {_head(metric)} on test, {when}", _scores(result, metric, moment)]
    parts.append(
        "Differences are in points, over the seeds that both have, with the middle 95 % of a paired bootstrap over test pages "
        "(2,000 resamplings, seeds together); in brackets the paper's own. The interval is about the choice of test pages "
        "alone: a difference that is within the spread of seeds proves nothing."
    )
    for base in definition.bases:
        tables = [
            (f"### {_head(metric)}, {when}", table)
            for moment, when in MOMENTS.items()
            for metric in result.all_metrics
            if (table := _differences(result, base, metric, moment))
        ]
        if tables:
            parts += [f"## {base} minus the others", _tally(result, base), *(part for pair in tables for part in pair)]
    if definition.compares_columns and (table := _sooner(result)):
        parts.append(f"## When {definition.base} reached the others' best macro F2 on dev")
        parts.append("Epochs, and seconds that the processor was busy.")
        parts.append(table)
    if definition.special and result.finished:
        parts.append("## Warm-up and loss")
        parts.append("Steps of warm-up of all steps, and the training loss of the last epoch, seed by seed.")
        parts.append(_warmups(result))
    if definition.curves and result.finished:
        parts += ["## Macro F2 on dev by epoch (mean of seeds)", _by_epoch(result)]
    if definition.amounts is not None:
        for moment, when in MOMENTS.items():
            parts += [f"## Tokens predicted on test, {when}", _amounts(result, moment)]
    if result.failed:
        lines = [
            f"- {row}, {column}, seed {each['recipe']['training']['seed']}: {each['failed']}"
            for (row, column), found in result.failed.items()
            for each in found
        ]
        parts += ["## Failed", "\n".join(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _conditions(result: Result, command: str, paper_command: str) -> str:
    facts = result.conditions()
    if not facts:
        return f"Nothing finished yet (0 of {result.wanted} cells). Command: `{command}`"
    pages = " / ".join(f"{facts['pages'].get(part, 0):,}" for part in PARTS)
    counts = " : ".join(f"{count:,}" for count in facts["training_tokens"])
    lines = [
        f"{' and '.join(map(str, facts['epochs']))} epochs, seeds {', '.join(map(str, facts['seeds']))}; {result.done} of "
        f"{result.wanted} cells finished, {facts['seconds'] / 3600:.1f} hours of one core.",
        f"Corpus {facts['corpus']['name']}: {pages} pages, training tokens {counts} ({', '.join(facts['classes'])}).",
        f"{'; '.join(facts['versions'])}; {' to '.join(dict.fromkeys((facts['dates'][0], facts['dates'][-1])))}; CPU, one "
        "process a cell.",
        f"Command: `{command}`",
        f"The paper's length: `{paper_command}`",
    ]
    if len(commits := facts["commits"]) > 1:
        said = ", ".join(f"{name} ({number})" for name, number in commits.items())
        lines.insert(3, f"Cells by the commit that trained them: {said}.")
    left_out = [
        f"{part}: {number:,} {what.replace('_', ' ')}"
        for part, left in facts["left_out"].items()
        for what, number in left.items()
    ]
    left_out += [f"{number:,} {kind}" for kind, number in facts["problems"].items()]
    if left_out:
        lines.insert(2, f"Left out or not fitting: {'; '.join(left_out)}.")
    return "\n\n".join(lines)


def _scores(result: Result, metric: str, moment: str) -> str:
    definition = result.definition
    heads = ["", *(column.name for column in definition.columns)]
    seeds = max((len(found) for found in result.finished.values()), default=0)
    lines = []
    best = _best(result, metric, moment)
    for row in definition.rows:
        cells = [row.name]
        for column in definition.columns:
            place = row.name, column.name
            values, failed = result.values(*place, metric=metric, moment=moment), len(result.failed.get(place, []))
            text = spread(values) if values else "failed" if failed else "-"
            if place in best:
                text = f"**{text}**"
            if failed and values:
                text += f" ({failed} of {failed + len(values)} failed)"
            elif 0 < len(values) < seeds:
                text += f" ({len(values)} seed{'s' if len(values) > 1 else ''})"
            paper = result.published(place, metric)
            cells.append(text if paper is None else f"{text} (paper {paper})")
        lines.append(cells)
    return _table(heads, lines)


def _best(result: Result, metric: str, moment: str) -> set[tuple[str, str]]:
    """The best of each row, or of each column where rows are compared; the only one is not the best of anything."""
    lines: dict[str, dict[tuple[str, str], float]] = {}
    for place in result.finished:
        mean = result.mean(*place, metric=metric, moment=moment)
        if mean is not None:
            lines.setdefault(place[0 if result.definition.compares_columns else 1], {})[place] = mean
    return {place for line in lines.values() if len(line) > 1 for place, mean in line.items() if mean == max(line.values())}


def _differences(result: Result, base: str, metric: str, moment: str) -> str:
    definition: Definition = result.definition
    cells: dict[tuple[str, str], str] = {}
    for other, one in result.pairs(base):
        difference = result.difference(one, other, metric=metric, moment=moment)
        if difference is None:
            continue
        ours, theirs = result.published(one, metric), result.published(other, metric)
        paper = f" (paper {ours - theirs:+.1f})" if ours is not None and theirs is not None else ""
        cells[other] = f"{difference}{paper}"
    if not cells:
        return ""
    columns = [column.name for column in definition.columns if any(place[1] == column.name for place in cells)]
    rows = [row.name for row in definition.rows if any(place[0] == row.name for place in cells)]
    return _table(["", *columns], [[row, *(cells.get((row, column), "-") for column in columns)] for row in rows])


def _tally(result: Result, base: str) -> str:
    """How often the base is ahead in each column, and how often an interval is clear of 0."""
    columns = [column.name for column in result.definition.columns]
    lines = []
    for moment, when in MOMENTS.items():
        for metric in result.all_metrics:
            found: dict[str, list[Difference]] = {}
            for other, one in result.pairs(base):
                if difference := result.difference(one, other, metric=metric, moment=moment):
                    found.setdefault(other[1], []).append(difference)
            cells = {name: _standing(all_) for name, all_ in found.items()}
            lines.append([f"{METRICS[metric]}, {when}", *(cells.get(name, "-") for name in columns if name != base)])
    return _table([f"{base} is", *(name for name in columns if name != base)], lines)


def _standing(found: Sequence[Difference]) -> str:
    ahead, behind = (sum(sign * each.points > 0 for each in found) for sign in (1, -1))
    clear, clear_behind = sum(each.low > 0 for each in found), sum(each.high < 0 for each in found)
    return f"ahead {ahead} of {len(found)} ({clear} clear), behind {behind} ({clear_behind} clear)"


def _sooner(result: Result) -> str:
    found = {other: result.sooner(one, other) for other, one in result.pairs(result.definition.base)}
    columns = [column.name for column in result.definition.columns if column.name != result.definition.base]
    rows = [row.name for row in result.definition.rows]
    if not any(found.values()):
        return ""
    return _table(["", *columns], [[row, *(found.get((row, column)) or "-" for column in columns)] for row in rows])


def _warmups(result: Result) -> str:
    """A run that ends soon after its warm-up has hardly been trained at its full rate."""
    said = {
        place: "; ".join(
            f"{each['recipe']['schedule']['warmup']:,} of {each['epochs'][-1]['step']:,}, loss {each['epochs'][-1]['loss']:.1f}"
            for each in found
        )
        for place, found in result.finished.items()
    }
    rows, columns = result.definition.rows, result.definition.columns
    lines = [[row.name, *(said.get((row.name, column.name), "-") for column in columns)] for row in rows]
    return _table(["", *(column.name for column in columns)], lines)


def _by_epoch(result: Result) -> str:
    places = list(result.finished)
    curves = [[[line["macro_f2"] for line in each["epochs"]] for each in result.finished[place]] for place in places]
    epochs = max(len(curve) for curve in curves[0])
    means = [[100 * statistics.mean(values) for values in zip(*curve, strict=True)] for curve in curves]
    lines = [[str(number + 1), *(f"{mean[number]:.1f}" for mean in means)] for number in range(epochs)]
    return _table(["epoch", *(", ".join(place) for place in places)], lines)


def _amounts(result: Result, moment: str) -> str:
    """Ours beside the truth, and the paper's own, which is of another test set."""
    said = result.definition.amounts or {}
    theirs = list(next(iter(said.values()), {}))
    lines: list[list[str]] = []
    classes: Sequence[str] = ()
    for (row, column), found in result.finished.items():
        classes = [name for name in found[0]["classes"] if name != NONE]
        if not lines:
            true = found[0]["test"][moment]["true"]
            lines.append(["truth", "", *(f"{true[name]:,}" for name in classes), *("" for _ in theirs)])
        amounts = [sum(each["test"][moment]["predicted"][name] for each in found) / len(found) for name in classes]
        paper = [f"{said.get(row, {}).get(name, 0):,}" for name in theirs]
        lines.append([row, column, *(f"{amount:,.0f}" for amount in amounts), *paper])
    return _table(["", "", *classes, *(f"paper, {name}" for name in theirs)], lines)


def _table(heads: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    heads = list(heads)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def _head(metric: str) -> str:
    return METRICS[metric].replace("macro", "Macro", 1)
