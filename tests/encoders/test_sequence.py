"""Pages in one row of words, and the windows over long ones."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from batag.encoders.sequence import Window, page_words, windows
from batag.errors import UsageError
from batag.pages.offsets import Cleaned
from batag.segmentation.segmentation import TokenizedField


def field(name: str, *words: str) -> TokenizedField:
    """A field whose tokens are these words."""
    tokens, done = [], 0
    for word in words:
        tokens.append((done, done + len(word)))
        done += len(word) + 1
    text = " ".join(words)
    return TokenizedField(name, Cleaned(text, text), tokens)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[int, int, int]:
    """Length, size and overlap."""
    size = draw(st.integers(1, 60))
    return draw(st.integers(0, 400)), size, draw(st.integers(0, size - 1))


@given(case=cuts())
@example(case=(31, 20, 10))
@example(case=(21, 20, 19))
@example(case=(5, 1, 0))
def test_every_word_is_owned_once_and_lies_in_its_window(case: tuple[int, int, int]) -> None:
    length, size, overlap = case
    found = windows(length, size=size, overlap=overlap)
    owned = [place for window in found for place in range(window.first, window.last)]
    assert owned == list(range(length))
    for window in found:
        assert 0 <= window.start <= window.first < window.last <= window.stop <= length
        assert window.stop - window.start <= size


@given(case=cuts())
@example(case=(31, 20, 10))
def test_every_word_sees_half_the_overlap_on_both_sides_or_the_end_of_the_page(case: tuple[int, int, int]) -> None:
    length, size, overlap = case
    for window in windows(length, size=size, overlap=overlap):
        if window.start:
            assert window.first - window.start >= overlap // 2
        if window.stop < length:
            assert window.stop - window.last >= overlap // 2


@given(case=cuts())
def test_a_words_label_comes_from_the_window_that_shows_most_around_it(case: tuple[int, int, int]) -> None:
    length, size, overlap = case
    found = windows(length, size=size, overlap=overlap)

    def around(window: Window, place: int) -> float:
        left = place - window.start if window.start else math.inf
        right = window.stop - 1 - place if window.stop < length else math.inf
        return min(left, right)

    for owner in found:
        for place in range(owner.first, owner.last):
            others = [around(window, place) for window in found if window.start <= place < window.stop]
            assert around(owner, place) == max(others)


@given(case=cuts())
def test_neighbouring_windows_overlap_at_least_as_asked_and_all_are_full(case: tuple[int, int, int]) -> None:
    length, size, overlap = case
    assume(length > size)
    found = windows(length, size=size, overlap=overlap)
    assert found[0].start == 0
    assert found[-1].stop == length
    for window in found:
        assert window.stop - window.start == size
    for before, after in pairwise(found):
        assert before.start < after.start
        assert before.stop - after.start >= overlap
    # No more windows than the page needs.
    assert len(found) == 1 + math.ceil((length - size) / (size - overlap))


def test_a_page_that_fits_is_one_window() -> None:
    assert windows(5, size=5, overlap=2) == [Window(0, 5, 0, 5)]
    assert windows(1, size=512, overlap=64) == [Window(0, 1, 0, 1)]


def test_a_page_without_words_has_no_window() -> None:
    assert windows(0, size=5, overlap=2) == []


def test_a_page_of_one_word_more_than_a_window() -> None:
    assert windows(11, size=10, overlap=4) == [Window(0, 10, 0, 5), Window(1, 11, 5, 11)]


@pytest.mark.parametrize(("size", "overlap"), [(5, 5), (5, 6), (5, -1), (0, 0), (-3, 0)])
def test_windows_that_would_not_move_on_are_the_users_mistake(size: int, overlap: int) -> None:
    for length in (0, 3, 100):
        with pytest.raises(UsageError, match=f"windows of {size} words cannot overlap by {overlap}"):
            windows(length, size=size, overlap=overlap)


def test_every_field_but_the_title_is_announced() -> None:
    words, starts = page_words([field("title", "Air", "Max"), field("description", "soft"), field("color", "red", "blue")])
    assert words == ["Air", "Max", "<description>", "soft", "<color>", "red", "blue"]
    assert starts == [0, 3, 5]


def test_a_title_is_never_announced_wherever_it_stands() -> None:
    words, starts = page_words([field("description", "soft"), field("title", "Air")])
    assert words == ["<description>", "soft", "Air"]
    assert starts == [1, 2]


def test_a_field_without_words_is_not_announced() -> None:
    words, starts = page_words([field("title"), field("description"), field("color", "red"), field("size")])
    assert words == ["<color>", "red"]
    assert starts == [0, 0, 1, 2]


def test_a_page_without_fields_has_no_words() -> None:
    assert page_words([]) == ([], [])


@given(
    fields=st.lists(
        st.tuples(st.sampled_from(["title", "description", "color"]), st.lists(st.sampled_from("ab衣"), max_size=4)), max_size=4
    )
)
def test_each_fields_words_stand_where_its_start_says(fields: list[tuple[str, list[str]]]) -> None:
    words, starts = page_words([field(name, *each) for name, each in fields])
    assert len(starts) == len(fields)
    for start, (name, each) in zip(starts, fields, strict=True):
        assert words[start : start + len(each)] == each
        if each and name != "title":
            assert words[start - 1] == f"<{name}>"
    announced = sum(1 for name, each in fields if each and name != "title")
    assert len(words) == announced + sum(len(each) for _, each in fields)
