"""All charts of the product in one style, as PNG or SVG with fonts for Chinese and Japanese; files are written atomically."""

from __future__ import annotations

import logging
import statistics
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batag.errors import TRAIN_EXTRA, UsageError
from batag.labels.scheme import NONE
from batag.pages.file import open_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONTS = (
    *("Noto Sans CJK", "WenQuanYi", "IPAGothic", "IPAexGothic", "Source Han", "Hiragino", "Microsoft", "Yu Gothic", "PingFang"),
)
_DIAL_CURVES = {
    "precision": "precision",
    "recall": "recall",
    "tag_f0.5": "F0.5",
    "tag_f1": "F1",
    "tag_f2": "F2",
}
_OF_STEP = {"step", "loss", "rate"}
_EPOCH_SCORES = {"tag_f1": "tag F1", "tag_f2": "tag F2", "macro_f1": "token macro F1", "macro_f2": "token macro F2"}
_OF_EPOCH = {"step", "epoch", "loss", "true", "predicted", "selected", *_EPOCH_SCORES}


def check_picture(path: Path) -> None:
    """Raise an error, before any work, if a chart cannot be drawn to this file."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"{path} is neither .png nor .svg", todo="Name the chart accordingly")
    if find_spec("matplotlib") is None:
        raise UsageError("charts need matplotlib", todo=TRAIN_EXTRA)


@contextmanager
def picture(path: Path, *, width: float, height: float, title: str = "") -> Iterator[Figure]:
    """A figure to draw in (width and height in inches); the file is written when the block ends."""
    check_picture(path)
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Letters stay text in SVG, so that a browser's fonts show Chinese and Japanese even where this machine has none.
    style: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "batag", "font.family": ["DejaVu Sans", *_cjk_fonts()]}
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it speaks of every weight that a font lacks
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        if title:
            figure.suptitle(title, parse_math=False)
        with open_output(path) as stream:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
            figure.savefig(stream, format=path.suffix[1:].lower(), dpi=120, metadata=metadata)


def finish_panel(axes: Axes, *, title: str = "", x: str = "", legend: bool = True, columns: int = 1) -> None:
    """Set title, axis label and legend of one panel; dollar signs in names are not mathematics."""
    axes.set_title(title, fontsize=10, parse_math=False)
    axes.set_xlabel(x)
    if legend and axes.get_legend_handles_labels()[0]:
        for text in axes.legend(fontsize=8, ncols=columns).get_texts():
            text.set_parse_math(False)


def draw_classes(report: dict[str, Any], path: Path) -> None:
    """Draw tokens and tags of each class in each split on a logarithmic axis (`batag inspect`)."""
    splits = report["splits"]
    classes = list(dict.fromkeys(name for split in splits.values() for name in split["classes"]))
    pages = ", ".join(f"{name} {split['pages']:,}" for name, split in splits.items())
    height = 1.6 + 0.45 * len(classes) * max(len(splits), 1)
    with picture(path, width=10, height=height, title=f"classes; pages: {pages}") as figure:
        for axes, what in zip(figure.subplots(1, 2, sharey=True), ("tokens", "tags"), strict=True):
            thick = 0.8 / len(splits)
            for place, (name, split) in enumerate(splits.items()):
                values = [split["classes"].get(each, {}).get(what, 0) for each in classes]
                bars = axes.barh([row + place * thick for row in range(len(classes))], values, thick, label=name)
                axes.bar_label(bars, [f"{value:,}" if value else "" for value in values], padding=2, fontsize=8)
            axes.set_yticks([row + 0.4 - thick / 2 for row in range(len(classes))], classes, parse_math=False)
            axes.set_xscale("symlog")
            axes.margins(x=0.15)
            finish_panel(axes, x=f"{what} (logarithmic)", legend=what == "tags")
        axes.invert_yaxis()


def draw_scores(report: dict[str, Any], path: Path, *, title: str) -> None:
    """Draw precision, recall, F1 and F2 of each class, and its predicted tokens in percent of the gold ones."""
    tokens, classes = report["tokens"], report["tokens"]["classes"]
    at = range(len(classes))
    with picture(path, width=10, height=4.2, title=title) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(2, 1))
        for place, key in enumerate(("precision", "recall", "f1", "f2")):
            bars = left.bar([each + 0.2 * place for each in at], [row[key] for row in classes.values()], 0.2, label=key)
            left.bar_label(bars, fmt=lambda value: f"{100 * value:.0f}", fontsize=7, padding=1)
        left.set_xticks([each + 0.3 for each in at], list(classes), parse_math=False)
        left.set_ylim(0, 1.18)
        macros = f"macro F1 {100 * tokens['macro_f1']:.1f}, macro F2 {100 * tokens['macro_f2']:.1f}"
        finish_panel(left, title=f"token level: {macros}", columns=4)
        amounts = [100 * row["predicted"] / row["true"] if row["true"] else 0.0 for row in classes.values()]
        right.bar_label(right.bar(list(at), amounts, 0.6, color="tab:purple"), fmt="%.0f", fontsize=8)
        right.set_xticks(at, list(classes), parse_math=False)
        right.axhline(100, color="black", linewidth=0.8)
        finish_panel(right, title="predicted tokens, % of the true ones")


def draw_dial(report: Mapping[str, Any], path: Path, *, title: str) -> None:
    """Draw the scores by richness with the three operating points, and a reliability plot (`dial_report`)."""
    rows = report["rows"]
    with picture(path, width=11, height=4.6, title=title) as figure:
        left, right = figure.subplots(1, 2)
        for key, name in _DIAL_CURVES.items():
            style = ":" if key in ("precision", "recall") else "-"
            left.plot([row["richness"] for row in rows], [100 * row[key] for row in rows], style, label=name)
        for name, richness in report["points"].items():
            left.axvline(richness, color="grey", linewidth=0.8)
            place = {"xycoords": ("data", "axes fraction"), "rotation": 90, "ha": "right", "va": "top"}
            left.annotate(name, (richness, 1), fontsize=8, **place)
        finish_panel(left, title="tags with exact borders (%)", x="richness")
        right.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        for name, points in report["reliability"].items():
            label = f"{name}: ECE {report['ece'][name]:.3f}"
            right.plot(*zip(*[point[:2] for point in points], strict=True), marker="o", markersize=4, label=label)
        right.set_ylabel("fraction of correct tags")
        finish_panel(right, title=f"reliability of scores, {report['tags']:,} tags", x="score of a tag", legend=report["tags"])


def draw_curves(lines: Sequence[dict[str, Any]], path: Path, *, title: str) -> None:
    """Draw a run by epochs, from the lines of `metrics.jsonl`: loss, scores, learning rate, predicted and gold counts."""
    # A line that was damaged is left out of the picture.
    steps = [line for line in lines if line["kind"] == "step" and line.keys() >= _OF_STEP]
    epochs = [line for line in lines if line["kind"] == "epoch" and line.keys() >= _OF_EPOCH]
    if not epochs:
        return
    steps_per_epoch = epochs[0]["step"] / epochs[0]["epoch"]
    at, of_steps = [line["epoch"] for line in epochs], [line["step"] / steps_per_epoch for line in steps]
    dots = {"marker": "o", "markersize": 3}
    with picture(path, width=11, height=7, title=title) as figure:
        (loss, scores), (rate, amounts) = figure.subplots(2, 2)
        loss.plot(of_steps, [line["loss"] for line in steps], linewidth=0.4, alpha=0.4)
        loss.plot(at, [line["loss"] for line in epochs], color="tab:blue", label="mean of the epoch", **dots)
        finish_panel(loss, title="loss on train", x="epoch")
        for key, name in _EPOCH_SCORES.items():
            scores.plot(at, [100 * each[key] for each in epochs], label=name, **dots)
        best = max(epochs, key=lambda each: each["selected"])
        scores.axvline(best["epoch"], color="grey", linewidth=0.8, label=f"best: epoch {best['epoch']}")
        finish_panel(scores, title="scores on dev", x="epoch")
        rate.plot(of_steps, [line["rate"] for line in steps])
        finish_panel(rate, title="learning rate", x="epoch")
        for name, true in epochs[-1]["true"].items():
            if name != NONE:
                line = amounts.plot(at, [each["predicted"].get(name, 0) for each in epochs], label=name, **dots)
                amounts.axhline(true, color=line[0].get_color(), linestyle="--", linewidth=0.8)
        finish_panel(amounts, title="tokens of each class predicted on dev (dashed: gold)", x="epoch")


def draw_learning_curve(points: Sequence[Mapping[str, Any]], path: Path, *, title: str) -> None:
    """Draw macro F1 and F2 by the number of labelled pages, and the F2 of each class (`batag curve`)."""
    sizes = sorted({point["pages"] for point in points})
    of = [[point for point in points if point["pages"] == size] for size in sizes]
    with picture(path, width=10, height=4.4, title=title) as figure:
        left, right = figure.subplots(1, 2)
        for metric, name in (("macro_f1", "macro F1"), ("macro_f2", "macro F2")):
            found = [[100 * point[metric] for point in own] for own in of]
            spread = [statistics.pstdev(values) for values in found]
            left.errorbar(sizes, [statistics.mean(values) for values in found], yerr=spread, marker="o", label=name, capsize=2)
        for name in points[-1]["classes"]:
            values = [statistics.mean(100 * point["classes"].get(name, {}).get("f2", 0.0) for point in own) for own in of]
            right.plot(sizes, values, marker="o", label=name)
        for axes, what in ((left, "all classes"), (right, "F2 of each class")):
            axes.set_xscale("log")
            finish_panel(axes, title=f"{what}, dev (%)", x="labelled pages")


def _cjk_fonts() -> list[str]:
    """The installed fonts with Chinese and Japanese characters."""
    from matplotlib import font_manager

    return sorted({font.name for font in font_manager.fontManager.ttflist if font.name.startswith(_FONTS)})
