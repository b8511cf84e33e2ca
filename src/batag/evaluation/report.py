"""Scores of many pages, overall and by language, field and shop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from batag.evaluation.tags import TagScores
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme
from batag.pages.page import Tag

GROUPS = ("language", "field", "shop")


@dataclass(slots=True)
class ScoredField:
    """One field of a page: gold and predicted token labels and tags."""

    language: str
    field: str
    shop: str
    truth: Sequence[int] | NDArray[Any]
    predicted: Sequence[int] | NDArray[Any]
    true_tags: Sequence[Tag]
    predicted_tags: Sequence[Tag]


@dataclass
class _Scores:
    tokens: TokenScores
    tags: TagScores = field(default_factory=TagScores)

    def add(self, scored: ScoredField) -> None:
        self.tokens.add(scored.truth, scored.predicted)
        self.tags.add(
            (((tag.start, tag.end), tag.label) for tag in scored.true_tags),
            (((tag.start, tag.end), tag.label) for tag in scored.predicted_tags),
        )

    def report(self) -> dict[str, Any]:
        return {"tokens": self.tokens.report(), "tags": self.tags.report()}


class Report:
    """Collects scored fields; `report` returns all scores as a JSON object."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self._all = _Scores(TokenScores(scheme))
        self._groups: dict[str, dict[str, _Scores]] = {group: {} for group in GROUPS}

    def add(self, scored: ScoredField) -> None:
        """Add one field of one page."""
        self._all.add(scored)
        for group, scores in self._groups.items():
            name = getattr(scored, group)
            if name not in scores:
                scores[name] = _Scores(TokenScores(self.scheme))
            scores[name].add(scored)

    def report(self) -> dict[str, Any]:
        """The scores over all pages, and by language, field and shop where there are several."""
        by = {
            group: {name: each.report() for name, each in sorted(scores.items())}
            for group, scores in self._groups.items()
            if len(scores) > 1
        }
        return self._all.report() | {"by": by}
