"""Pictures: a figure that is written whole, as PNG or SVG, with letters that show Chinese and Japanese."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batag.errors import UsageError
from batag.pages.file import open_output

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FONTS = (
    *("Noto Sans CJK", "WenQuanYi", "IPAGothic", "IPAexGothic", "Source Han", "Hiragino", "Microsoft", "Yu Gothic", "PingFang"),
)


def check_picture(path: Path) -> None:
    """Whether a file's name is that of a picture; said before the work, not after it."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"{path} is neither .png nor .svg", todo="Name the chart accordingly")


@contextmanager
def picture(path: Path, *, width: float, height: float) -> Iterator[Figure]:
    """A figure to draw in (inches); the file appears when the block ends."""
    check_picture(path)
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Letters stay text in SVG, so that a browser's fonts show Chinese and Japanese even where this machine has none.
    style: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "batag", "font.family": [*_cjk_fonts(), "DejaVu Sans"]}
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        with open_output(path) as stream:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
            figure.savefig(stream, format=path.suffix[1:].lower(), dpi=120, metadata=metadata)


def _cjk_fonts() -> list[str]:
    """Fonts of this machine that can draw Chinese and Japanese."""
    from matplotlib import font_manager

    return sorted({font.name for font in font_manager.fontManager.ttflist if font.name.startswith(_FONTS)})
