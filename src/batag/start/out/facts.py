"""What the pipeline tells the report: how the tags came about, and what to do next."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ColumnUse:
    """Which column of the export was read as which field, with some of its values."""

    field: str
    column: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Missing:
    """A term that stands on no page, its label, and where it comes from (a column, or the name of a list)."""

    text: str
    label: str
    source: str = ""


@dataclass(frozen=True)
class BrandCheck:
    """The measurement with brands held out of lists and labels: how many, their mentions, and which part of the mentions was
    found and of the findings was right (0 to 1)."""

    brands: int
    mentions: int
    found: float
    right: float


@dataclass(frozen=True)
class Command:
    """A command to type next; `key` names the sentence that explains it (`next.KEY` of the report's words)."""

    text: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What only the pipeline knows. What is empty has no place in the report. `listed` are all brand texts of the shop's lists
    and columns; `language` is that of most pages, in which the report opens."""

    shop: str
    bundle: str = ""
    date: str = ""
    language: str | None = None
    columns: Sequence[ColumnUse] = ()
    listed: Collection[str] = ()
    terms: int = 0
    not_found: Sequence[Missing] = ()
    learned_from: Mapping[str, int] = field(default_factory=dict)
    new_brands: BrandCheck | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    commands: Sequence[Command] = ()
