"""The progress and totals of a job."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from batag.catalogue.tagged import PartReport

_COUNTS = ("pages", "parts", "errors", "seen_before", "tokens", "escaped")

_COUNTERS = ("tags", "languages_by_file", "problems")


@dataclass
class Totals:
    """The counts of a job; `found` are pages of parts that were finished before, `going` pages of parts in progress."""

    began: float = field(default_factory=time.monotonic)
    pages: int = 0
    found: int = 0
    going: int = 0
    parts: int = 0
    errors: int = 0
    seen_before: int = 0
    tokens: int = 0
    escaped: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    languages_by_file: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    fraction: float = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def add(self, report: PartReport, *, before: bool = False) -> None:
        self.pages += report.rows
        self.found += report.rows if before else 0
        self.parts += 1
        for name in _COUNTS[2:]:
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.tags.update(report.tags)
        self.languages_by_file.update(report.languages_by_file)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Totals:
        """The totals of a job that was finished before."""
        counts = {name: record[name] for name in _COUNTS}
        tags, languages, problems = (Counter(record[name]) for name in _COUNTERS)
        return cls(**counts, found=counts["pages"], tags=tags, languages_by_file=languages, problems=problems)

    def to_dict(self) -> dict[str, Any]:
        """The totals as a JSON object."""
        return {name: getattr(self, name) for name in _COUNTS} | {
            "pages_found_tagged": self.found,
            **{name: dict(getattr(self, name).most_common()) for name in _COUNTERS},
            "seconds": round(self.seconds, 2),
            "pages_per_second": round((self.pages - self.found) / max(self.seconds, 1e-9), 1),
        }
