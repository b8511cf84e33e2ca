"""What people label counts for more: their pages are learnt several times, and a bundle that knows their borders draws them."""

from __future__ import annotations

import pickle

import pytest
from tests.start.test_evidence import lists_of, page, tagged

from batag.pages.page import Page
from batag.start.evidence import Evidence
from batag.start.learning.labelling import MOST_REPEATS, repeated
from batag.start.survey import BRAND_OF


def pages(number: int) -> list[Page]:
    return [Page(str(row), {"title": f"page {row}"}) for row in range(number)]


@pytest.mark.parametrize(("people", "others", "times"), [(250, 600, 4), (100, 600, MOST_REPEATS), (250, 100, 1), (10, 0, 1)])
def test_pages_of_people_are_learnt_as_often_as_the_others_ask_for(people: int, others: int, times: int) -> None:
    own = pages(people)
    made = list(repeated(own, others=others))
    assert len(made) == times * people
    assert made[:people] == own
    assert len({each.id for each in made}) == len(made)
    assert [each.fields for each in made] == [each.fields for each in own] * times


def test_without_pages_of_people_nothing_is_repeated() -> None:
    assert list(repeated([], others=600)) == []


def test_tags_of_a_bundle_that_has_learnt_from_people_keep_their_borders() -> None:
    row = page("Nike 全新超級電冰箱 Zotarra 保溫杯", "Nike")
    own = ("全新超級電冰箱", "goods", 0.9), ("Zotarra", "brand", 0.6)
    shaped = Evidence.of(lists_of(row), column=BRAND_OF)
    assert [text for text, *_ in tagged(shaped, row, *own)] == ["Nike", "電冰箱", "保溫杯"]
    kept = Evidence.of(lists_of(row), column=BRAND_OF, shaping=False)
    expected = [("Nike", "brand", "column"), ("全新超級電冰箱", "goods", "model"), ("Zotarra", "brand", "model")]
    assert tagged(kept, row, *own) == expected
    assert tagged(pickle.loads(pickle.dumps(kept)), row, *own) == expected
    assert kept.digest() != shaped.digest()
