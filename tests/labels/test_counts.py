"""N_1 : N_2 : ..."""

from __future__ import annotations

import pytest

from batag.labels.counts import class_counts, ratio


@pytest.mark.parametrize(
    ("tokens", "counts"),
    [
        ({"brand": 3, "none": 9, "goods": 5}, {"none": 9, "goods": 5, "brand": 3}),
        ({"b": 2, "a": 2}, {"none": 0, "a": 2, "b": 2}),
        ({}, {"none": 0}),
    ],
)
def test_none_comes_first_then_the_most_frequent(tokens: dict[str, int], counts: dict[str, int]) -> None:
    counted = class_counts(tokens)
    assert counted == counts
    assert list(counted) == list(counts)


@pytest.mark.parametrize(
    ("counts", "written"),
    [
        ({"none": 21, "goods": 2, "brand": 1}, "21 : 2 : 1"),
        ({"none": 2100, "goods": 190, "brand": 100}, "21 : 1.9 : 1"),
        ({"none": 10}, "1"),
        ({"none": 10, "a": 0, "b": 4}, "2.5 : 0 : 1"),
        ({"none": 0}, "no tokens"),
        ({}, "no tokens"),
    ],
)
def test_the_ratio_is_as_the_paper_writes_it(counts: dict[str, int], written: str) -> None:
    assert ratio(counts) == written


@pytest.mark.parametrize("number", [1_000, 12_345, 1_000_000])
def test_a_large_ratio_is_written_out(number: int) -> None:
    assert ratio({"none": number, "a": 1}).replace(",", "") == f"{number} : 1"
