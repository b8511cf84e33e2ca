"""A run as a picture: loss, scores, rate, and predicted amounts against the true ones, over epochs (the paper's figures)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from batag.labels.picture import picture
from batag.labels.scheme import NONE

_OF_STEP = {"step", "loss", "rate"}
_SCORES = {"macro_f1", "macro_f2", "macro_f1_without_none", "macro_f2_without_none", "selected"}
_OF_EPOCH = {"step", "epoch", "loss", "true", "predicted"} | _SCORES


def draw_curves(lines: Sequence[dict[str, Any]], path: Path, *, title: str) -> None:
    """The lines of `metrics.jsonl` in four panels."""
    # A line that was damaged is left out of the picture.
    steps = [line for line in lines if line["kind"] == "step" and line.keys() >= _OF_STEP]
    epochs = [line for line in lines if line["kind"] == "epoch" and line.keys() >= _OF_EPOCH]
    if not epochs:
        return
    a_epoch = epochs[0]["step"] / epochs[0]["epoch"]
    at = [line["epoch"] for line in epochs]
    with picture(path, width=11, height=7) as figure:
        (loss, scores), (rate, amounts) = figure.subplots(2, 2)
        loss.plot([line["step"] / a_epoch for line in steps], [line["loss"] for line in steps], linewidth=0.4, alpha=0.4)
        loss.plot(at, [line["loss"] for line in epochs], marker="o", markersize=3, color="tab:blue", label="mean of the epoch")
        loss.set_title("loss on train", fontsize=10)
        loss.legend(fontsize=8)
        for key, name in (("macro_f1", "macro F1"), ("macro_f2", "macro F2")):
            line = scores.plot(at, [100 * each[key] for each in epochs], marker="o", markersize=3, label=name)
            without = [100 * each[f"{key}_without_none"] for each in epochs]
            scores.plot(at, without, linestyle=":", color=line[0].get_color(), label=f"{name} without none")
        best = max(epochs, key=lambda each: each["selected"])
        scores.axvline(best["epoch"], color="grey", linewidth=0.8, label=f"best: epoch {best['epoch']}")
        scores.set_title("scores on dev", fontsize=10)
        scores.legend(fontsize=8)
        rate.plot([line["step"] / a_epoch for line in steps], [line["rate"] for line in steps])
        rate.set_title("learning rate", fontsize=10)
        for name, true in epochs[-1]["true"].items():
            if name == NONE:
                continue
            line = amounts.plot(at, [each["predicted"].get(name, 0) for each in epochs], marker="o", markersize=3, label=name)
            amounts.axhline(true, color=line[0].get_color(), linestyle="--", linewidth=0.8)
        amounts.set_title("tokens of each class predicted on dev (dashed: truth)", fontsize=10)
        legend = amounts.legend(fontsize=8)
        for text in legend.get_texts():
            text.set_parse_math(False)
        for axes in (loss, scores, rate, amounts):
            axes.set_xlabel("epoch")
        figure.suptitle(title, parse_math=False)
