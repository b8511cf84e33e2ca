from __future__ import annotations

import numpy as np
import pytest

from batag.encoders.shipped import LANGUAGES, shipped_vectors, vectors_for


def closeness(one: str, other: str) -> float:
    a, b = shipped_vectors("ja").numbers([one, other])
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize(("word", "like", "unlike"), [("ソニー", "パナソニック", "味噌"), ("味噌", "醤油", "ソニー")])
def test_words_of_one_kind_lie_near_each_other(word: str, like: str, unlike: str) -> None:
    assert closeness(word, like) > closeness(word, unlike) + 0.3


def test_a_word_is_found_however_it_is_written() -> None:
    vectors = shipped_vectors("ja")
    rows = vectors.numbers(["林檎", "りんご", "リンゴ", "SONY", "sony"])
    assert rows[0].any()
    assert (rows[1:3] == rows[0]).all()
    assert (rows[3] == rows[4]).all()
    assert not vectors.numbers(["zzzqqq", "\ud800", ""]).any()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_has_a_row_of_numbers(language: str) -> None:
    vectors = shipped_vectors(language)
    assert len(set(vectors.words)) == len(vectors.words) > 100_000
    assert np.abs(vectors.numbers(vectors.words)).max(1).min() == 127


@pytest.mark.parametrize(
    ("pages", "has"),
    [
        ({"ja": 100}, True),
        ({"zh-Hant": 450, "ja": 50}, True),
        ({"en": 460, "ja": 40}, False),
        ({"en": 1}, False),
        ({}, False),
    ],
)
def test_vectors_are_taken_where_enough_pages_are_in_their_language(pages: dict[str, int], has: bool) -> None:
    assert (vectors_for(pages) is not None) == has
