"""A whole training in one call, from pages in a file or at hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.training.data import DataFiles
from batag.training.recipe import read_recipe
from batag.training.run import Run, check_new


def train_run(
    pages: Path | str | Iterable[Page],
    *,
    dev: Path | str | Iterable[Page] | None,
    out: Path | str,
    recipe: Path | str | None,
    settings: Iterable[str],
    device: str,
) -> Path:
    """A whole training; pages that are not in a file yet are written to `OUT.pages`, so that it can be resumed."""
    out = Path(out)
    check_new(out)
    chosen = read_recipe(None if recipe is None else Path(recipe), settings=settings)
    files = DataFiles((_file_of(pages, out, "train"),), () if dev is None else (_file_of(dev, out, "dev"),))
    run = Run.create(out, chosen, files)
    run.prepare(device=device)
    for _ in run.train():
        pass
    return out


def _file_of(pages: Path | str | Iterable[Page], out: Path, part: str) -> Path:
    if isinstance(pages, (str, Path)):
        return Path(pages)
    path = out.with_name(f"{out.name}.pages") / f"{part}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_pages(pages, path)
    return path
