"""Parts of speech by the segmenters' dictionaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batag.segmentation.speech import parts_of_speech


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
