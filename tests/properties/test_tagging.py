"""Whatever text a page holds, its tags stand in it, in order and apart, with the probabilities of their spans; a richer setting
keeps them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any
from zlib import crc32

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.strategies import NASTY, characters, json_values, pages, texts
from tests.tiny import check_score, scripted_tagger, tiny_tagger
from tests.tricky import PRODUCT_STRINGS

from batag.evaluation.decoding import Prediction
from batag.evaluation.operating_point import Dial, OperatingPoint
from batag.pages.page import Page, Tag
from batag.pages.record import to_record
from batag.pages.stopwords import StopWords, stop_words
from batag.segmentation.segmentation import language_of
from batag.tagging.tagger import Tagger, distinct

MARKUP = ("<br>", "<p class='x'>", "</p>", "<script>x</script>", "&nbsp;", "&frac12;", "&#x1F600;", "&yen;")
SEVERAL = ("㍿", "¼", "㎏", "℀", "…", "⑽", "㋿", "ŉ")
"""Characters that become several tokens."""
NAMES = ("title", "description", "規格")


def by_hash(labels: tuple[str | None, ...]) -> Callable[[str], str | None]:
    return lambda word: labels[crc32(word.encode(errors="replace")) % len(labels)]


@pytest.fixture(scope="module", params=["flat", "bio"])
def eager(request: pytest.FixtureRequest) -> Tagger:
    """A tagger that tags most words, by a hash of the word."""
    flat = ("goods", "goods", "brand", "feature", None)
    bio = ("B-goods", "I-goods", "I-goods", "B-brand", "I-brand", "I-feature", None)
    return scripted_tagger(by_hash(flat if request.param == "flat" else bio), scheme=request.param, window=16, overlap=4)


def product_texts() -> st.SearchStrategy[str]:
    """Product strings cut, joined and mixed with markup, emoji, half of a pair, line ends, all languages in one."""
    known = st.sampled_from(PRODUCT_STRINGS)
    piece = st.one_of(
        known,
        st.builds(lambda text, start, end: text[start:end], known, st.integers(0, 20), st.integers(0, 40)),
        st.sampled_from([*NASTY, *MARKUP, *SEVERAL]),
        st.text(characters, max_size=3),
    )
    return st.lists(piece, max_size=6).map("".join)


def product_pages() -> st.SearchStrategy[Page]:
    fields = st.dictionaries(st.sampled_from(NAMES), st.one_of(product_texts(), texts()), max_size=3)
    languages = st.sampled_from([None, "ja", "en", "zh-Hant"])
    return st.builds(lambda fields, language: Page("1", fields, language=language), fields, languages)


def check(page: Page, tags: list[Tag], prediction: Prediction, tagger: Tagger) -> None:
    order = {name: place for place, name in enumerate(page.fields)}
    stop = StopWords(stop_words(language_of(page)))
    for tag in tags:
        assert tag.text == page[tag.field][tag.start : tag.end] != ""
        assert tag.text.strip() == tag.text
        assert tag.label in tagger.labels
        assert tag.normal
        assert not stop.only_stop_words(tag.text)
        check_score(tag, prediction, tagger)
    for one, other in pairwise(tags):
        assert (order[one.field], one.end) <= (order[other.field], other.start)


@given(page=st.one_of(product_pages(), pages()))
@example(page=Page("1", {"title": "\r\nㄱ"}))
@settings(max_examples=150)
def test_tags_stand_in_the_original_text_in_order_and_apart(eager: Tagger, page: Page) -> None:
    prediction = next(eager.predict([page]))
    tags = eager.tags_of(prediction)
    check(page, tags, prediction, eager)
    assert eager.tag(page) == tags


@given(page=product_pages())
@settings(max_examples=40)
def test_the_same_holds_of_a_tagger_that_has_learnt(page: Page) -> None:
    for scheme in ("flat", "bio"):
        tagger = tiny_tagger(scheme)
        prediction = next(tagger.predict([page]))
        check(page, tagger.tags_of(prediction), prediction, tagger)


FAR = Dial(tuple(OperatingPoint(r, b, (own,)) for r, b, own in ((0.0, 0.5, -4.0), (0.5, 1.0, 0.0), (1.0, 2.0, 2.9))))
"""A dial that goes from hardly any tag to every span that may be one."""


@given(page=product_pages(), one=st.floats(0, 1), other=st.floats(0, 1))
@settings(max_examples=60)
def test_the_tags_of_a_cleaner_setting_are_all_among_those_of_a_richer_one(page: Page, one: float, other: float) -> None:
    for scheme in ("flat", "bio"):
        tagger = tiny_tagger(scheme)
        prediction = next(tagger.predict([page]))
        assert tagger.dial is not None
        classes = len(tagger.labels)
        far = Dial(tuple(replace(point, offsets=point.offsets[:1] * classes) for point in FAR.points))
        for dial in (tagger.dial, far):
            decoding = replace(tagger.decoding, dial=dial)
            clean, rich = (decoding.tags_of(prediction, richness) for richness in sorted((one, other)))
            assert all(tag in rich for tag in clean)
            order = {name: place for place, name in enumerate(page.fields)}
            for before, after in pairwise(rich):
                assert (order[before.field], before.end) <= (order[after.field], after.start)
            labels = [decoding.labels_of(prediction, richness) for richness in sorted((one, other))]
            for few, many in zip(*labels, strict=True):
                assert (many[few > 0] > 0).all()
        asked = [tagger.tag(page, richness=richness) for richness in sorted((one, other))]
        assert all(tag in asked[1] for tag in asked[0])


@given(page=product_pages())
@settings(max_examples=60)
def test_every_word_that_is_labelled_lies_in_a_tag_unless_it_is_a_stop_word(eager: Tagger, page: Page) -> None:
    prediction = next(eager.predict([page]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StopWords, "only_stop_words", lambda *_: False)
        tags = eager.tags_of(prediction)
    for field, labels in zip(prediction.fields, eager.labels_of(prediction), strict=True):
        for (start, end), label in zip(field.origins, labels, strict=True):
            assert not label or any(tag.field == field.name and tag.start < end and start < tag.end for tag in tags)


@given(many=st.lists(product_pages(), max_size=5), seed=st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_pages_are_tagged_alike_alone_together_and_in_any_order(many: list[Page], seed: Any) -> None:
    tagger = tiny_tagger()
    alone = [tagger.tag(page) for page in many]
    order = list(range(len(many)))
    seed.shuffle(order)
    for number, tags in zip(order, tagger.tag_many([many[number] for number in order]), strict=True):
        assert [(tag.field, tag.start, tag.end, tag.label) for tag in tags] == [
            (tag.field, tag.start, tag.end, tag.label) for tag in alone[number]
        ]
        assert [tag.score for tag in tags] == pytest.approx([tag.score for tag in alone[number]], abs=1e-4)


@given(page=pages())
@settings(max_examples=60)
def test_a_page_is_tagged_alike_as_a_record_and_whatever_tags_it_has_already(eager: Tagger, page: Page) -> None:
    bare = Page(page.id, page.fields, language=page.language)
    assert eager.tag(page) == eager.tag(to_record(page)) == eager.tag(bare)


@given(page=product_pages())
@settings(max_examples=60)
def test_a_tagged_page_may_bring_its_tokens(eager: Tagger, page: Page) -> None:
    """Tokens given as offsets of the original are tagged where they stand."""
    tokens = {name: tuple((at, min(at + 3, len(text))) for at in range(0, len(text), 3)) for name, text in page.fields.items()}
    given_page = Page("1", page.fields, language=page.language, tokens=tokens)
    prediction = next(eager.predict([given_page]))
    assert [field.origins for field in prediction.fields] == [list(each) for each in tokens.values()]
    for tag in eager.tags_of(prediction):
        assert tag.text == page[tag.field][tag.start : tag.end] != ""
        assert any(tag.start == start for start, _ in tokens[tag.field])
        assert any(tag.end == end for _, end in tokens[tag.field])


@given(page=product_pages())
@settings(max_examples=60)
def test_distinct_is_a_view_of_the_tags(eager: Tagger, page: Page) -> None:
    tags = eager.tag(page)
    view = distinct(tags)
    best: dict[tuple[str, str], float] = {}
    for tag in tags:
        best[tag.label, tag.text] = max(best.get((tag.label, tag.text), 0.0), tag.score or 0.0)
    assert [((tag.label, tag.text), tag.score) for tag in view] == list(best.items())
    assert all(tag in tags for tag in view)


odd_lists = st.lists(st.one_of(texts(), st.lists(st.integers(-2, 20), max_size=3)), max_size=3)
any_values = st.one_of(json_values, texts(), st.binary(max_size=3), odd_lists)
any_pages = st.one_of(
    any_values,
    st.dictionaries(
        st.sampled_from(["id", "title", "description", "fields", "tokens", "tags", "labels", "language", "shop", "x"]),
        st.one_of(any_values, st.dictionaries(st.one_of(texts(max_pieces=2), st.sampled_from(NAMES)), any_values, max_size=2)),
        max_size=4,
    ),
)


@given(odd=st.lists(any_pages, max_size=4))
@settings(max_examples=150)
def test_nothing_that_is_given_as_a_page_stops_a_job(eager: Tagger, odd: list[Any]) -> None:
    good = {"title": "ACME running shoes 跑鞋"}
    expected = eager.tag(good)
    results = list(eager.tag_many([*odd, good]))
    assert len(results) == len(odd) + 1
    assert (list(results[-1]), results[-1].error) == (expected, None)
    for page, tags in zip(odd, results, strict=False):
        assert tags.error is None or (tags.error.strip() and not tags)
        assert tags.error or isinstance(page, dict)


@given(name=texts(max_pieces=3))
@settings(max_examples=30)
def test_a_field_of_any_name_is_tagged_by_a_tagger_that_has_learnt(name: str) -> None:
    tagger = Tagger(tiny_tagger().bundle, device="cpu")
    for page in ({"fields": {name: "NOTEL Smart Rice Cooker"}}, Page("1", {name: "NOTEL Smart Rice Cooker"})):
        assert {tag.field for tag in tagger.tag(page)} <= {name}
