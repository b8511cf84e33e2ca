"""A word that the title and the description both have, as a feature of the word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.features.test_spaces import featurizer

from batag.errors import BatagError
from batag.features.repeats import REPEATED, repeated
from batag.training.recipe import read_recipe


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["Laptop", "Battery", "<description>", "our", "batteries", "last"], [1, 4]),
        (["QORVIX", "Q20", "<description>", "The", "Qorvix", "case"], [0, 4]),
        (["防水", "睫毛膏", "<description>", "睫毛膏", "，", "遇", "水"], [1, 3]),
        (["a", "|", "5", "<description>", "a", "|", "5"], []),
        (["Battery", "Battery"], []),
        (["<description>", "Battery", "Battery"], []),
        (["mat", "<description>", "x", "<specs>", "mat"], [0, 4]),
        (["x", "<description>", "mat", "<specs>", "mat"], []),
        ([], []),
    ],
)
def test_words_of_the_title_that_another_field_repeats_are_found_on_both_sides(words: list[str], numbers: list[int]) -> None:
    assert repeated(words) == numbers


def test_a_repeated_word_has_a_code_of_its_own_beside_those_of_lists() -> None:
    page = ["濾網", "新", "<description>", "濾網"]
    listed = featurizer(repeats=True).keys(["除濕機", *page])
    assert listed[1] == ("濾網", "濾網", "", f"E-goods {REPEATED}")
    assert listed[-1] == ("濾網", "濾網", "", REPEATED)
    assert featurizer().keys(page) == page


def test_repeats_need_the_features_of_rich_words(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"input": {"repeats": True, "kind": "word"}}
    with pytest.raises(BatagError, match=r"input\.repeats"):
        read_recipe(None, changes=changes)
