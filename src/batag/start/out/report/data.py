"""What the report shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from batag.pages.page import Page
from batag.start.out.facts import Facts
from batag.start.out.names import Names
from batag.start.out.richness import DialPoint
from batag.start.out.survey import Survey


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """The counts, the pipeline's facts, pages drawn at random, pages to review (the best first), the dial, the names of
    canonical forms, and notes about the tables."""

    facts: Facts
    survey: Survey
    date: str = ""
    pages: tuple[Page, ...] = ()
    to_review: tuple[Page, ...] = ()
    dial: tuple[DialPoint, ...] = ()
    names: Names = field(default_factory=Names)
    notes: tuple[str, ...] = ()
