"""The dial as a picture: scores over richness with its three points, and how far scores can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from batag.evaluation.calibration import Floats, expected_calibration_error, reliability
from batag.evaluation.operating_point import NAMES
from batag.labels.picture import picture

_CURVES = {
    "precision": "precision without none",
    "recall": "recall without none",
    "macro_f0.5": "macro F0.5",
    "macro_f1": "macro F1",
    "macro_f2": "macro F2",
}


def dial_report(rows: Sequence[Mapping[str, float]], scores: Mapping[str, Floats], right: Floats) -> dict[str, Any]:
    """A row a richness, and how reliable scores of tags are before and after calibration."""
    return {
        "points": dict(NAMES),
        "rows": list(rows),
        "tags": len(right),
        "ece": {name: expected_calibration_error(values, right) for name, values in scores.items()},
        "reliability": {name: reliability(values, right) for name, values in scores.items()},
    }


def draw_dial(report: Mapping[str, Any], path: Path, *, title: str) -> None:
    """What `dial_report` says."""
    rows = report["rows"]
    with picture(path, width=11, height=4.6) as figure:
        left, right = figure.subplots(1, 2)
        at = [row["richness"] for row in rows]
        for key, name in _CURVES.items():
            style = ":" if key in ("precision", "recall") else "-"
            left.plot(at, [100 * row[key] for row in rows], style, label=name)
        for name, richness in report["points"].items():
            left.axvline(richness, color="grey", linewidth=0.8)
            left.annotate(
                name, (richness, 1), xycoords=("data", "axes fraction"), rotation=90, fontsize=8, ha="right", va="top"
            )
        left.set_xlabel("richness")
        left.set_title("token level (%)", fontsize=10)
        left.legend(fontsize=8)
        right.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        for name, points in report["reliability"].items():
            error = report["ece"][name]
            right.plot(
                *zip(*[point[:2] for point in points], strict=True), marker="o", markersize=4, label=f"{name}: ECE {error:.3f}"
            )
        right.set_xlabel("score of a tag")
        right.set_ylabel("share of such tags that are right")
        right.set_title(f"reliability of scores, {report['tags']:,} tags", fontsize=10)
        if report["tags"]:
            right.legend(fontsize=8)
        figure.suptitle(title, parse_math=False)
