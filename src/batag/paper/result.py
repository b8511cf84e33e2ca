"""The results of a table so far: finished cells by row and column, with means, spreads and differences."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batag.paper.cell import Cell
from batag.paper.comparison import Counts, Difference, compare
from batag.paper.definition import Definition
from batag.paper.store import Store

METRICS = {
    "macro_f1": "macro F1",
    "macro_f2": "macro F2",
    "macro_f1_without_none": "macro F1 without none",
    "macro_f2_without_none": "macro F2 without none",
}
Place = tuple[str, str]
"""A row and a column of the table."""
MOMENTS = {"end": "after the last epoch", "best": "at the best macro F2 on dev"}


@dataclass
class Result:
    """The finished cells of a definition; a place without one is empty."""

    definition: Definition
    finished: dict[Place, list[dict[str, Any]]] = field(default_factory=dict)
    failed: dict[Place, list[dict[str, Any]]] = field(default_factory=dict)
    done: int = 0
    wanted: int = 0
    _compared: dict[tuple[Place, Place, str, str], Difference] = field(default_factory=dict, repr=False)

    @classmethod
    def gather(cls, definition: Definition, cells: Iterable[tuple[str, str, int, Cell]], store: Store) -> Result:
        """Collect the finished cells from the store."""
        result = cls(definition)
        for row, column, _, cell in cells:
            result.wanted += 1
            found = store.find(cell)
            if found is None:
                continue
            result.done += 1
            (result.failed if "failed" in found else result.finished).setdefault((row, column), []).append(found)
        return result

    @property
    def metrics(self) -> list[str]:
        """The macro scores of the paper's table."""
        return [metric for metric in METRICS if metric.endswith("_without_none") == self.definition.without_none]

    @property
    def all_metrics(self) -> list[str]:
        """These and all other macro scores."""
        return [*self.metrics, *(metric for metric in METRICS if metric not in self.metrics)]

    def values(self, row: str, column: str, *, metric: str, moment: str) -> list[float]:
        """The scores of all seeds in points."""
        return [100 * each["test"][moment][metric] for each in self.finished.get((row, column), [])]

    @property
    def places(self) -> list[Place]:
        return [(row.name, column.name) for row in self.definition.rows for column in self.definition.columns]

    def pairs(self, base: str) -> list[tuple[Place, Place]]:
        """Each place with the place of the base that it is compared with."""
        if self.definition.is_column(base):
            return [(place, (place[0], base)) for place in self.places if place[1] != base]
        return [(place, (base, place[1])) for place in self.places if place[0] != base]

    def difference(self, one: Place, other: Place, *, metric: str, moment: str) -> Difference | None:
        """The difference of two places over the seeds that both have, so that a lucky seed of one does not count."""
        seeds = self._seeds(one) & self._seeds(other)
        if not seeds:
            return None
        if (known := self._compared.get(asked := (one, other, metric, moment))) is None:
            beta, skip = (1 if "f1" in metric else 2), metric.endswith("_without_none")
            pages = [self._pages(place, moment, seeds) for place in (one, other)]
            known = self._compared[asked] = compare(*pages, beta=beta, skip_none=skip)
        return known

    def sooner(self, base: Place, other: Place) -> str:
        """When the base first reached the other's best dev macro F2: epochs and seconds of both, for each seed."""
        times = []
        others = {seed_of(each): each for each in self.finished.get(other, [])}
        for one in self.finished.get(base, []):
            if (two := others.get(seed_of(one))) is None:
                continue
            best = max(two["epochs"], key=lambda line: line["macro_f2"])
            reached = next((line for line in one["epochs"] if line["macro_f2"] >= best["macro_f2"]), None)
            when = "never" if reached is None else f"epoch {reached['epoch']}, {reached['seconds']:.0f} s"
            times.append(f"{when} (itself {best['epoch']}, {best['seconds']:.0f} s)")
        return "; ".join(times)

    def published(self, place: Place, metric: str) -> float | None:
        return self.definition.published.get(metric, {}).get(place)

    def _seeds(self, place: Place) -> set[int]:
        return {seed_of(each) for each in self.finished.get(place, [])}

    def _pages(self, place: Place, moment: str, seeds: set[int]) -> Counts:
        return np.array(
            [each["test"][moment]["pages"] for each in self.finished[place] if seed_of(each) in seeds], dtype=np.int64
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as a JSON object; differences are base minus other."""
        rows: list[dict[str, Any]] = []
        for place, cells in self.finished.items():
            scores = {
                moment: {metric: [round(v, 3) for v in self.values(*place, metric=metric, moment=moment)] for metric in METRICS}
                | {"epoch": [each["test"][moment]["epoch"] for each in cells]}
                | {"predicted": [each["test"][moment]["predicted"] for each in cells]}
                for moment in MOMENTS
            }
            paper = {metric: self.published(place, metric) for metric in self.metrics}
            rows.append(
                {
                    "row": place[0],
                    "column": place[1],
                    "keys": [each["key"] for each in cells],
                    "seconds": [each["seconds"] for each in cells],
                    "true": cells[0]["test"]["end"]["true"],
                }
                | scores
                | {"paper": paper}
            )
        return {
            "table": self.definition.name,
            "paper": self.definition.paper,
            **self.conditions(),
            "cells_done": self.done,
            "cells_wanted": self.wanted,
            "cells": rows,
            "failed": [
                {"row": row, "column": column, "seed": seed_of(each), "why": each["failed"]}
                for (row, column), found in self.failed.items()
                for each in found
            ],
            "differences": [
                self._differences_of(other, one) for base in self.definition.bases for other, one in self.pairs(base)
            ],
        }

    def conditions(self) -> dict[str, Any]:
        """The conditions that all numbers of the table were made under."""
        cells = [each for found in (*self.finished.values(), *self.failed.values()) for each in found]
        if not cells:
            return {}
        scored = next(iter(self.finished.values()), cells)[0]
        return {
            "corpus": scored["corpus"],
            "pages": scored.get("pages", {}),
            "classes": scored.get("classes", []),
            "training_tokens": scored.get("counts", []),
            "left_out": scored.get("left_out", {}),
            "problems": scored.get("problems", {}),
            "epochs": sorted({each["recipe"]["training"]["epochs"] for each in cells}),
            "seeds": sorted({seed_of(each) for each in cells}),
            "versions": sorted({f"batag {each['versions']['batag']}, torch {each['versions']['torch']}" for each in cells}),
            "dates": sorted({each["date"] for each in cells}),
            "seconds": round(sum(each["epochs"][-1]["seconds"] for each in cells if each["epochs"])),
            "commits": dict(sorted(Counter(str(each["commit"]) for each in cells).items())),
        }

    def _differences_of(self, other: Place, base: Place) -> dict[str, Any]:
        found: dict[str, Any] = {"base": list(base), "other": list(other)}
        for moment in MOMENTS:
            for metric in self.all_metrics:
                difference = self.difference(base, other, metric=metric, moment=moment)
                if difference is not None:
                    values = [round(each, 3) for each in (difference.points, difference.low, difference.high)]
                    found[f"{moment}_{metric}"] = values
        return found


def seed_of(cell: dict[str, Any]) -> int:
    """The seed that a cell was trained with."""
    return int(cell["recipe"]["training"]["seed"])


def spread(values: Sequence[float]) -> str:
    """Mean and, with several seeds, their standard deviation."""
    if not values:
        return ""
    more = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{more}"
