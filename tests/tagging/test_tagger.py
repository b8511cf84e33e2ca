from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice, pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.tiny import (
    LANGUAGES,
    ScriptedEngine,
    catalogue,
    check_score,
    probability_of,
    scripted_tagger,
    tiny_run,
    tiny_tagger,
)
from tests.tricky import NAUGHTY_STRINGS, PRODUCT_STRINGS

import batag
from batag import Page, Tag
from batag.encoders.sequence import page_words
from batag.errors import InputError, UsageError
from batag.features import batches
from batag.pages.fields import MAIN_FIELD, STANDARD_FIELDS
from batag.pages.record import to_record
from batag.tagging import tagger as tagging
from batag.tagging.tagger import Tagger, distinct

Place = tuple[str, int, int, str]


def by_word(**labels: str) -> Callable[[str], str | None]:
    return lambda word: labels.get(word.lower())


def cuts(tags: Iterable[Tag]) -> list[tuple[str, str]]:
    return [(tag.label, tag.text) for tag in tags]


def places(tags: Iterable[Tag]) -> list[Place]:
    return [(tag.field, tag.start, tag.end, tag.label) for tag in tags]


def agree(one: Sequence[Tag], other: Sequence[Tag]) -> None:
    assert places(one) == places(other)
    assert [tag.score for tag in one] == pytest.approx([tag.score for tag in other], abs=1e-4)


@pytest.fixture(params=["flat", "bio"])
def tagger(request: pytest.FixtureRequest) -> Tagger:
    return tiny_tagger(request.param)


@pytest.fixture(scope="module")
def by_length() -> Tagger:
    """A tagger that tags most words, by their length."""
    return scripted_tagger(lambda word: ("goods", "brand", "feature", None)[len(word) % 4])


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    """Unseen pages of three languages, among them two that take many windows."""
    found = catalogue(10, split="test")
    for language, length in (("en", 3_000), ("zh-Hant", 500)):
        texts = [page["description"] for page in catalogue(40) if page.language == language]
        found.append(Page(f"long-{language}", {"title": texts[0], "description": "\n".join(texts)[:length]}))
    Random(1).shuffle(found)
    return found


# From labels to tags


def test_neighbours_of_one_class_are_one_tag_in_the_flat_scheme() -> None:
    tagger = scripted_tagger(by_word(acme="brand", air="brand", shoes="goods"))
    assert cuts(tagger.tag({"title": "new ACME Air shoes ACME"})) == [
        ("brand", "ACME Air"),
        ("goods", "shoes"),
        ("brand", "ACME"),
    ]


def test_pieces_of_a_tag_have_the_score_of_the_whole_tag() -> None:
    tagger, tokens = scripted_tagger(lambda word: "goods" if word.isalpha() else None), 300
    (whole,) = tagger.tag({"title": " ".join(["shoes"] * tokens)})
    tags = tagger.tag({"title": "<br>".join(["shoes"] * tokens)})
    assert cuts(tags) == [("goods", "shoes")] * tokens
    assert {tag.score for tag in tags} == {whole.score}


def test_a_b_starts_a_new_tag_in_the_bio_scheme() -> None:
    labels = by_word(acme="B-brand", air="B-brand", max="I-brand", shoes="I-goods", red="B-feature")
    tagger = scripted_tagger(labels, scheme="bio")
    assert cuts(tagger.tag({"title": "ACME Air Max Max"})) == [("brand", "ACME"), ("brand", "Air Max Max")]
    assert cuts(tagger.tag({"title": "Max ACME shoes red shoes"})) == [
        ("brand", "Max"),
        ("brand", "ACME"),
        ("goods", "shoes"),
        ("feature", "red"),
        ("goods", "shoes"),
    ]


def test_tags_of_different_fields_never_join() -> None:
    tagger = scripted_tagger(lambda word: None if word.startswith("<") else "goods")
    tags = tagger.tag({"title": "running shoes", "description": "running shoes"})
    assert places(tags) == [("title", 0, 13, "goods"), ("description", 0, 13, "goods")]


def test_tags_come_in_the_order_of_fields_and_positions() -> None:
    tagger = scripted_tagger(lambda word: "goods" if word == "shoes" else "brand" if word == "acme" else None)
    page = Page("1", {"description": "acme x shoes", "title": "shoes x acme"})
    assert places(tagger.tag(page)) == [
        ("description", 0, 4, "brand"),
        ("description", 7, 12, "goods"),
        ("title", 0, 5, "goods"),
        ("title", 8, 12, "brand"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>new <b>ＡＣＭＥ</b> shoes</p>", [("ＡＣＭＥ", "ACME")]),
        ("Salt &amp; ACME", [("ACME", "ACME")]),
        ("AC\u200bME", [("AC\u200bME", "ACME")]),
        ("😀👨\u200d👩\u200d👧 ACME 😀", [("ACME", "ACME")]),
        ("\r\n\r\nACME\r\n", [("ACME", "ACME")]),
        ("ACME<br>ACME", [("ACME", "ACME"), ("ACME", "ACME")]),
        ("ACME&nbsp;ACME", [("ACME&nbsp;ACME", "ACME ACME")]),
        ("\ud800ACME", [("ACME", "ACME")]),
        ("跑鞋ACME跑鞋", [("ACME", "ACME")]),
        ("ACME\u3000\u3000ACME", [("ACME\u3000\u3000ACME", "ACME ACME")]),
    ],
)
def test_a_tag_is_cut_from_the_original_and_its_normal_form_is_the_cleaned_one(
    text: str, expected: list[tuple[str, str]]
) -> None:
    tagger = scripted_tagger(by_word(acme="brand"))
    page = Page("1", {"title": text})
    tags = tagger.tag(page)
    assert [(tag.text, tag.normal) for tag in tags] == expected
    assert all(tag.text == page["title"][tag.start : tag.end] for tag in tags)


def test_lone_surrogates_count_as_replacement_characters_in_dicts_too() -> None:
    (tag,) = scripted_tagger(lambda _: "goods").tag({"title": "run\ud800ning"})
    assert (tag.start, tag.end, tag.text) == (0, 8, "run\ufffdning")


@pytest.mark.parametrize("text", [*PRODUCT_STRINGS, *NAUGHTY_STRINGS], ids=lambda text: repr(text[:12]))
def test_hard_texts_are_tagged_where_they_stand(text: str, by_length: Tagger) -> None:
    tagger = by_length
    page = Page("1", {"title": text, "description": f"<b>{text}</b> {text}"})
    prediction = next(tagger.predict([page]))
    tags = tagger.tags_of(prediction)
    for tag in tags:
        assert tag.text == page[tag.field][tag.start : tag.end] != ""
        check_score(tag, prediction, tagger)
    for one, other in pairwise(tags):
        assert one.field != other.field or one.end <= other.start


# Scores


@pytest.mark.parametrize("scheme", ["flat", "bio"])
def test_the_score_is_the_probability_of_the_tag_with_exactly_these_borders(scheme: str) -> None:
    prefix = ["", ""] if scheme == "flat" else ["B-", "I-"]
    tagger = scripted_tagger(
        by_word(acme=f"{prefix[0]}brand", air=f"{prefix[1]}brand", shoes=f"{prefix[0]}goods"), scheme=scheme
    )
    engine = tagger.engine
    assert isinstance(engine, ScriptedEngine)
    labels = tagger.scheme.labels

    def sure(word: str, label: str) -> float:
        return engine.row(word)[labels.index(label)]

    brand, goods = tagger.tag({"title": "the ACME Air shoes"})
    inside, own = (f"{prefix[1]}brand", f"{prefix[1]}goods")
    # The begin of the brand: that of its first token, or an inside that continues nothing.
    starts = sure("ACME", inside) * (1 - sure("the", inside))
    if scheme == "bio":
        starts = sure("ACME", "B-brand") + sure("ACME", inside) * (1 - sure("the", inside) - sure("the", "B-brand"))
    assert brand.score == pytest.approx(starts * sure("Air", inside) * (1 - sure("shoes", inside)), abs=1e-5)
    starts = sure("shoes", own) * (1 - sure("Air", own))
    if scheme == "bio":
        starts = sure("shoes", "B-goods") + sure("shoes", own) * (1 - sure("Air", own) - sure("Air", "B-goods"))
    assert goods.score == pytest.approx(starts, abs=1e-5)


def test_scores_of_a_trained_tagger_are_those_of_its_predictions(tagger: Tagger, pages: list[Page]) -> None:
    seen = 0
    for prediction in tagger.predict(pages):
        for tag in tagger.tags_of(prediction):
            check_score(tag, prediction, tagger)
            seen += 1
    assert seen > 60


@pytest.mark.parametrize("text", ["item ¼abc shoe", "商品 ½abc 鞋", "item ℀bc shoe"])
def test_a_tag_that_begins_inside_a_character_has_the_score_of_its_own_token(text: str) -> None:
    """¼abc is 1, ⁄ and 4abc: three tokens begin in one code point, and the last goes on after it."""
    tagger = scripted_tagger(lambda word: "brand" if word in ("1", "a") else "feature" if word.endswith("bc") else None)
    page = Page("1", {"title": text})
    prediction = next(tagger.predict([page]))
    (tag,) = (tag for tag in tagger.tags_of(prediction) if tag.label == "feature")
    assert tag.text.endswith("bc")
    place = next(place for place, word in enumerate(prediction.fields[0].words) if word.endswith("bc"))
    expected = probability_of(prediction.probabilities[0].astype(float), tagger.scheme, place, place, "feature")
    assert tag.score == pytest.approx(expected, abs=1e-6)


# Stop words


def test_a_stop_word_is_no_tag_by_itself_but_may_stand_in_one() -> None:
    tagger = scripted_tagger(lambda word: "goods" if word.lower() in ("the", "shoes", "免運") else None)
    assert cuts(tagger.tag({"title": "the red THE shoes"})) == [("goods", "THE shoes")]
    assert cuts(tagger.tag({"title": "全新 免運 跑步機"})) == []
    assert cuts(tagger.tag({"title": "the, the: the"})) == []


@pytest.mark.parametrize("written", ["&yen;", "&amp;", "th&#101;", "t\u200bhe", "ｔｈｅ", "&#x514d;運"])
def test_a_stop_word_is_known_by_its_cleaned_form(written: str) -> None:
    tagger = scripted_tagger(lambda word: None if word in ("red", "x") else "goods")
    assert cuts(tagger.tag({"title": f"red {written} x", "language": "zh-Hant" if "運" in written else "en"})) == []


def test_more_stop_words_come_from_a_file_or_as_words(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("# ours\nShoes\n", encoding="utf-8")
    page = {"title": "red shoes, blue boots"}
    base = scripted_tagger(by_word(shoes="goods", boots="goods"))
    for more, expected in (((), ["shoes", "boots"]), ((own,), ["boots"]), ((own, "BOOTS"), [])):
        tagger = Tagger(base.bundle, engine=base.engine, stop_words=more)
        assert [tag.text for tag in tagger.tag(page)] == expected
    loaded = batag.load(tiny_run(), stop_words=[own])
    assert "shoes" not in {tag.text.lower() for tags in loaded.tag_many(catalogue(5)) for tag in tags}


def test_one_stop_word_given_as_text_is_a_word_and_not_its_letters() -> None:
    base = scripted_tagger(by_word(shoes="goods", s="goods"))
    tagger = Tagger(base.bundle, engine=base.engine, stop_words="shoes")
    assert cuts(tagger.tag({"title": "red shoes"})) == []


def test_a_stop_word_file_that_is_missing_is_said_when_the_tagger_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.txt"):
        batag.load(tiny_run(), stop_words=[tmp_path / "missing.txt"])


# Pages in all forms


def test_a_page_and_its_record_are_tagged_alike(tagger: Tagger, pages: list[Page]) -> None:
    for page, tags in zip(pages, tagger.tag_many(map(to_record, pages)), strict=True):
        agree(tags, tagger.tag(page))


def test_a_dict_may_have_a_title_a_description_or_fields_of_its_own() -> None:
    tagger = scripted_tagger(by_word(shoes="goods", **{"50": "feature"}))
    assert places(tagger.tag({"title": "red shoes"})) == [("title", 4, 9, "goods")]
    assert places(tagger.tag({"description": "red shoes"})) == [("description", 4, 9, "goods")]
    assert places(tagger.tag({"title": None, "description": "red shoes"})) == [("description", 4, 9, "goods")]
    own = {"fields": {"規格": "red shoes", "title": "shoes"}, "price": 5, "id": 7, "language": "en"}
    assert places(tagger.tag(own)) == [("規格", 4, 9, "goods"), ("title", 0, 5, "goods")]
    assert places(tagger.tag({"title": "shoes", "fields": {"body": "shoes"}})) == [
        ("title", 0, 5, "goods"),
        ("body", 0, 5, "goods"),
    ]


def test_a_field_may_have_any_name() -> None:
    tagger = batag.load(tiny_run(), device="cpu")
    for name in ("\ud800", "", " ", "<title>", "\0", "名", "x" * 10_000):
        for page in ({"fields": {name: "red running shoes"}}, Page("1", {name: "red running shoes"})):
            assert all(tag.field == name for tag in tagger.tag(page))
    assert tagger.tag({"title": "ACME running shoes"}) == batag.load(tiny_run()).tag({"title": "ACME running shoes"})


@pytest.mark.parametrize(
    "tokens",
    [
        ["redshoes", "ACME"],
        [[0, 8], [9, 13]],
        {"title": ["redshoes", "ACME"]},
        {"title": [(0, 8), (9, 13)]},
    ],
    ids=str,
)
def test_tokens_that_a_page_brings_are_kept(tokens: Any) -> None:
    tagger = scripted_tagger(by_word(redshoes="goods", acme="brand"))
    tagger.tag({"title": "redshoes ACME 跑鞋", "tokens": tokens})
    engine = tagger.engine
    assert isinstance(engine, ScriptedEngine)
    assert engine.asked == [["redshoes", "ACME"]]


def test_a_page_of_tokens_alone_has_their_text() -> None:
    tagger = scripted_tagger(by_word(shoes="goods"))
    assert places(tagger.tag({"tokens": ["red", "shoes"]})) == [("title", 4, 9, "goods")]
    page = Page("1", {"title": "red  shoes"}, tokens={"title": ((0, 3), (5, 10))})
    assert places(tagger.tag(page)) == [("title", 5, 10, "goods")]


def test_tokens_that_do_not_fit_are_cut_anew() -> None:
    tagger = scripted_tagger(by_word(shoes="goods"))
    for tokens in (["blue"], [[0, 99]], [[3, 1]], "red shoes", 5, {"title": 5}, {"body": ["red"]}, [None]):
        assert places(tagger.tag({"title": "red shoes", "tokens": tokens})) == [("title", 4, 9, "goods")]


def test_tags_that_a_page_has_already_do_not_leak_into_the_result(tagger: Tagger) -> None:
    text = "NOTEL Smart Rice Cooker with a very quiet motor"
    wrong = [{"field": "title", "start": 0, "end": len(text), "label": "nonsense"}]
    clean = tagger.tag({"title": text})
    assert tagger.tag({"title": text, "tags": wrong}) == clean
    assert tagger.tag({"title": text, "labels": {"brand": "quiet"}}) == clean
    assert tagger.tag({"title": text, "tags": "not tags at all"}) == clean
    assert tagger.tag(Page("1", {"title": text}, tags=(Tag("title", 0, 5, "nonsense", "NOTEL"),))) == clean


def test_pages_without_a_word_have_no_tags(tagger: Tagger) -> None:
    empty = [
        Page("1", {"title": ""}),
        Page("2", {}),
        Page("3", {"title": "  \n", "description": "<br>"}),
        Page("4", {"a": "\0"}),
    ]
    for tags in tagger.tag_many(empty):
        assert (list(tags), tags.error) == ([], None)
    assert list(tagger.tag_many([])) == []
    for page in ({"title": "", "description": "<p></p>"}, {"title": "  "}, {"title": None}, {"fields": {}}):
        assert tagger.tag(page) == []


@pytest.mark.parametrize("page", [{}, {"heading": "shoes"}])
def test_a_dict_without_text_is_told_what_python_should_give(tagger: Tagger, page: dict[str, str]) -> None:
    with pytest.raises(InputError, match=rf"\(give it {' or '.join(STANDARD_FIELDS)}\)") as caught:
        tagger.tag(page)
    assert "--columns" not in str(caught.value)


def test_a_page_without_text_between_others_moves_nothing(tagger: Tagger, pages: list[Page]) -> None:
    mixed = [each for page in pages for each in (Page("e", {"title": ""}), page)]
    for page, tags in zip(pages, list(tagger.tag_many(mixed))[1::2], strict=True):
        agree(tags, tagger.tag(page))


BAD = [
    *(None, 5, "a title", b"bytes", ["title"], object(), {}, {"heading": "shoes"}),
    *({"title": value} for value in (["a"], {"a": "b"}, True, b"shoes", "a" * 1_000_001, 10**5_000)),
    *({"fields": value} for value in ("x", {"a": [1]}, ["title"])),
    Page("9", {"title": "a" * 1_000_001}),
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_bad_page_is_an_error_of_its_own_and_the_job_goes_on(bad: Any) -> None:
    tagger = tiny_tagger()
    good = {"title": "NOTEL Smart Rice Cooker"}
    first, second, third = tagger.tag_many([good, bad, good])
    assert (list(second), bool(second.error)) == ([], True)
    assert list(first) == list(third) == tagger.tag(good) != []
    assert first.error is None
    with pytest.raises(InputError) as caught:
        tagger.tag(bad)
    assert caught.value.todo


@pytest.mark.parametrize("given", ["日立", b"x", {"title": "x"}, Page("1", {"title": "x"}), None])
def test_one_page_where_many_are_expected_is_an_error_at_once(given: Any) -> None:
    with pytest.raises(UsageError, match="is not a list of pages"):
        tiny_tagger().tag_many(given)


def test_a_number_as_title_is_read_as_its_digits() -> None:
    tagger = scripted_tagger(lambda word: "goods" if word == "501" else None)
    assert cuts(tagger.tag({"title": 501})) == [("goods", "501")]


def test_the_error_of_a_page_that_is_too_long_says_the_limit_and_how_to_move_it() -> None:
    for page in ({"title": "a" * 1_000_001}, Page("9", {"title": "a" * 600_000, "description": "b" * 600_000})):
        with pytest.raises(InputError, match="1,000,000") as caught:
            tiny_tagger().tag(page)
        assert "BATAG_MAX_PAGE_CHARACTERS" in str(caught.value)
        assert "Give a Page" not in str(caught.value)


def test_richness_is_refused_by_a_bundle_without_operating_points() -> None:
    tagger = scripted_tagger(lambda word: "goods")
    assert tagger.tag({"title": "shoes"})
    with pytest.raises(UsageError, match="richness"):
        tagger.tag({"title": "shoes"}, richness=0.5)
    with pytest.raises(UsageError, match="richness"):
        next(tagger.tag_many([{"title": "shoes"}], richness=0.0))


@pytest.mark.parametrize("richness", ["richer", -0.1, 1.1, float("nan"), "0,5", ""])
def test_a_richness_that_is_none_is_refused_before_a_page_is_read(richness: str | float) -> None:
    def unread() -> Iterator[Page]:
        raise AssertionError
        yield

    with pytest.raises(UsageError, match="richness"):
        next(tiny_tagger().tag_many(unread(), richness=richness))


@pytest.mark.parametrize("scheme", ["flat", "bio"])
def test_a_richer_setting_keeps_every_tag_and_never_moves_a_score(scheme: str) -> None:
    tagger = tiny_tagger(scheme)
    settings = [0.0, 0.2, "balanced", 0.7, "rich"]
    amounts: Counter[str] = Counter()
    for prediction in tagger.predict(catalogue(10, split="test")):
        before: set[tuple[Place, float | None]] = set()
        tagged: list[NDArray[np.bool_]] = [np.zeros(len(field.tokens), dtype=bool) for field in prediction.fields]
        for richness in settings:
            tags = tagger.tags_of(prediction, richness)
            found = set(zip(places(tags), (tag.score for tag in tags), strict=True))
            assert before <= found
            before = found
            amounts[str(richness)] += len(found)
            # Hence every token inside of a cleaner setting's tag is inside of one of a richer one's.
            now = [labels > 0 for labels in tagger.labels_of(prediction, richness)]
            assert all((one <= other).all() for one, other in zip(tagged, now, strict=True))
            tagged = now
    assert amounts["0.0"] < amounts["balanced"] <= amounts["rich"]


def test_balanced_is_what_one_gets_without_asking() -> None:
    pages = catalogue(5, split="test")
    asked = [list(tags) for tags in tiny_tagger().tag_many(pages, richness=0.5)]
    assert asked == [list(tags) for tags in tiny_tagger().tag_many(pages)]
    assert asked == [list(tags) for tags in tiny_tagger().tag_many(pages, richness="balanced")]


# The same tags whatever is asked beside a page


def test_a_trained_tagger_finds_most_tags_of_the_pages_it_has_learnt(tagger: Tagger) -> None:
    learnt = catalogue(50)
    for language in LANGUAGES:
        mine = [page for page in learnt if page.language == language]
        found = [set(places(tags)) & set(places(page.tags)) for page, tags in zip(mine, tagger.tag_many(mine), strict=True)]
        assert sum(map(len, found)) > 0.4 * sum(len(page.tags) for page in mine)


def test_tag_and_tag_many_and_any_order_give_the_same(tagger: Tagger, pages: list[Page]) -> None:
    together = {page.id: tags for page, tags in zip(pages, tagger.tag_many(pages), strict=True)}
    assert sum(map(len, together.values())) > 60
    for order in (pages[::-1], sorted(pages, key=lambda page: page.characters)):
        for page, tags in zip(order, tagger.tag_many(iter(order)), strict=True):
            agree(tags, together[page.id])
    for page in pages:
        agree(tagger.tag(page), together[page.id])


@pytest.mark.parametrize(("batch", "tokens"), [(1, 4096), (3, 1), (10_000, 100), (10_000, 1_000_000)])
def test_the_size_of_batches_does_not_matter(
    tagger: Tagger, pages: list[Page], batch: int, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = list(tagger.tag_many(pages))
    monkeypatch.setattr(tagging, "_BATCH", batch)
    monkeypatch.setattr(batches, "BATCH_TOKENS", tokens)
    for tags, as_before in zip(tagger.tag_many(pages), expected, strict=True):
        agree(tags, as_before)
    for prediction, as_before in zip(tagger.predict(pages), expected, strict=True):
        agree(tagger.tags_of(prediction), as_before)


def test_a_tagger_is_deterministic(tagger: Tagger, pages: list[Page]) -> None:
    again = Tagger.load(tagger.bundle.folder, device="cpu")
    first = [list(tags) for tags in tagger.tag_many(pages)]
    assert [list(tags) for tags in tagger.tag_many(pages)] == first
    assert [list(tags) for tags in again.tag_many(pages)] == first


def test_pages_are_taken_as_they_are_needed() -> None:
    taken = 0

    def endless() -> Iterator[dict[str, str]]:
        nonlocal taken
        for number in count():
            taken += 1
            yield {"title": f"ACME shoes {number}"}

    assert len(list(islice(tiny_tagger().tag_many(endless()), 3))) == 3
    assert taken <= 1_000


# Long pages


def long_page(tagger: Tagger, *, tokens: int) -> Page:
    words = [f"word{number}" if number % 7 != 1 else "shoes" for number in range(tokens - 1)]
    return Page("long", {"description": " ".join([*words, "lastshoes"])})


def test_a_page_of_five_thousand_tokens_is_tagged_to_its_very_end() -> None:
    tagger = scripted_tagger(lambda word: "goods" if word.endswith("shoes") else None)
    page = long_page(tagger, tokens=5_000)
    tags = tagger.tag(page)
    text = page["description"]
    assert [tag.start for tag in tags[:-1]] == [at + 1 for at in range(len(text)) if text.startswith(" shoes", at)]
    assert (len(tags), tags[-1].end) == (715, len(text))
    assert tags[-1].text == "lastshoes"


def test_a_trained_tagger_finds_the_tags_at_the_end_of_a_long_page(tagger: Tagger) -> None:
    known = max((page for page in catalogue(50) if page.language == "en"), key=lambda page: len(tagger.tag(page)))
    filler = "Wash at thirty degrees and dry it flat in the shade. "
    text = filler * 450 + known["title"]
    page = Page("1", {"title": text}, language="en")
    assert len(next(tagger.predict([page])).probabilities[0]) > 4_500
    found = [tag for tag in tagger.tag(page) if tag.start >= len(filler) * 450]
    assert found
    assert all(tag.text == text[tag.start : tag.end] for tag in found)


def test_windows_are_full_overlap_and_show_every_word_with_its_surroundings() -> None:
    tagger = scripted_tagger(lambda word: "goods" if word.endswith("shoes") else None, window=64, overlap=16)
    engine = tagger.engine
    assert isinstance(engine, ScriptedEngine)
    for tokens in (62, 63, 64, 65, 111, 112, 113, 1_000):
        engine.asked.clear()
        page = long_page(tagger, tokens=tokens)
        words, _ = page_words(tagger.segmentation(page))
        assert len(words) == tokens + 1  # <description>
        prediction = next(tagger.predict([page]))
        assert prediction.probabilities[0].shape == (tokens, 4)
        assert all(len(words) == min(64, tokens + 1) for words in engine.asked)
        assert {word for asked in engine.asked for word in asked} == set(words)


@pytest.mark.parametrize("overlap", [0, 1, 15, 16, 63])
def test_a_words_probabilities_come_from_the_window_that_shows_most_around_it(overlap: int) -> None:
    """An engine that answers with how far a word is from the edge of its window."""

    class Edges(ScriptedEngine):
        def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Any]:
            found = []
            for words in sequences:
                inside = np.minimum(np.arange(len(words)), np.arange(len(words))[::-1])
                found.append(np.stack([inside, *[np.zeros(len(words))] * 3], axis=1).astype(np.float32))
            return found

    base = scripted_tagger(lambda _: None, window=64, overlap=overlap)
    tagger = Tagger(base.bundle, engine=Edges(base.scheme, lambda _: None))
    page = Page("1", {"title": " ".join(f"w{number}" for number in range(517))})
    (values,) = next(tagger.predict([page])).probabilities
    inside = values[:, 0]
    margin = overlap // 2
    assert (inside[margin : 517 - margin] >= margin - 1).all()
    assert inside[0] == inside[516] == 0


def test_the_windows_of_a_page_are_encoded_one_by_one(tagger: Tagger, pages: list[Page]) -> None:
    """What a long page's tokens get is what the engine says of a window that holds them, asked alone."""
    page = next(page for page in pages if page.id == "long-en")
    prediction = next(tagger.predict([page, *pages]))
    words, starts = page_words(prediction.fields)
    size = tagger.bundle.description.window
    assert len(words) > 5 * size
    last = tagger.engine.probabilities([words[-size:]])[0]
    whole = prediction.probabilities[1]
    np.testing.assert_allclose(whole[-8:], last[-8:], atol=1e-5)
    first = tagger.engine.probabilities([words[:size]])[0]
    np.testing.assert_allclose(prediction.probabilities[0][: size // 2], first[: min(size // 2, starts[1] - 1)], atol=1e-5)


def test_a_short_page_is_one_window_of_all_its_fields() -> None:
    tagger = scripted_tagger(lambda _: None)
    engine = tagger.engine
    assert isinstance(engine, ScriptedEngine)
    tagger.tag({"title": "red shoes", "description": "very red"})
    assert engine.asked == [["red", "shoes", "<description>", "very", "red"]]


# Distinct tags


def test_distinct_keeps_one_tag_a_text_and_label_the_surest_in_order_of_first_appearance() -> None:
    tags = [
        Tag("title", 0, 1, "brand", "A", 0.5),
        Tag("title", 2, 3, "goods", "B", 0.9),
        Tag("title", 4, 5, "goods", "A", 0.1),
        Tag("description", 0, 1, "brand", "A", 0.8),
        Tag("description", 2, 3, "goods", "B", 0.2),
        Tag("description", 4, 5, "brand", "a", 0.2),
    ]
    assert distinct(tags) == [tags[3], tags[1], tags[2], tags[5]]
    assert distinct([]) == []
    assert distinct(distinct(tags)) == distinct(tags)


def test_distinct_takes_the_first_of_equals_and_tags_without_a_score() -> None:
    tags = [Tag("title", 0, 1, "brand", "A"), Tag("title", 2, 3, "brand", "A"), Tag("title", 4, 5, "brand", "A", 0.0)]
    assert distinct(tags) == [tags[0]]


def test_distinct_is_part_of_what_batag_offers(tagger: Tagger, pages: list[Page]) -> None:
    assert batag.distinct is distinct
    for tags in tagger.tag_many(pages):
        view = distinct(tags)
        assert {(tag.label, tag.text) for tag in view} == {(tag.label, tag.text) for tag in tags}
        assert len(view) == len({(tag.label, tag.text) for tag in tags})


def test_a_tagger_reads_the_fields_of_a_dict_that_its_bundle_was_trained_on() -> None:
    bundle = tiny_tagger().bundle
    description = bundle.description.model_copy(update={"fields": ["specs", MAIN_FIELD, "shop"]})
    tagger = Tagger(replace(bundle, description=description))
    assert tagger.usual_columns == {"specs": "specs"}
    page = next(page for page in catalogue(5) if tiny_tagger().tag(page))
    tags = tagger.tag({"specs": page[MAIN_FIELD]})
    assert tags
    assert {tag.field for tag in tags} == {"specs"}
    with pytest.raises(InputError, match="no text in any field"):
        tiny_tagger().tag({"specs": page[MAIN_FIELD]})
