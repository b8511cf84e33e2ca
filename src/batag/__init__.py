"""batag tags product pages; what stands here is the whole public surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from batag.errors import missing_package
from batag.pages.page import Page, Tag

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from batag.tagging.tagger import Tagger, distinct

__version__ = "0.1.0"
__all__ = ["Page", "Tag", "Tagger", "__version__", "distinct", "load", "train"]


def load(folder: Path | str, **options: Any) -> Tagger:
    """The tagger of a bundle's (or a finished run's) folder; `engine`, `device`, `stop_words` and `threads` are its options."""
    from batag.tagging.tagger import Tagger

    return Tagger.load(folder, **options)


def train(
    pages: Path | str | Iterable[Page] | Iterable[Path | str],
    *,
    dev: Path | str | Iterable[Page] | Iterable[Path | str] | None = None,
    out: Path | str,
    recipe: Path | str | None = None,
    settings: Iterable[str] = (),
    device: str = "auto",
) -> Tagger:
    """Learn from labelled pages (a file, several, or pages themselves) into the run folder `out`; the tagger of the best epoch.

    Without dev pages a tenth of the pages is held out; `settings` change the recipe, as in `["training.epochs=5"]`.
    """
    try:
        from batag.training.whole import train_run
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from error

    return load(train_run(pages, dev=dev, out=out, recipe=recipe, settings=settings, device=device), device=device)


def __getattr__(name: str) -> Any:
    # Torch is loaded only when somebody asks for what needs it.
    if name in ("Tagger", "distinct"):
        from batag.tagging import tagger

        return getattr(tagger, name)
    raise AttributeError(f"module 'batag' has no attribute {name!r}")
