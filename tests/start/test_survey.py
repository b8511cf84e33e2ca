from __future__ import annotations

from collections.abc import Iterator

import pytest

from batag.pages.page import Page
from batag.start import survey as surveys
from batag.start.survey import BRAND_OF, Survey, survey_pages


def pages(number: int, *, length: int = 40) -> Iterator[Page]:
    for each in range(number):
        yield Page(str(each), {"title": "x" * length}, language="en", extra={BRAND_OF: f"B{each % 7}"})


def test_all_rows_are_counted_and_a_sample_is_kept() -> None:
    survey = Survey()
    sample = survey_pages(pages(1_000), survey, most=50)
    assert sum(survey.brands.values()) == 1_000
    assert len(survey.brands) == 7
    assert len(sample) == survey.sampled == 50
    assert len({page.id for page in sample}) == 50
    assert max(int(page.id) for page in sample) > 500
    again = survey_pages(pages(1_000), Survey(), most=50)
    assert [page.id for page in again] == [page.id for page in sample]


def test_the_sample_does_not_grow_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveys, "MOST_CHARACTERS", 10_000)
    for number in (1_000, 10_000):
        sample = survey_pages(pages(number, length=200), Survey(), most=5_000)
        assert 20 <= len(sample) <= 50


def test_a_survey_is_written_and_read_again() -> None:
    survey = Survey(rows=3, pages=2)
    survey_pages(pages(2), survey, most=10)
    assert Survey.of_dict(survey.to_dict()) == survey
