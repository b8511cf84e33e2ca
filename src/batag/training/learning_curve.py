"""The learning curve on the user's own data: one training per number of pages, and an estimate of what more pages would
bring."""

import json
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from batag.errors import InputError, UsageError
from batag.pages.file import open_output
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.pages.record import dump, to_record
from batag.pages.splitting import assign_splits
from batag.training.data import RECIPE, DataFiles
from batag.training.recipe import Recipe
from batag.training.run import Run

SIZES = (50, 100, 250, 500, 1000, 2000)


@dataclass(frozen=True)
class Point:
    """A training on `pages` pages: its dev scores, and the F1 and F2 of each class."""

    pages: int
    seed: int
    macro_f1: float
    macro_f2: float
    classes: dict[str, dict[str, float]]


def parse_sizes(given: str | None, *, most: int) -> list[int]:
    """Parse `100,500,1000`; without it the usual sizes, up to all pages."""
    try:
        sizes = [int(each) for each in given.split(",")] if given else [*SIZES, most]
    except ValueError:
        raise UsageError(f"--sizes {given!r} are not whole numbers", todo="Write them like 100,500,1000") from None
    if given and (min(sizes) < 1 or max(sizes) > most):
        raise UsageError(f"--sizes {given!r}: there are {most:,} labelled pages", todo="Give sizes from 1 to that")
    return sorted({size for size in sizes if size <= most})


def split_pages(pages: Iterable[Page], dev: Iterable[Page] | None, *, seed: int) -> tuple[list[Page], list[Page]]:
    """Training pages in the seed's order (a smaller size is the beginning of a larger one), and dev pages."""
    labelled = [page for page in pages if page.reviewed]
    if dev is None:
        splits = assign_splits(labelled, shares=(0.8, 0.2, 0), seed=0).splits
        held = [page for page, split in zip(labelled, splits, strict=True) if split == "dev"]
        labelled = [page for page, split in zip(labelled, splits, strict=True) if split != "dev"]
    else:
        held = [page for page in dev if page.reviewed]
    if not labelled or not held:
        counts = f"{len(labelled):,} to learn from and {len(held):,} to measure by are labelled by people"
        raise InputError(f"too few labelled pages for a curve: {counts}", todo="Label some hundred (see docs/labelling.md)")
    random.Random(seed).shuffle(labelled)
    return labelled, held


def train_point(folder: Path, train: Sequence[Page], dev: Sequence[Page], recipe: Recipe, *, device: str) -> Iterator[Any]:
    """Train (or resume) on these pages in a folder of its own; yields what the run yields, and a `Point` at the end.

    Pages without any tag give no point: a score of 0 would bend the curve.
    """
    if not any(page.tags for page in train):
        return
    done = folder / "point.json"
    files = tuple(folder.with_name(f"{folder.name}.{part}.jsonl") for part in ("train", "dev"))
    before = (folder / RECIPE).exists()
    if not before:
        folder.mkdir(parents=True, exist_ok=True)
        for path, pages in zip(files, (train, dev), strict=True):
            write_pages(pages, path)
    run = Run.open(folder) if before else Run.create(folder, recipe, DataFiles(files[:1], files[1:]))
    same = all(path.is_file() and path.read_bytes() == _written(own) for path, own in zip(files, (train, dev), strict=True))
    if before and (run.recipe != recipe or not same):
        raise InputError("was trained with another recipe or on other pages", where=str(folder), todo="Name a new --out")
    if not done.exists():
        prepared = run.prepare(device=device)
        yield prepared
        finished = yield from prepared.train()
        rows = finished.scores["tokens"]["classes"]
        # One set of classes for all sizes, those of dev: what too few pages do not show at all counts 0.
        there = [name for name, row in rows.items() if row["true"]]
        names = dict.fromkeys((*there, *sorted({tag.label for page in dev for tag in page.tags})))
        classes = {name: {key: rows.get(name, {}).get(key, 0.0) for key in ("f1", "f2")} for name in names}
        macros = {f"macro_{key}": sum(row[key] for row in classes.values()) / len(classes) for key in ("f1", "f2")}
        with open_output(done) as stream:
            point = {"pages": len(train), "seed": recipe.training.seed, "classes": classes} | macros
            stream.write(json.dumps(point).encode())
    yield Point(**json.loads(done.read_bytes()))


def _written(pages: Iterable[Page]) -> bytes:
    return b"".join(dump(to_record(page)) + b"\n" for page in pages)


def pages_for(points: Sequence[Point], metric: str, *, gain: float) -> int | None:
    """Estimate the number of pages for a score that is higher by `gain` than with all pages; None if the curve does not allow
    it.

    On most data 1 - score falls as a power of the number of pages: a line through the logarithms of the last four sizes.
    """
    sizes = sorted({point.pages for point in points})[-4:]
    if len(sizes) < 3:
        return None
    means = [np.mean([getattr(point, metric) for point in points if point.pages == size]) for size in sizes]
    slope, height = np.polyfit(np.log(sizes), np.log(np.maximum(1 - np.array(means), 1e-6)), 1)
    wanted = 1 - (means[-1] + gain)
    if slope > -0.02 or wanted <= 0:
        return None
    pages = math.exp(min((math.log(wanted) - height) / slope, 50.0))
    return round(pages) if sizes[-1] < pages < 100 * sizes[-1] else None
