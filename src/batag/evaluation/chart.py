"""Scores as a picture: precision, recall, F1 and F2 of each class, and predicted amounts against the true ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from batag.labels.picture import picture


def draw_scores(report: dict[str, Any], path: Path, *, title: str) -> None:
    """The token level of a report, one group of bars a class; an amount of 100 % is as many as there truly are."""
    tokens = report["tokens"]
    classes = tokens["classes"]
    with picture(path, width=10, height=4.2) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(2, 1))
        for place, key in enumerate(("precision", "recall", "f1", "f2")):
            bars = left.bar(
                [at + 0.2 * place for at in range(len(classes))], [row[key] for row in classes.values()], 0.2, label=key
            )
            left.bar_label(bars, fmt=lambda value: f"{100 * value:.0f}", fontsize=7, padding=1)
        left.set_xticks([at + 0.3 for at in range(len(classes))], list(classes), parse_math=False)
        left.set_ylim(0, 1.12)
        left.set_ylabel("score")
        left.legend(ncols=4, loc="upper center", fontsize=8)
        left.set_title(
            f"token level: macro F1 {100 * tokens['macro_f1']:.1f}, macro F2 {100 * tokens['macro_f2']:.1f}", fontsize=10
        )
        shares = [100 * row["predicted"] / row["true"] if row["true"] else 0.0 for row in classes.values()]
        right.bar_label(right.bar(list(range(len(classes))), shares, 0.6, color="tab:purple"), fmt="%.0f", fontsize=8)
        right.set_xticks(range(len(classes)), list(classes), parse_math=False)
        right.axhline(100, color="black", linewidth=0.8)
        right.set_ylabel("predicted tokens, % of the true ones")
        figure.suptitle(title)
