"""The paper's learning rates."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batag.errors import UsageError
from batag.training.loop import rate_of
from batag.training.recipe import read_recipe
from batag.training.schedule import VERSIONS, deeper, learning_rate, peak_keeping_scale

STEPS = (1, 1000, 4000, 10_000, 50_000)
# The sheet's table: width 128, warm-up 4000.
TABLE = {
    "v1": (3.493856e-07, 3.493856e-04, 1.397542e-03, 8.838835e-04, 3.952847e-04),
    "v2": (3.493856e-07, 3.493856e-04, 1.397542e-03, 8.478262e-04, 3.524118e-04),
    "v3": (3.493856e-07, 3.493856e-04, 1.397542e-03, 9.155886e-04, 4.356110e-04),
    "v3.1": (3.490362e-07, 3.490362e-04, 1.396145e-03, 9.146731e-04, 4.351754e-04),
    "v4": (3.493856e-07, 3.493856e-04, 1.397542e-03, 9.112965e-04, 4.300052e-04),
    "v4.1": (3.497350e-07, 3.497350e-04, 1.398940e-03, 9.122078e-04, 4.304352e-04),
    "v5": (3.493856e-07, 3.493856e-04, 1.397542e-03, 8.443024e-04, 3.483891e-04),
}

alphas = st.floats(0.01, 2)
warmups = st.integers(1, 20_000)
widths = st.integers(1, 2048)


def printed(value: float) -> str:
    return f"{value:.6e}"


def test_the_versions_are_the_papers() -> None:
    assert list(VERSIONS) == ["v1", "v2", "v3", "v3.1", "v4", "v4.1", "v5"]
    assert set(TABLE) == set(VERSIONS)


@pytest.mark.parametrize("version", TABLE)
def test_each_version_has_the_sheets_rates(version: str) -> None:
    assert [printed(learning_rate(step, **VERSIONS[version])) for step in STEPS] == [printed(rate) for rate in TABLE[version]]


def test_the_defaults_are_version_one() -> None:
    assert [printed(learning_rate(step)) for step in STEPS] == [printed(rate) for rate in TABLE["v1"]]


def test_the_beta_that_the_paper_prints_for_version_three_can_still_be_had() -> None:
    rates = [learning_rate(step, alpha=6 / 13, beta=-1 / 22) for step in STEPS]
    assert [printed(rate) for rate in rates[2:]] == ["1.318790e-03", "8.639949e-04", "4.110642e-04"]
    # It peaks before the warm-up ends: its two lines cross at 3844.4.
    assert max(range(3700, 4100), key=lambda step: learning_rate(step, alpha=6 / 13, beta=-1 / 22)) == 3845


def test_a_beta_of_zero_is_taken_as_zero() -> None:
    """The published code reads 0 as "not given"."""
    assert learning_rate(10_000, alpha=0.6, beta=0.0) == pytest.approx(128**-0.5 * 10_000**-0.6)


@given(alpha=alphas, warmup=warmups, width=widths, scale=st.floats(0.01, 10))
def test_the_curve_is_joined_at_the_end_of_the_warm_up(alpha: float, warmup: int, width: int, scale: float) -> None:
    peak = learning_rate(warmup, width, warmup, alpha, scale)
    assert peak == pytest.approx(scale / math.sqrt(width * warmup), rel=1e-9)
    rising, falling = (warmup + 1) / warmup, (warmup / (warmup + 1)) ** alpha
    assert learning_rate(warmup + 1, width, warmup, alpha, scale) == pytest.approx(peak * falling, rel=1e-9)
    if warmup > 1:
        assert learning_rate(warmup - 1, width, warmup, alpha, scale) == pytest.approx(peak * (2 - rising), rel=1e-9)


@given(alpha=alphas, warmup=st.integers(1, 500))
def test_the_rate_rises_until_the_warm_up_ends_and_falls_after_it(alpha: float, warmup: int) -> None:
    rates = [learning_rate(step, warmup=warmup, alpha=alpha) for step in range(1, 2 * warmup + 3)]
    assert all(before < after for before, after in pairwise(rates[:warmup]))
    assert all(before > after for before, after in pairwise(rates[warmup - 1 :]))


@given(warmup=warmups, alpha=alphas)
def test_a_shorter_warm_up_can_keep_the_peak(warmup: int, alpha: float) -> None:
    kept = learning_rate(warmup, warmup=warmup, alpha=alpha, scale=peak_keeping_scale(warmup))
    assert kept == pytest.approx(learning_rate(4000), rel=1e-9)


def test_the_scale_that_keeps_the_peak_of_the_usual_warm_up_is_one() -> None:
    assert peak_keeping_scale(4000) == 1
    assert peak_keeping_scale(1000) == pytest.approx(0.5)


@pytest.mark.parametrize("wrong", [{"step": 0}, {"step": -1}, {"step": 1, "warmup": 0}, {"step": 1, "width": 0}], ids=str)
def test_steps_count_from_one(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="All count from 1"):
        learning_rate(**wrong)


@pytest.mark.parametrize("step", [1, 900, 2500, 9000])
def test_a_recipe_takes_the_printed_beta_of_version_three(step: int) -> None:
    settings = ["schedule.version=v3", "schedule.warmup=4000", "schedule.scale=1.0"]
    joined, printed = (read_recipe(None, settings=[*settings, *more]) for more in ([], [f"schedule.beta={-1 / 22}"]))
    assert rate_of(joined, step, steps_per_epoch=10) == learning_rate(step, alpha=6 / 13)
    assert rate_of(printed, step, steps_per_epoch=10) == pytest.approx(
        learning_rate(step, alpha=6 / 13, beta=-1 / 22), rel=1e-12
    )


@pytest.mark.parametrize(
    ("encoder", "depth", "warmup", "scale"),
    [
        ("bat", 4, 4000, 1),
        ("bat", 6, 4000, 1),
        ("bat", 12, 8000, 1 / 3),
        ("bat", 24, 8000, 1 / 5),
        ("transformer", 24, 12000, 1 / 10),
        ("switch", 24, 8000, 1 / 10),
        *((name, 24, 8000, 1 / 3) for name in ("muse", "performer", "informer", "admin")),
    ],
)
def test_deeper_encoders_take_the_appendix_warm_up_and_scale(encoder: str, depth: int, warmup: int, scale: float) -> None:
    assert deeper(encoder, depth) == (warmup, pytest.approx(scale))
