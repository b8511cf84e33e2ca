"""A table's result as Markdown: conditions, scores with the paper's beside them, differences, amounts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from batag.experiments.definition import Definition
from batag.experiments.result import METRICS, MOMENTS, Result, spread


def write_markdown(result: Result, *, command: str, paper_command: str) -> str:
    """The whole page."""
    definition = result.definition
    parts = [f"# {definition.title} (the paper's {definition.paper})", _conditions(result, command, paper_command)]
    for moment, when in MOMENTS.items():
        for metric in result.metrics:
            parts += [f"## {_head(metric)} on test, {when}", _scores(result, metric, moment)]
    base = definition.base
    parts.append(f"## {base} minus the others")
    parts.append(
        "Points, with the middle 95 % of a paired bootstrap over test pages (2,000 resamplings, seeds together); "
        "in brackets the paper's own difference. No interval, no judgement: seeds spread too, see above."
    )
    for moment, when in MOMENTS.items():
        for metric in result.metrics:
            table = _differences(result, metric, moment)
            if table:
                parts += [f"### {_head(metric)}, {when}", table]
    if definition.compares_columns and (table := _sooner(result)):
        parts += [f"## When {base} reached the others' best macro F2 on dev", table]
    if definition.amounts:
        parts += ["## Tokens predicted on test, after the last epoch", _amounts(result)]
    if result.failed:
        lines = [f"- {row}, {column}: {why}" for (row, column), why in result.failed.items()]
        parts += ["## Failed", "\n".join(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _conditions(result: Result, command: str, paper_command: str) -> str:
    cells = [each for found in result.finished.values() for each in found]
    if not cells:
        return f"Nothing finished yet (0 of {result.wanted} cells). Command: `{command}`"
    epochs = sorted({each["recipe"]["training"]["epochs"] for each in cells})
    seeds = sorted({each["recipe"]["training"]["seed"] for each in cells})
    dates = sorted({each["date"] for each in cells})
    versions = sorted({f"batag {each['versions']['batag']}, torch {each['versions']['torch']}" for each in cells})
    first = cells[0]
    pages, counts = first["pages"], " : ".join(f"{count:,}" for count in first["counts"])
    stale = sum(1 for each in cells if each.get("stale"))
    lines = [
        f"{' and '.join(map(str, epochs))} epochs, seeds {', '.join(map(str, seeds))}; {result.done} of {result.wanted} cells "
        f"finished, {sum(each['seconds'] for each in cells) / 3600:.1f} hours of one core.",
        f"Corpus {first['corpus']['name']}: {pages['train']:,} / {pages['dev']:,} / {pages['test']:,} pages, "
        f"training tokens {counts} ({', '.join(first['classes'])}).",
        f"{'; '.join(versions)}; {' to '.join(dict.fromkeys((dates[0], dates[-1])))}; CPU, one thread a cell.",
        f"Command: `{command}`",
        f"The paper's length: `{paper_command}`",
    ]
    if stale:
        lines.insert(1, f"{stale} of the cells were trained by earlier sources.")
    return "\n\n".join(lines)


def _scores(result: Result, metric: str, moment: str) -> str:
    definition = result.definition
    heads = ["", *(column.name for column in definition.columns)]
    seeds = max((len(found) for found in result.finished.values()), default=0)
    lines = []
    for row in definition.rows:
        means = {column.name: result.mean(row.name, column.name, metric=metric, moment=moment) for column in definition.columns}
        known = [value for value in means.values() if value is not None]
        cells = [row.name]
        for name, mean in means.items():
            values = result.values(row.name, name, metric=metric, moment=moment)
            text = spread(values) if values else "failed" if (row.name, name) in result.failed else "-"
            if mean is not None and len(known) > 1 and mean == max(known):
                text = f"**{text}**"
            if 0 < len(values) < seeds:
                text += f" ({len(values)} seed{'s' if len(values) > 1 else ''})"
            paper = result.published((row.name, name), metric)
            cells.append(text if paper is None else f"{text} (paper {paper})")
        lines.append(cells)
    return _table(heads, lines)


def _differences(result: Result, metric: str, moment: str) -> str:
    definition: Definition = result.definition
    cells: dict[tuple[str, str], str] = {}
    for other, base in result.pairs():
        difference = result.difference(base, other, metric=metric, moment=moment)
        if difference is None:
            continue
        ours, theirs = result.published(base, metric), result.published(other, metric)
        paper = f" (paper {ours - theirs:+.1f})" if ours is not None and theirs is not None else ""
        cells[other] = f"{difference}{paper}"
    if not cells:
        return ""
    columns = [column.name for column in definition.columns if any(place[1] == column.name for place in cells)]
    rows = [row.name for row in definition.rows if any(place[0] == row.name for place in cells)]
    return _table(["", *columns], [[row, *(cells.get((row, column), "-") for column in columns)] for row in rows])


def _sooner(result: Result) -> str:
    """Seconds of one table were measured side by side on a shared machine: compare them roughly."""
    found = {other: result.sooner(base, other) for other, base in result.pairs()}
    columns = [column.name for column in result.definition.columns if column.name != result.definition.base]
    rows = [row.name for row in result.definition.rows]
    if not any(found.values()):
        return ""
    return _table(["", *columns], [[row, *(found.get((row, column)) or "-" for column in columns)] for row in rows])


def _amounts(result: Result) -> str:
    lines: list[list[str]] = []
    classes: Sequence[str] = ()
    for (row, column), found in result.finished.items():
        classes = [name for name in found[0]["classes"] if name != "none"]
        if not lines:
            true = found[0]["test"]["end"]["true"]
            lines.append(["truth", "", *(f"{true[name]:,}" for name in classes)])
        amounts = [sum(each["test"]["end"]["predicted"][name] for each in found) / len(found) for name in classes]
        lines.append([row, column, *(f"{amount:,.0f}" for amount in amounts)])
    return _table(["", "", *classes], lines)


def _table(heads: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    heads = list(heads)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def _head(metric: str) -> str:
    return METRICS[metric].replace("macro", "Macro", 1)
