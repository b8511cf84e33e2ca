"""Classes to labels of tokens and back."""

from __future__ import annotations

from itertools import accumulate, chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batag.errors import UsageError
from batag.labels.counts import class_counts
from batag.labels.scheme import NONE, Scheme, TokenSpan, build_scheme

CLASSES = ("goods", "brand", "功能")


@st.composite
def span_lists(draw: st.DrawFn) -> tuple[list[TokenSpan], int]:
    """Spans in order, without overlaps, and a number of tokens that holds them."""
    spans: list[TokenSpan] = []
    place = 0
    for _ in range(draw(st.integers(0, 6))):
        first = place + draw(st.integers(0, 2))
        last = first + draw(st.integers(0, 3))
        spans.append((first, last, draw(st.sampled_from(CLASSES))))
        place = last + 1
    return spans, place + draw(st.integers(0, 3))


def merged(spans: list[TokenSpan]) -> list[TokenSpan]:
    result: list[TokenSpan] = []
    for first, last, name in spans:
        if result and result[-1][1] + 1 == first and result[-1][2] == name:
            result[-1] = (result[-1][0], last, name)
        else:
            result.append((first, last, name))
    return result


@given(case=span_lists())
@settings(max_examples=200, deadline=None)
def test_bio_gives_back_what_it_was_given(case: tuple[list[TokenSpan], int]) -> None:
    spans, length = case
    scheme = Scheme("bio", CLASSES)
    labels = scheme.encode(spans, length=length)
    assert len(labels) == length
    assert scheme.decode(labels) == spans


@given(case=span_lists())
@settings(max_examples=200, deadline=None)
def test_flat_merges_neighbours_of_one_class_and_nothing_else(case: tuple[list[TokenSpan], int]) -> None:
    spans, length = case
    scheme = Scheme("flat", CLASSES)
    labels = scheme.encode(spans, length=length)
    assert scheme.decode(labels) == merged(spans)
    assert scheme.encode(scheme.decode(labels), length=length) == labels


@pytest.mark.parametrize("name", ["flat", "bio"])
@given(texts=st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=8), min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_many_texts_at_once_are_decoded_as_each(name: str, texts: list[list[int]]) -> None:
    scheme = Scheme(name, CLASSES if name == "bio" else tuple("abcdef"))
    begins = [0, *accumulate(map(len, texts))]
    first, last, classes = scheme.decode_many(np.array(list(chain.from_iterable(texts))), begins[:-1])
    found = [(start, end, scheme.classes[number - 1]) for start, end, number in zip(first, last, classes, strict=True)]
    each = [
        [(start + begin, end + begin, label) for start, end, label in scheme.decode(text)]
        for begin, text in zip(begins, texts, strict=False)
    ]
    assert found == list(chain.from_iterable(each))


@pytest.mark.parametrize("name", ["flat", "bio"])
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_any_labels_decode_to_spans_that_cover_them(name: str, data: st.DataObject) -> None:
    scheme = Scheme(name, CLASSES)
    labels = data.draw(st.lists(st.integers(0, len(scheme.labels) - 1), max_size=12))
    spans = scheme.decode(labels)
    covered = {place for first, last, _ in spans for place in range(first, last + 1)}
    assert covered == {place for place, label in enumerate(labels) if label}
    for first, last, each in spans:
        assert all(scheme.labels[labels[place]].endswith(each) for place in range(first, last + 1))
    assert scheme.decode(scheme.encode(spans, length=len(labels))) == (merged(spans) if name == "flat" else spans)


def test_labels_are_none_first_then_the_classes() -> None:
    assert Scheme("flat", CLASSES).labels == ("none", "goods", "brand", "功能")
    assert Scheme("bio", ("a", "b")).labels == ("none", "B-a", "I-a", "B-b", "I-b")
    assert Scheme("flat", CLASSES).encode([(1, 2, "brand")], length=4) == [0, 2, 2, 0]
    assert Scheme("bio", CLASSES).encode([(1, 2, "brand")], length=4) == [0, 3, 4, 0]


def test_an_inside_label_without_a_beginning_starts_a_tag() -> None:
    assert Scheme("bio", ("a", "b")).decode([2, 2, 4, 0, 4]) == [(0, 1, "a"), (2, 2, "b"), (4, 4, "b")]


@pytest.mark.parametrize("classes", [("none",), ("a", "a"), ("a", "none", "b"), ("",), ("a", "")])
def test_bad_class_names_are_refused(classes: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        Scheme("flat", classes)


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(UsageError, match=r"iobes.*flat, bio"):
        Scheme("iobes", ("a",))


def test_a_scheme_orders_classes_by_their_tokens() -> None:
    assert build_scheme("flat", {"a": 1, "c": 5, "b": 5}).classes == ("b", "c", "a")


def test_a_scheme_is_built_from_the_counts_of_a_data_set() -> None:
    counts = class_counts({"brand": 3, NONE: 90, "goods": 7})
    assert build_scheme("flat", counts).labels == ("none", "goods", "brand")
