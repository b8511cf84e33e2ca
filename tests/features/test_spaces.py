"""A space before a Chinese or Japanese word as a feature of the word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batag.encoders.sequence import page_words
from batag.features.featurizer import Featurizer
from batag.features.term_lists import TermLists
from batag.features.vocabulary import Vocabulary
from batag.pages.page import Page
from batag.segmentation.segmentation import SPACE, Segmentation

INPUT = {"kind": "rich", "part_of_speech_buckets": 100, "ngram_buckets": 100, "shape_buckets": 10}


def words(title: str, language: str, **options: Any) -> list[str]:
    return page_words(Segmentation(**options)(Page("1", {"title": title}, language=language)))[0]


def featurizer(**more: Any) -> Featurizer:
    return Featurizer.build(
        Vocabulary(dict.fromkeys(["濾網"])), input=INPUT | more, terms=TermLists(own=(("除濕機濾網", "goods"),))
    )


def test_words_behind_a_space_are_marked_beside_chinese_and_japanese_words() -> None:
    assert words("日立 除濕機 濾網", "zh-Hant", spaces=True) == ["日立", f"{SPACE}除濕機", f"{SPACE}濾網"]
    assert words("日立 New Balance 水筒", "ja", spaces=True) == ["日立", f"{SPACE}New", "Balance", f"{SPACE}水筒"]
    assert words("New Balance shoes", "en", spaces=True) == ["New", "Balance", "shoes"]


def test_without_the_option_no_word_is_marked() -> None:
    assert words("日立 除濕機 濾網", "zh-Hant") == ["日立", "除濕機", "濾網"]


def test_a_marked_word_is_the_same_word_with_one_feature_more() -> None:
    own = featurizer(spaces=True)
    marked, plain = own.batch([[f"{SPACE}濾網"]]), own.batch([["濾網"]])
    assert marked.words.tolist() == plain.words.tolist() == [[own.vocabulary.number("濾網")]]
    assert marked.ngrams is not None
    assert plain.ngrams is not None
    np.testing.assert_array_equal(marked.ngrams, plain.ngrams)
    assert marked.parts_of_speech is not None
    assert plain.parts_of_speech is not None
    assert len(marked.parts_of_speech) == len(plain.parts_of_speech) + 1


def test_listed_names_do_not_reach_across_a_space() -> None:
    own = featurizer(spaces=True)
    assert own.keys(["除濕機", "濾網"]) == [("除濕機", "除濕機", "", "B-goods"), ("濾網", "濾網", "", "E-goods")]
    assert own.keys(["除濕機", f"{SPACE}濾網"]) == ["除濕機", ("濾網", "濾網", "", SPACE)]


@pytest.mark.parametrize("word", [SPACE, f"{SPACE}x"])
def test_a_mark_that_a_page_itself_has_is_kept_without_the_option(word: str) -> None:
    assert featurizer().keys([word]) == [word]


def test_a_page_that_is_only_a_mark_stays_a_word() -> None:
    assert featurizer(spaces=True).keys([SPACE]) == [SPACE]
