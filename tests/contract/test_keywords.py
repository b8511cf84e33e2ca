"""What every extractor of keywords promises, whatever its formula."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tricky import PRODUCT_STRINGS

from batag.errors import UsageError
from batag.keywords import METHODS, build_extractor
from batag.keywords.document import documents
from batag.keywords.extractor import Extractor
from batag.keywords.statistics import Statistics
from batag.pages.page import Page
from batag.pages.stopwords import fold
from batag.sample.catalogue import LANGUAGES as SAMPLE
from batag.sample.catalogue import sample_pages
from batag.segmentation.segmentation import Segmentation

TEXTS = {
    "en": "The waterproof hiking boot keeps feet dry. A hiking boot for trails with a rubber sole; the sole grips rock.",
    "zh-Hant": "【NORDVIK】防水登山鞋，輕量登山鞋。鞋底採用橡膠大底，防水透氣材質，適合登山健行。登山鞋保固一年。",
    "zh-Hans": "防水登山鞋，轻量登山鞋。鞋底采用橡胶大底，防水透气面料，适合登山徒步。登山鞋保修一年。",
    "ja": "防水登山靴は軽量です。登山靴の靴底はゴム製で、雨の日の登山に適しています。トレッキングシューズとしても人気です。",
}


def vectors(pages: Sequence[Sequence[str]]) -> np.ndarray:
    """Vectors of words that need no model: three numbers of their characters."""
    rows = [[[sum(map(ord, word)) % 7 - 3, len(word), ord(word[0]) % 5 - 2] for word in page] for page in pages]
    return np.array(rows, dtype=np.float32)


@cache
def made(method: str) -> Extractor:
    pages = [Page(language, {"title": text}, language=language) for language, text in TEXTS.items()]
    statistics = Statistics().fit(documents(pages, Segmentation()))
    extra = {"vectors": vectors} if method == "embedding" else {}
    return build_extractor(method, statistics=statistics, **extra)


@pytest.fixture(params=METHODS)
def extractor(request: pytest.FixtureRequest) -> Extractor:
    return made(request.param)


@pytest.mark.parametrize("language", TEXTS)
def test_keywords_of_every_language_are_spans_of_the_page_in_the_order_of_their_scores(
    extractor: Extractor, language: str
) -> None:
    title, description = TEXTS[language][:20], TEXTS[language][20:]
    page = Page("1", {"title": title, "description": description}, language=language)
    found = extractor.extract(page, top=8)
    assert 2 <= len(found) <= 8
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    for each in found:
        assert each.text == page[each.places[0][0]][each.places[0][1] : each.places[0][2]]
        assert [tag.text for tag in each.tags(page)] == [page[field][start:end] for field, start, end in each.places]
    assert len({fold(each.text) for each in found}) == len(found)


@pytest.mark.parametrize("language", SAMPLE)
def test_a_shops_pages_have_keywords(extractor: Extractor, language: str) -> None:
    for page in sample_pages(language, pages=5, style="paper"):
        assert extractor.extract(page)


def test_the_same_page_has_the_same_keywords_whatever_came_before(extractor: Extractor) -> None:
    pages = [Page(language, {"title": text}, language=language) for language, text in TEXTS.items()]
    forwards = {page.id: found for page, found in extractor.extract_many(pages)}
    backwards = {page.id: found for page, found in extractor.extract_many(pages[::-1])}
    alone = {page.id: extractor.extract(page) for page in pages}
    assert forwards == backwards == alone


@pytest.mark.parametrize("text", ["", " ", "...", "the", "的", "12", "\u200b", "🏔️"])
def test_a_page_without_a_keyword_has_none(extractor: Extractor, text: str) -> None:
    assert extractor.extract(Page("1", {"title": text})) == []


@pytest.mark.parametrize(("text", "language"), [("boot", "en"), ("登山鞋", "zh-Hant"), ("登山鞋", "zh-Hans"), ("長靴", "ja")])
def test_a_page_of_one_word_has_that_word(extractor: Extractor, text: str, language: str) -> None:
    (found,) = extractor.extract(Page("1", {"title": text}, language=language))
    assert found.text == text
    assert found.places == (("title", 0, len(text)),)


def test_a_keyword_never_crosses_markup_or_a_line(extractor: Extractor) -> None:
    page = Page("1", {"title": "hiking<br>boot rubber\nsole"}, language="en")
    texts = [each.text for each in extractor.extract(page)]
    assert texts
    assert not [text for text in texts if "<" in text or "\n" in text]


def test_the_tokens_of_a_page_do_not_count_unless_asked_for() -> None:
    tokens = {"title": tuple((place, place + 1) for place in range(6))}
    page = Page("1", {"title": "防水登山鞋底"}, language="zh-Hant", tokens=tokens)
    with_own = build_extractor("tfidf", segmentation=Segmentation("given")).extract(page, top=50)
    assert made("tfidf").extract(page) == made("tfidf").extract(Page("1", page.fields, language="zh-Hant"))
    assert with_own != made("tfidf").extract(page, top=50)


def test_without_statistics_and_without_a_language_there_are_keywords_too() -> None:
    for method in METHODS:
        extra = {"vectors": vectors} if method == "embedding" else {}
        assert build_extractor(method, **extra).extract(Page("1", {"title": TEXTS["en"]}))


@pytest.mark.parametrize("text", PRODUCT_STRINGS)
def test_tricky_texts_are_no_trouble(text: str) -> None:
    for method in METHODS:
        page = Page("1", {"title": text})
        for each in made(method).extract(page):
            assert each.text == page["title"][each.places[0][1] : each.places[0][2]]


@given(st.text(alphabet="aB 的鞋靴の登山1.,<br>\n&amp;", max_size=60))
def test_any_text_has_spans_as_keywords(text: str) -> None:
    page = Page("1", {"title": text})
    for method in ("auto", "yake"):
        for each in made(method).extract(page):
            assert each.text == page["title"][each.places[0][1] : each.places[0][2]]
            assert each.text.strip() == each.text != ""


def test_an_unknown_method_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"'textrnak' is not a method\. Did you mean 'textrank'"):
        build_extractor("textrnak")


def test_embedding_without_a_model_says_what_it_needs() -> None:
    with pytest.raises(UsageError, match="needs a model"):
        build_extractor("embedding")
