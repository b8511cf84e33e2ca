"""Charts of a table's result: bars of scores with their spread over seeds, or curves over epochs."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from batag.evaluation.charts import finish_panel, picture
from batag.labels.scheme import NONE
from batag.paper.result import METRICS, MOMENTS, Result
from batag.paper.theory import rates
from batag.paper.thresholds import best_probabilities, pulls
from batag.training.schedule import VERSIONS


def draw_result(result: Result, path: Path) -> None:
    """Draw curves where the definition asks for them, else bars; nothing if no cell is finished."""
    if not result.finished:
        return
    if result.definition.curves:
        _curves(result, path)
    else:
        _bars(result, path)


def _bars(result: Result, path: Path) -> None:
    rows, columns = result.definition.rows, result.definition.columns
    width = 0.8 / len(columns)
    size = {"width": max(9.0, 0.5 * len(rows) * len(columns) + 3), "height": 3.4 * len(result.metrics)}
    with picture(path, **size, title=f"{result.definition.title}, {MOMENTS['best']}") as figure:
        grid = figure.subplots(len(result.metrics), 1, squeeze=False)
        for (axes,), metric in zip(grid, result.metrics, strict=True):
            lowest = 100.0
            for place, column in enumerate(columns):
                found = [result.values(row.name, column.name, metric=metric, moment="best") for row in rows]
                heights = [statistics.mean(values) if values else 0.0 for values in found]
                errors = [statistics.stdev(values) if len(values) > 1 else 0.0 for values in found]
                lowest = min([lowest, *(height for height in heights if height)])
                at = [number + width * (place - (len(columns) - 1) / 2) for number in range(len(rows))]
                axes.bar(at, heights, width, yerr=errors, label=column.name, error_kw={"linewidth": 0.8})
            axes.set_xticks(range(len(rows)), [row.name for row in rows], rotation=30 if len(rows) > 6 else 0, fontsize=8)
            axes.set_ylim(bottom=max(0.0, lowest - 5))
            finish_panel(axes, title=f"{METRICS[metric]}, test", legend=len(columns) > 1, columns=len(columns))


def _curves(result: Result, path: Path) -> None:
    """Draw dev F1 and F2 by epoch, and the predicted and gold counts of each class (the paper's figures 1, 2 and 4 to 6)."""
    lines: dict[str, list[dict[str, Any]]] = {row: found[0]["epochs"] for (row, _), found in result.finished.items()}
    true = next(iter(lines.values()))[-1]["true"]
    classes = [name for name in true if name != NONE]
    across = max(2, len(classes))
    with picture(path, width=5 * across, height=7, title=result.definition.title) as figure:
        grid = figure.subplots(2, across, squeeze=False)
        for axes, metric in zip(grid[0], ("macro_f1", "macro_f2"), strict=False):
            for name, epochs in lines.items():
                axes.plot([each["epoch"] for each in epochs], [100 * each[metric] for each in epochs], label=name)
            finish_panel(axes, title=f"{METRICS[metric]} on dev", x="epoch")
        for axes, label in zip(grid[1], classes, strict=False):
            for name, epochs in lines.items():
                axes.plot([each["epoch"] for each in epochs], [each["predicted"].get(label, 0) for each in epochs], label=name)
            axes.axhline(true[label], color="deeppink", linestyle=":", label="truth")
            finish_panel(axes, title=f"{label}: tokens predicted on dev", x="epoch")
        for axes in (each for each in grid.flatten() if not each.lines):
            axes.set_visible(False)


def draw_thresholds(path: Path, *, counts: Sequence[int], label: int, name: str) -> None:
    """Draw what objectives do to a rare class: the probability from which they predict it, and the forces that balance
    there."""
    shown = ("CE", "WCE", "PBP(0,s)", "PBP(0,8)", "CL(0,s)", "CLA(1,20)")
    truth = torch.linspace(0.002, 0.998, 250, dtype=torch.float64)
    with picture(path, width=12, height=4.8, title=f"{name}: {counts[label]:,} of {sum(counts):,} tokens") as figure:
        left, right = figure.subplots(1, 2)
        for objective in shown:
            line = left.plot(100 * truth, 100 * best_probabilities(objective, counts, label, truth), label=objective)
            p, up, down = pulls(objective, counts, label)
            total = (up + down).max()
            right.plot(100 * p, up / total, color=line[0].get_color(), label=objective)
            right.plot(100 * p, down / total, color=line[0].get_color(), linestyle=":")
        left.axhline(50, color="grey", linewidth=0.8)
        for best, meaning in ((37.5, "best for an F1 of 75 %"), (15, "best for an F2 of 75 %")):
            left.axvline(best, color="grey", linestyle="--", linewidth=0.8)
            left.text(best + 0.5, 2, meaning, rotation=90, fontsize=7, color="grey")
        finish_panel(left, title="probability that the loss asks for (%): tagged above 50", x="true probability (%)")
        finish_panel(
            right, title="pull of all its tokens upwards (line), of none downwards (dots)", x="predicted probability (%)"
        )


def draw_schedules(path: Path, *, steps: int = 50_000) -> None:
    """Draw the learning rate of every schedule, and its ratio to v1."""
    at = [1, *range(100, steps + 1, 100)]
    found = rates(at)
    with picture(path, width=13, height=5) as figure:
        left, right = figure.subplots(1, 2)
        for name, values in found.items():
            style = "-" if name in VERSIONS else ":"
            left.plot(at, values, style, label=name)
            right.plot(at, [value / base for value, base in zip(values, found["v1"], strict=True)], style, label=name)
        finish_panel(left, title="learning rate (width 128, warm-up 4,000 or as the appendix says)", x="step")
        finish_panel(right, title="relative to v1", x="step")
