"""The dial: its points, what lies between them, and how a richness is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from batag.errors import UsageError
from batag.evaluation.operating_point import Dial, OperatingPoint, parse_richness

CLASSES = ("goods", "brand")
DIAL = Dial((OperatingPoint(0.0, 0.5, (-1.0, 0.3)), OperatingPoint(0.5, 1.0, (0.0, 0.3)), OperatingPoint(1.0, 2.0, (2.5, 0.3))))


points = st.lists(st.tuples(st.floats(-8, 8), st.floats(-8, 8)), min_size=3, max_size=3).map(
    lambda rows: np.sort(np.array(rows), axis=0)
)


@given(points, st.floats(0, 1), st.floats(0, 1))
def test_offsets_between_the_points_never_fall_as_richness_rises(offsets: NDArray[Any], one: float, other: float) -> None:
    betas = zip((0.0, 0.5, 1.0), (0.5, 1, 2), offsets.tolist(), strict=True)
    dial = Dial(tuple(OperatingPoint(richness, beta, tuple(row)) for richness, beta, row in betas))
    clean, rich = (dial.offsets(richness) for richness in sorted((one, other)))
    assert (rich >= clean).all()
    for point in dial.points:
        np.testing.assert_allclose(dial.offsets(point.richness), point.offsets, atol=1e-9)


def test_offsets_between_two_points_are_interpolated() -> None:
    np.testing.assert_allclose(DIAL.offsets(0.25), (-0.5, 0.3))
    np.testing.assert_allclose(DIAL.offsets(0.9), (2.0, 0.3))
    assert DIAL.still(CLASSES) == ["brand"]


def test_it_is_the_same_after_a_bundle() -> None:
    assert Dial.from_dicts(DIAL.to_dicts(CLASSES), CLASSES) == DIAL
    more = Dial.from_dicts(DIAL.to_dicts(CLASSES), (*CLASSES, "new"))
    assert [point.offsets for point in more.points] == [(*point.offsets, 0.0) for point in DIAL.points]


@pytest.mark.parametrize(
    ("given_richness", "value"), [("clean", 0), ("balanced", 0.5), ("rich", 1), ("0.3", 0.3), (0.7, 0.7), (None, None)]
)
def test_richness_has_names_and_numbers(given_richness: Any, value: float | None) -> None:
    assert parse_richness(given_richness) == value


@pytest.mark.parametrize("given_richness", ["richer", "1.1", -0.1, "nan", "", [1], {}])
def test_another_richness_is_the_users_mistake(given_richness: Any) -> None:
    with pytest.raises(UsageError, match="is not clean, balanced, rich or a number from 0 to 1"):
        parse_richness(given_richness)
