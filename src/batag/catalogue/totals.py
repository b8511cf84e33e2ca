"""What a job has done so far."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from batag.catalogue.tagged import PartFacts
from batag.settings import settings


@dataclass
class Totals:
    """The counts of a job; `pages` of parts that were finished before count as `found`."""

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
    problems: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    share: float = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def add(self, facts: PartFacts, *, before: bool = False) -> None:
        self.pages += facts.rows
        self.found += facts.rows if before else 0
        self.parts += 1
        self.errors += facts.errors
        self.seen_before += facts.seen_before
        self.tokens += facts.tokens
        self.escaped += facts.escaped
        self.tags.update(facts.tags)
        self.problems.update(facts.problems)
        self.failed += facts.failed[: max(0, settings.remembered_problems - len(self.failed))]

    @classmethod
    def of_facts(cls, facts: dict[str, Any]) -> Totals:
        """Of a job that was finished before."""
        said = {name: facts[name] for name in ("pages", "parts", "errors", "seen_before", "tokens")}
        tags, problems = Counter(facts["tags"]), Counter(facts["problems"])
        return cls(**said, found=said["pages"], escaped=facts["escaped_cells"], tags=tags, problems=problems)

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        tagged = self.pages - self.found
        return {
            "pages": self.pages,
            "pages_found_tagged": self.found,
            "parts": self.parts,
            "errors": self.errors,
            "seen_before": self.seen_before,
            "tokens": self.tokens,
            "escaped_cells": self.escaped,
            "tags": dict(self.tags.most_common()),
            "problems": dict(self.problems.most_common()),
            "seconds": round(self.seconds, 2),
            "pages_a_second": round(tagged / max(self.seconds, 1e-9), 1),
        }
