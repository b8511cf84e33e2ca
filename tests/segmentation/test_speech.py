"""Parts of speech by the segmenters' dictionaries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batag.segmentation.speech import parts_of_speech, words_around


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("耐克", ("zh:nz", "ja:pieces")),
        ("ルモラ", ("ja:new/名詞/普通名詞/一般",)),
        ("トヨタ", ("ja:名詞/固有名詞/一般",)),
        ("北京", ("zh:ns", "ja:名詞/固有名詞/地名")),
        ("麦肯诺", ("zh:pieces", "zh:first=nr", "zh:last=nz")),
        ("nike", ()),
        ("120cm", ()),
        ("😀", ()),
        ("", ()),
    ],
)
def test_what_dictionaries_say(word: str, expected: tuple[str, ...]) -> None:
    assert parts_of_speech(word)[: len(expected)] == expected
    assert bool(parts_of_speech(word)) == bool(expected)


def test_traditional_and_simplified_are_the_same_chinese_word() -> None:
    traditional, simplified = (
        [part for part in parts_of_speech(word) if part.startswith("zh:")] for word in ("連衣裙", "连衣裙")
    )
    assert traditional == simplified == ["zh:nr"]


@given(st.text(alphabet=st.characters(), max_size=200) | st.text("京都ァ𠮷\ud800a ", max_size=200))
def test_any_text_has_few_parts(word: str) -> None:
    assert len(parts_of_speech(word)) <= 6


def test_a_very_long_word_is_no_problem() -> None:
    assert parts_of_speech("漢" * 1_000_000)


def test_a_character_lies_in_a_word() -> None:
    assert words_around("北京搬家") == [("北京", "B"), ("北京", "E"), ("搬家", "B"), ("搬家", "E")]
    assert words_around("会社は") == [("会社", "B"), ("会社", "E"), ("は", "S")]
    assert words_around(["i", "P", "h", "o", "n", "e"])[0] == ("iPhone", "B")
    assert words_around("連衣裙") == [("連衣裙", "B"), ("連衣裙", "I"), ("連衣裙", "E")]  # Traditional, as it stands
    assert words_around("") == []


@given(st.lists(st.characters() | st.sampled_from("京都ァ𠮷\ud800a１㍿"), max_size=60))
def test_every_character_lies_in_one_word(characters: list[str]) -> None:
    found = words_around(characters)
    assert len(found) == len(characters)
    assert all(len(word) == 1 for word, place in found if place == "S")


def test_threads_get_the_same_answers() -> None:
    words = ["ソニー", "京都", "株式会社", "ルモラ"] * 500
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parts_of_speech, words)) == [parts_of_speech(word) for word in words]


def test_one_long_word_takes_no_longer_than_it_must() -> None:
    found = words_around(["漢", *"a" * 50_000])
    assert len(found) == 50_001
    assert max(len(word) for word, _ in found) <= 64
