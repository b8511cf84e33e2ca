"""The map of edits against a naive model that carries a set of origins with each character."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from batag.pages.offsets import Cleaned, Edit, apply_edits

Model = list[tuple[str, int, int]]


@st.composite
def edit_lists(draw: st.DrawFn, text: str) -> list[Edit]:
    """Edits in order, without overlaps, none of an empty piece."""
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = list(pairwise(borders))
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return [(start, end, draw(st.text(max_size=3))) for (start, end), taken in zip(pairs, chosen, strict=True) if taken]


@st.composite
def journeys(draw: st.DrawFn) -> tuple[str, list[list[Edit]]]:
    text = original = draw(st.text(max_size=20))
    steps = []
    for _ in range(draw(st.integers(0, 4))):
        edits = draw(edit_lists(text))
        steps.append(edits)
        text = apply_edits(text, edits)
    return original, steps


def model_of(original: str, steps: list[list[Edit]]) -> Model:
    model: Model = [(character, place, place + 1) for place, character in enumerate(original)]
    for edits in steps:
        for start, end, replacement in reversed(edits):
            low, high = model[start][1], model[end - 1][2]
            model[start:end] = [(character, low, high) for character in replacement]
    return model


def cleaned_of(original: str, steps: list[list[Edit]]) -> Cleaned:
    text = original
    for edits in steps:
        text = apply_edits(text, edits)
    return Cleaned(original, text, [edits for edits in steps if edits])


@given(journey=journeys())
@settings(max_examples=300, deadline=None)
def test_edits_and_origins_are_those_of_the_naive_model(journey: tuple[str, list[list[Edit]]]) -> None:
    cleaned, model = cleaned_of(*journey), model_of(*journey)
    assert cleaned.text == "".join(character for character, _, _ in model)
    assert list(zip(*cleaned.origins, strict=True)) == [(start, end) for _, start, end in model]


@given(journey=journeys(), data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_piece_maps_to_what_its_characters_map_to(journey: tuple[str, list[list[Edit]]], data: st.DataObject) -> None:
    cleaned, model = cleaned_of(*journey), model_of(*journey)
    if not cleaned.text:
        return
    start = data.draw(st.integers(0, len(cleaned.text) - 1))
    end = data.draw(st.integers(start + 1, len(cleaned.text)))
    low, high = cleaned.to_original(start, end)
    assert (low, high) == (min(item[1] for item in model[start:end]), max(item[2] for item in model[start:end]))
    assert 0 <= low < high <= len(cleaned.original)


@given(text=st.text(max_size=30))
def test_no_edit_is_the_identity(text: str) -> None:
    assert apply_edits(text, []) == text
    cleaned = Cleaned(text, text)
    assert list(zip(*cleaned.origins, strict=True)) == [(place, place + 1) for place in range(len(text))]


def test_a_replacement_comes_from_the_whole_piece() -> None:
    cleaned = Cleaned("a<b>c", "a  c", [[(1, 4, "  ")]])
    assert [cleaned.to_original(place, place + 1) for place in range(4)] == [(0, 1), (1, 4), (1, 4), (4, 5)]
    assert cleaned.to_original(0, 4) == (0, 5)


def test_what_vanished_belongs_to_nobody() -> None:
    cleaned = Cleaned("a\u200bb", "ab", [[(1, 2, "")]])
    assert cleaned.to_original(0, 1) == (0, 1)
    assert cleaned.to_original(1, 2) == (2, 3)
    assert cleaned.to_original(0, 2) == (0, 3)
