from __future__ import annotations

import numpy as np
import pytest

from batag.encoders.frozen import FrozenWords
from batag.encoders.shipped import chinese_characters, japanese_vectors, words_for


def closeness(known: FrozenWords, one: str, other: str) -> float:
    a, b = known.numbers([one, other])
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize(("word", "like", "unlike"), [("ソニー", "パナソニック", "味噌"), ("味噌", "醤油", "ソニー")])
def test_japanese_words_of_one_kind_lie_near_each_other(word: str, like: str, unlike: str) -> None:
    known = japanese_vectors()
    assert closeness(known, word, like) > closeness(known, word, unlike) + 0.3


@pytest.mark.parametrize(("word", "like", "unlike"), [("海尔集团", "美的集团", "防水"), ("连衣裙", "运动鞋", "安踏")])
def test_chinese_words_of_one_kind_lie_near_each_other(word: str, like: str, unlike: str) -> None:
    known = chinese_characters()
    assert closeness(known, word, like) > closeness(known, word, unlike) + 0.2


def test_a_japanese_word_is_found_however_it_is_written() -> None:
    vectors = japanese_vectors()
    rows = vectors.numbers(["林檎", "りんご", "リンゴ", "SONY", "sony"])
    assert rows[0].any()
    assert (rows[1:3] == rows[0]).all()
    assert (rows[3] == rows[4]).all()
    assert not vectors.numbers(["zzzqqq", "\ud800", ""]).any()


def test_a_chinese_word_is_read_alike_in_both_scripts_and_widths() -> None:
    rows = chinese_characters().numbers(["運動鞋", "运动鞋", "ＳＯＮＹ", "sony"])
    assert (rows[0] == rows[1]).all()
    assert (rows[2] == rows[3]).all()


def test_every_japanese_word_has_a_row_of_numbers() -> None:
    vectors = japanese_vectors()
    assert len(set(vectors.words)) == len(vectors.words) > 100_000
    assert np.abs(vectors.numbers(vectors.words)).max(1).min() == 127


@pytest.mark.parametrize(
    ("pages", "kind"),
    [
        ({"ja": 100}, "vectors"),
        ({"zh-Hant": 450, "ja": 50}, "vectors+characters"),
        ({"zh-Hant": 30, "zh-Hans": 30, "en": 500}, "characters"),
        ({"en": 460, "ja": 40}, ""),
        ({"en": 1}, ""),
        ({}, ""),
    ],
)
def test_what_is_known_is_taken_where_enough_pages_are_in_its_language(pages: dict[str, int], kind: str) -> None:
    found = words_for(pages)
    assert (found.kind if found is not None else "") == kind


def test_a_run_that_began_with_less_goes_on_with_less() -> None:
    found = words_for({"zh-Hant": 450, "ja": 50}, names=["ja"])
    assert found is not None
    assert found.kind == "vectors"
    assert words_for({"zh-Hant": 450}, names=["ja"]) is None


def test_chinese_words_look_like_what_they_are() -> None:
    kinds = chinese_characters().look_up(["海尔集团", "连衣裙", "北京市"])[1]
    assert [first for first, _ in kinds] == ["looks=ORG-B", "looks=n-B", "looks=LOC-B"]
