"""The classes of a data set as a bar chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from batag.errors import UsageError
from batag.pages.file import open_output

_FONTS = (
    "Noto Sans CJK",
    "WenQuanYi",
    "IPAGothic",
    "IPAexGothic",
    "Source Han",
    "Hiragino",
    "Microsoft",
    "Yu Gothic",
    "PingFang",
)


def draw_classes(report: dict[str, Any], path: Path) -> None:
    """Tokens of each class in each split, on a logarithmic axis (the classes are far apart), and tags beside."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"{path} is neither .png nor .svg", todo="Name the chart accordingly")
    import warnings

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    splits = report["splits"]
    classes = list(dict.fromkeys(name for facts in splits.values() for name in facts["classes"]))
    # Letters stay text in SVG, so that a browser's fonts show Chinese and Japanese even where this machine has none.
    style: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "batag", "font.family": [*_cjk_fonts(), "DejaVu Sans"]}
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(10, 1.6 + 0.45 * len(classes) * max(len(splits), 1)), layout="constrained")
        FigureCanvasAgg(figure)
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
        with open_output(path) as stream:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
            figure.savefig(stream, format=path.suffix[1:].lower(), dpi=120, metadata=metadata)


def _cjk_fonts() -> list[str]:
    """Fonts of this machine that can draw Chinese and Japanese."""
    from matplotlib import font_manager

    return sorted({font.name for font in font_manager.fontManager.ttflist if font.name.startswith(_FONTS)})
