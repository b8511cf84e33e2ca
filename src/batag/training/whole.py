"""A whole training in one call, from pages in files or at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from batag.errors import InputError, UsageError
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.training.base_bundle import recipe_of
from batag.training.data import DataFiles
from batag.training.folder import check_new
from batag.training.loop import EpochDone, StepDone
from batag.training.recipe import read_recipe
from batag.training.run import Run

Pages = Path | str | Iterable[Page] | Iterable[Path | str]
"""A file, several files, or the pages themselves."""
Progress = Callable[[StepDone | EpochDone], object]
"""Called after every training step and after every epoch."""


def train_run(
    pages: Pages,
    *,
    dev: Pages | None = None,
    out: Path | str,
    recipe: Path | str | None = None,
    settings: Mapping[str, Any],
    base: Path | str | None = None,
    columns: Mapping[str, str] | None = None,
    device: str,
    progress: Progress | None = None,
) -> Path:
    """Train to the end and return the run's folder; pages that are not in a file yet are written to `OUT.pages`, so that the
    run can be resumed."""
    out = Path(out)
    check_new(out)
    base_recipe = None if base is None else recipe_of(Path(base))
    chosen = read_recipe(None if recipe is None else Path(recipe), changes=nested(settings), base=base_recipe)
    reading = {} if columns is None else {"columns": dict(columns)}
    files = DataFiles(_files_of(pages, out, "train"), () if dev is None else _files_of(dev, out, "dev"), reading)
    if base is not None:
        files = files.going_on_from(Path(base), replay=bool(chosen.training.replay))
    for done in Run.create(out, chosen, files).prepare(device=device).train():
        if progress is not None:
            progress(done)
    return out


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """`{"encoder.depth": 6}` and `{"encoder": {"depth": 6}}` as tables of a recipe."""
    if not isinstance(settings, Mapping):
        todo = 'Give a dict, as in settings={"training.epochs": 5}'
        raise UsageError(f"settings cannot be of the type {type(settings).__name__}", todo=todo)
    found: dict[str, Any] = {}
    for name, value in settings.items():
        *tables, key = str(name).split(".")
        table = found
        for part in tables:
            table = table.setdefault(part, {})
        if isinstance(value, Mapping) and isinstance(table.get(key), dict):
            table[key] |= nested(value)
        else:
            table[key] = nested(value) if isinstance(value, Mapping) else value
    return found


def _files_of(given: Pages, out: Path, part: str) -> tuple[Path, ...]:
    """The files that are named, or one that the pages are written to."""
    if isinstance(given, (str, Path)):
        return (Path(given),)
    if isinstance(given, (Page, Mapping, bytes)) or not isinstance(given, Iterable):
        raise _not_pages(given, part)
    rest = iter(given)
    first = next(rest, None)
    if isinstance(first, (str, Path)):
        return tuple(_path(each, part) for each in (first, *rest))
    if first is None:
        raise InputError(f"no {part} pages", todo="Name a file of labelled pages, or give pages")
    path = out.with_name(f"{out.name}.pages") / f"{part}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_pages((_page(each, part) for each in chain([first], rest)), path)
    return (path,)


def _path(given: object, part: str) -> Path:
    if not isinstance(given, (str, Path)):
        raise _not_pages(given, part)
    return Path(given)


def _page(given: object, part: str) -> Page:
    if not isinstance(given, Page):
        raise _not_pages(given, part)
    return given


def _not_pages(given: object, part: str) -> UsageError:
    todo = "Give the name of a file, a list of names, or pages of the class Page"
    return UsageError(f"{part} pages cannot be of the type {type(given).__name__}", todo=todo)
