"""The classes of a data set as a bar chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from batag.labels.picture import picture


def draw_classes(report: dict[str, Any], path: Path) -> None:
    """Tokens of each class in each split, on a logarithmic axis (the classes are far apart), and tags beside."""
    splits = report["splits"]
    classes = list(dict.fromkeys(name for facts in splits.values() for name in facts["classes"]))
    with picture(path, width=10, height=1.6 + 0.45 * len(classes) * max(len(splits), 1)) as figure:
        for axes, what in zip(figure.subplots(1, 2, sharey=True), ("tokens", "tags"), strict=True):
            height = 0.8 / len(splits)
            for place, (name, facts) in enumerate(splits.items()):
                values = [facts["classes"].get(each, {}).get(what, 0) for each in classes]
                rows = [row + place * height for row in range(len(classes))]
                bars = axes.barh(rows, values, height, label=name)
                axes.bar_label(bars, [f"{value:,}" if value else "" for value in values], padding=2, fontsize=8)
            axes.set_yticks([row + 0.4 - height / 2 for row in range(len(classes))], classes, parse_math=False)
            axes.set_xscale("symlog")
            axes.margins(x=0.15)
            axes.set_xlabel(f"{what} (logarithmic)")
        axes.invert_yaxis()
        axes.legend()
        pages = ", ".join(f"{name} {facts['pages']:,}" for name, facts in splits.items())
        figure.suptitle(f"classes; pages: {pages}")
