"""The same thing written differently, and different things written alike, by the canonical form that tags would get."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from batag.terms.explanation import are_same, explain
from batag.terms.terms import Terms

_PAIRS = Path(__file__).with_name("pairs.tsv")


@cache
def pairs() -> tuple[tuple[bool, str, str], ...]:
    rows = [line.split("\t") for line in _PAIRS.read_text(encoding="utf-8").splitlines()]
    assert {kind for kind, _, _ in rows} == {"same", "different"}
    return tuple((kind == "same", one, other) for kind, one, other in rows)


def wrong(*, same: bool) -> list[tuple[str, str]]:
    terms = Terms()
    own = [(one, other) for kind, one, other in pairs() if kind == same]
    assert len(own) >= 40
    return [(one, other) for one, other in own if are_same([explain(terms, one), explain(terms, other)]) != same]


def test_nearly_all_pairs_and_traps_are_right() -> None:
    mistakes = [*wrong(same=True), *wrong(same=False)]
    assert len(mistakes) <= 0.05 * len(pairs()), mistakes


def test_no_two_different_things_are_one() -> None:
    assert len(wrong(same=False)) <= 1, wrong(same=False)
