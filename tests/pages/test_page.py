"""Pages and tags: what holds as soon as one is made."""

from __future__ import annotations

import dataclasses

import pytest
from tests.tricky import NAUGHTY_STRINGS, PRODUCT_STRINGS

from batag.pages.page import SOURCES, Page, Tag, has_surrogates, without_surrogates


@pytest.mark.parametrize(
    ("text", "kept"),
    [("a\ud83db", "a\ufffdb"), ("\ude00\ud83d", "\ufffd\ufffd"), ("😀\ud800", "😀\ufffd"), ("商品", "商品"), ("abc", "abc")],
    ids=ascii,
)
def test_lone_surrogates_become_replacement_characters(text: str, kept: str) -> None:
    page = Page("1", {"title": text, "description": "純棉"})
    assert page["title"] == kept
    assert page["description"] == "純棉"
    assert len(page["title"]) == len(text)


@pytest.mark.parametrize("text", [*PRODUCT_STRINGS, *NAUGHTY_STRINGS], ids=lambda text: ascii(text)[:30])
def test_every_page_can_be_encoded(text: str) -> None:
    page = Page("1", {"title": "x", "description": text})
    page["description"].encode()
    assert has_surrogates(text) == (page["description"] != text)
    assert without_surrogates(text) == page["description"]


def test_a_tag_over_a_surrogate_has_the_text_of_the_page() -> None:
    tag = Tag("title", 1, 3, "brand", "\ud83db")
    page = Page("1", {"title": "a\ud83dbc"}, tags=(tag,))
    assert page.tags[0].text == page["title"][1:3] == "\ufffdb"


def test_the_given_fields_are_not_changed() -> None:
    fields = {"title": "a\ud83d"}
    Page("1", fields)
    assert fields == {"title": "a\ud83d"}


@pytest.mark.parametrize(
    ("tags", "labelled", "expected"),
    [((), False, False), ((), True, True), ((Tag("title", 0, 1, "x"),), False, True), ((Tag("title", 0, 1, "x"),), True, True)],
)
def test_a_page_with_tags_is_labelled_and_one_without_only_if_it_says_so(
    tags: tuple[Tag, ...], labelled: bool, expected: bool
) -> None:
    assert Page("1", {"title": "ab"}, tags=tags, labelled=labelled).labelled is expected


def test_a_page_of_tags_by_people_is_reviewed_and_one_with_a_tag_by_a_machine_never_is() -> None:
    by_person, by_model = Tag("title", 0, 1, "x"), Tag("title", 1, 2, "x", source="model")
    assert Page("1", {"title": "ab"}, tags=(by_person,)).reviewed
    assert Page("1", {"title": "ab"}, labelled=True).reviewed
    assert Page("1", {"title": "ab"}, tags=(by_person,), reviewed=False).reviewed is False
    assert Page("1", {"title": "ab"}, tags=(by_person, by_model), reviewed=True).reviewed is False
    assert dataclasses.replace(Page("1", {"title": "ab"}, tags=(by_person,)), tags=(by_model,)).reviewed is False
    assert Page("1", {"title": "ab"}).reviewed is None
    assert dataclasses.replace(Page("1", {"title": "ab"}), tags=(by_person,)).reviewed


def test_what_is_left_on_a_page_that_a_person_has_seen_is_the_persons() -> None:
    tags = tuple(Tag("title", 0, 1, "x", "a", 0.5, source=source) for source in SOURCES)
    page = Page("1", {"title": "ab"}, tags=tags).reviewed_by_person()
    assert page.reviewed
    assert {tag.source for tag in page.tags} == {"person"}
    assert Page("1", {"title": "ab"}).reviewed_by_person().labelled


@pytest.mark.parametrize("name", ["id", "fields", "tags", "labelled", "language"])
def test_a_page_is_frozen(name: str) -> None:
    page = Page("1", {"title": "a"})
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(page, name, None)


def test_a_tag_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Tag("title", 0, 1, "x").label = "y"  # type: ignore[misc]


def test_cut_takes_the_text_from_the_field() -> None:
    page = Page("1", {"title": "純棉T恤", "description": "NIKE 👍🏽 外套"})
    assert page.cut("description", 5, 7, "x") == Tag("description", 5, 7, "x", "👍🏽")
    assert page.characters == 4 + 10


def test_where_a_page_came_from_does_not_make_it_another() -> None:
    assert Page("1", {"title": "a"}, where="x:1") == Page("1", {"title": "a"}, where="y:2")


def test_an_unknown_field_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="price"):
        Page("1", {"title": "a"})["price"]
