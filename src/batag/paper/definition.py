"""A table of the paper as data: its cells, what each changes in the recipe, and the paper's own numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from batag.errors import UsageError
from batag.paper.address import paper_conditions
from batag.paper.cell import Cell
from batag.paper.corpus import Corpus
from batag.training.recipe import Recipe, read_recipe

PAPER_SETTINGS = tuple(f"{key}={json.dumps(value)}" for key, value in paper_conditions().items())
"""The paper's conditions as settings of a recipe."""


@dataclass(frozen=True)
class Choice:
    """A row or a column: its name in the paper and its changes to the recipe."""

    name: str
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Definition:
    """A table of rows times columns, except for `empty` places. `base` is the row or column that the others are compared with,
    `also` another one.

    `amounts` asks for predicted counts, with the paper's own for a row, if it has any.
    """

    name: str
    title: str
    paper: str
    rows: tuple[Choice, ...]
    columns: tuple[Choice, ...]
    base: str
    also: str | None = None
    epochs: int = 50
    settings: tuple[str, ...] = ()
    special: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    published: Mapping[str, Mapping[tuple[str, str], float]] = field(default_factory=dict)
    empty: frozenset[tuple[str, str]] = frozenset()
    amounts: Mapping[str, Mapping[str, int]] | None = None
    curves: bool = False
    without_none: bool = False

    @property
    def bases(self) -> tuple[str, ...]:
        return (self.base,) if self.also is None else (self.base, self.also)

    @property
    def compares_columns(self) -> bool:
        return self.is_column(self.base)

    def is_column(self, name: str) -> bool:
        return name in [column.name for column in self.columns]

    def recipe(self, row: Choice, column: Choice, *, seed: int, epochs: int, more: Sequence[str] = ()) -> Recipe:
        """The recipe of a cell; `more` are the user's settings, which may change anything but what the table compares."""
        compared = (*row.settings, *column.settings)
        conditions = (*self.settings, *self.special.get((row.name, column.name), ()))
        run = (f"training.seed={seed}", f"training.epochs={epochs}")
        fixed = {_key(setting) for setting in (*compared, *run)}
        fixed |= {key for key in map(_key, conditions) if not key.startswith("schedule.")}
        for setting in more:
            if (key := _key(setting)) in fixed:
                todo = "Leave it out, or take --only-rows, --only-columns, --seeds and --epochs"
                raise UsageError(f"--set {setting}: the table {self.name} itself sets {key}", todo=todo)
        return read_recipe(None, settings=(*PAPER_SETTINGS, *conditions, *compared, *run, *more))

    def cells(
        self, corpus: Corpus, *, seeds: int, epochs: int | None = None, more: Sequence[str] = ()
    ) -> Iterator[tuple[str, str, int, Cell]]:
        """Yield row, column, seed and cell, ordered by seed, so that a half-finished table is useful."""
        for seed in range(seeds):
            for row in self.rows:
                for column in self.columns:
                    if (row.name, column.name) in self.empty:
                        continue
                    recipe = self.recipe(row, column, seed=seed, epochs=epochs or self.epochs, more=more)
                    yield row.name, column.name, seed, Cell(recipe, corpus)

    def with_scaled_warmup(self, epochs: int) -> Definition:
        """The table with its warm-ups scaled to runs of `epochs`, at the same peak learning rate."""
        ratio = epochs / self.epochs
        return replace(self, special={place: _scaled(settings, ratio) for place, settings in self.special.items()})

    def only(self, rows: str | None, columns: str | None) -> Definition:
        """The table with some rows and columns, given as names separated by semicolons (names of objectives contain commas)."""
        return replace(self, rows=_some(self.rows, rows, "row"), columns=_some(self.columns, columns, "column"))


def _some(choices: tuple[Choice, ...], wanted: str | None, what: str) -> tuple[Choice, ...]:
    if wanted is None:
        return choices
    names = [name.strip() for name in wanted.split(";")]
    known = {choice.name.lower(): choice for choice in choices}
    for name in names:
        if name.lower() not in known:
            there = "; ".join(choice.name for choice in choices)
            raise UsageError(f"{name!r} is not a {what} of this table", todo=f"There are {there}")
    return tuple(dict.fromkeys(known[name.lower()] for name in names))


def _scaled(settings: tuple[str, ...], ratio: float) -> tuple[str, ...]:
    """Scale warm-up and scale together, because the peak rate is scale / sqrt(warm-up)."""
    values = dict(setting.split("=") for setting in settings)
    warmup, scale = int(values["schedule.warmup"]), float(values["schedule.scale"])
    return (f"schedule.warmup={max(1, round(warmup * ratio))}", f"schedule.scale={scale * ratio**0.5:.6f}")


def _key(setting: str) -> str:
    return setting.partition("=")[0].strip()
