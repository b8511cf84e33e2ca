"""Tags to tokens and back: exact ones come back, the others are listed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tricky import NAUGHTY_STRINGS, PRODUCT_STRINGS

from batag.labels.alignment import Misaligned, _cut_changed, align, cut_pieces, cut_tags
from batag.labels.scheme import TokenSpan
from batag.pages.cleaning import Cleaner
from batag.pages.page import Offsets, Page, Tag
from batag.pages.stopwords import StopWords
from batag.pages.stopwords import stop_words as stop_words_of
from batag.sample import sample_pages
from batag.segmentation.segmentation import Segmentation, TokenizedField

AUTO = Segmentation()


def made(
    text: str, *tags: tuple[int, int, str], language: str = "zh-Hant", tokens: tuple[Offsets, ...] | None = None
) -> tuple[Page, TokenizedField]:
    cut = tuple(Tag("title", start, end, label, text[start:end]) for start, end, label in tags)
    given_tokens = None if tokens is None else {"title": tokens}
    page = Page("1", {"title": text}, language=language, tags=cut, tokens=given_tokens, where="x.jsonl:1")
    return page, AUTO(page)[0]


def words(field: TokenizedField, spans: list[TokenSpan]) -> list[tuple[str, str]]:
    return [(" ".join(field.words[first : last + 1]), label) for first, last, label in spans]


def back(page: Page, field: TokenizedField, spans: list[TokenSpan]) -> list[tuple[int, int, str]]:
    return [(tag.start, tag.end, tag.label) for tag in cut_tags(page, field, spans)]


def test_exact_tags_are_aligned_and_come_back() -> None:
    tags = ((0, 4, "brand"), (5, 10, "goods"))
    page, field = made("NIKE shoes, NIKE", *tags, language="en")
    spans, misaligned = align(page, field)
    assert spans == [(0, 0, "brand"), (1, 1, "goods")]
    assert misaligned == []
    assert back(page, field, spans) == list(tags)


# Tokens of four characters: abcd efgh.
@pytest.mark.parametrize(
    ("tags", "spans", "became"),
    [
        ([(0, 3, "x")], [(0, 0, "x")], ["abcd"]),
        ([(0, 2, "x")], [(0, 0, "x")], ["abcd"]),
        ([(0, 1, "x")], [], [""]),
        ([(1, 2, "x")], [], [""]),
        ([(2, 6, "x")], [(0, 1, "x")], ["abcdefgh"]),
        ([(3, 8, "x")], [(1, 1, "x")], ["efgh"]),
        ([(0, 5, "x")], [(0, 0, "x")], ["abcd"]),
        ([(0, 2, "x"), (2, 4, "y")], [(0, 0, "x")], ["abcd", ""]),
        ([(0, 1, "x"), (1, 4, "y")], [(0, 0, "y")], ["", "abcd"]),
        ([(0, 6, "x"), (6, 8, "y")], [(0, 1, "x")], ["abcdefgh", ""]),
        ([(0, 5, "x"), (5, 8, "y")], [(0, 0, "x"), (1, 1, "y")], ["abcd", "efgh"]),
        ([(0, 4, "x"), (4, 8, "x")], [(0, 0, "x"), (1, 1, "x")], []),
        ([(0, 8, "x")], [(0, 1, "x")], []),
    ],
)
def test_a_token_takes_the_class_that_covers_most_of_it(
    tags: list[tuple[int, int, str]], spans: list[TokenSpan], became: list[str]
) -> None:
    page, field = made("abcdefgh", *tags, tokens=((0, 4), (4, 8)))
    found, misaligned = align(page, field)
    assert found == spans
    assert [item.became for item in misaligned] == became
    assert [item.lost for item in misaligned] == [not text for text in became]


def test_the_largest_of_several_tags_in_one_token_wins() -> None:
    page, field = made("abcdefgh", (0, 2, "x"), (2, 7, "y"), (7, 8, "z"), tokens=((0, 8),))
    spans, misaligned = align(page, field)
    assert spans == [(0, 0, "y")]
    assert [(item.tag.label, item.became) for item in misaligned] == [("x", ""), ("y", "abcdefgh"), ("z", "")]


@pytest.mark.parametrize("tag", [(0, 5, "b"), (4, 10, "b"), (4, 9, "b")])
def test_white_space_at_the_edges_of_a_tag_does_not_matter(tag: tuple[int, int, str]) -> None:
    page, field = made("NIKE shoe pair", tag, language="en")
    spans, misaligned = align(page, field)
    assert misaligned == []
    assert words(field, spans) == [(page.tags[0].text.strip(), "b")]


@pytest.mark.parametrize(
    ("text", "tag"),
    [("<b>NIKE</b>", (1, 2, "x")), ("a <!-- ACME --> b", (7, 11, "x")), ("a   b", (1, 4, "x")), ("a\u200bb", (1, 2, "x"))],
)
def test_a_tag_on_what_no_token_holds_is_lost_and_listed(text: str, tag: tuple[int, int, str]) -> None:
    page, field = made(text, tag, language="en")
    spans, misaligned = align(page, field)
    assert spans == []
    assert [(item.tag, item.lost) for item in misaligned] == [(page.tags[0], True)]
    assert "x.jsonl:1" in str(misaligned[0])
    assert "lost" in str(misaligned[0])


def test_tags_on_characters_that_cleaning_makes_longer() -> None:
    page, field = made("㍿山田 ｶﾞｰｾﾞ", (0, 1, "x"), (1, 3, "brand"), (4, 9, "goods"), language="ja")
    assert field.words == ["株式", "会社", "山田", "ガーゼ"]
    spans, misaligned = align(page, field)
    assert spans == [(0, 1, "x"), (2, 2, "brand"), (3, 3, "goods")]
    assert misaligned == []
    assert back(page, field, spans) == [(0, 1, "x"), (1, 3, "brand"), (4, 9, "goods")]


@pytest.mark.parametrize(
    ("text", "tagged", "token"),
    [
        ("Men&#39;s shoes", "Men", "Men's"),
        ("Acme&amp;Co shirt", "Acme", "Acme&Co"),
        ("Jerry&rsquo;s ice", "Jerry", "Jerry’s"),
        ("caf&eacute; au lait", "caf", "café"),
        ("A&amp;amp;B bag", "A&amp;amp;", "A&B"),
        ("Ni\u200b\u200bke run", "Ni", "Nike"),
        ("oﬃce desk", "oﬃ", "office"),
        ("Ａcme&amp;Ｃo shirt", "Ａcme", "Acme&Co"),
    ],
    ids=ascii,
)
def test_a_tag_inside_a_token_counts_in_characters_after_cleaning(text: str, tagged: str, token: str) -> None:
    page, field = made(text, (0, len(tagged), "x"), language="en")
    spans, (listed,) = align(page, field)
    assert words(field, spans) == [(token, "x")]
    assert not listed.lost


def test_a_tag_that_holds_a_smaller_part_of_a_token_is_lost_though_its_entity_is_long() -> None:
    page, field = made("Ab&#39;cdef x", (2, 7, "x"), language="en")
    assert field.words == ["Ab'cdef", "x"]
    spans, (listed,) = align(page, field)
    assert spans == []
    assert listed.lost


@given(case=st.lists(st.tuples(st.sampled_from("ab&'cé"), st.booleans()), min_size=1, max_size=12), data=st.data())
@settings(max_examples=150, deadline=None)
def test_tags_fall_on_the_same_tokens_whether_characters_are_entities_or_not(
    case: list[tuple[str, bool]], data: st.DataObject
) -> None:
    plain = "".join(character for character, _ in case)
    pieces = [f"&#{ord(character)};" if entity or character == "&" else character for character, entity in case]
    starts = [sum(map(len, pieces[:place])) for place in range(len(pieces) + 1)]
    borders = sorted(data.draw(st.sets(st.integers(0, len(plain)), min_size=2, max_size=4)))
    pairs = list(zip(borders[::2], borders[1::2], strict=False))
    page, field = made(plain, *((start, end, "x") for start, end in pairs), language="en")
    coded, its_field = made("".join(pieces), *((starts[start], starts[end], "x") for start, end in pairs), language="en")
    # Of two marks that become one ('' is ') nobody can tell which of them a tag holds.
    if its_field.words == field.words and len(field.cleaned.text) == len(plain):
        assert align(coded, its_field)[0] == align(page, field)[0]


def test_a_message_says_where_what_and_what_became_of_it() -> None:
    page, field = made("abcdefgh", (0, 3, "brand"), tokens=((0, 4), (4, 8)))
    (item,) = align(page, field)[1]
    assert str(item) == "x.jsonl:1 (page 1): brand 'abc' (title 0-3) became 'abcd'"


def test_tags_of_other_fields_are_not_this_fields_business() -> None:
    page = Page("1", {"title": "ab", "description": "cd"}, language="en", tags=(Tag("description", 0, 2, "x", "cd"),))
    title, description = AUTO(page)
    assert align(page, title) == ([], [])
    assert align(page, description) == ([(0, 0, "x")], [])


texts = st.lists(
    st.one_of(
        st.sampled_from(PRODUCT_STRINGS),
        st.sampled_from([text for text in NAUGHTY_STRINGS if len(text) < 60]),
        st.sampled_from(
            ["NIKE", " ", "<b>", "</b>", "&amp;", "㍿", "ｶﾞ", "½", "\u200b", "👨\u200d👩\u200d👧", "【免運】", "保濕", "1½L"]
        ),
        st.text(max_size=4),
    ),
    min_size=1,
    max_size=5,
).map("".join)


@st.composite
def tagged_pages(draw: st.DrawFn) -> tuple[Page, TokenizedField]:
    text = Page("1", {"title": draw(texts)})["title"]
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=10)))
    labels = st.sampled_from(["brand", "goods"])
    pairs = zip(borders[::2], borders[1::2], strict=False)
    tags = tuple(Tag("title", start, end, draw(labels), text[start:end]) for start, end in pairs)
    page = Page("1", {"title": text}, tags=tags, language=draw(st.sampled_from([None, "zh-Hant", "ja", "en"])))
    return page, AUTO(page)[0]


def stripped(text: str, tag: Tag) -> Offsets:
    start, end = tag.start, tag.end
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


@given(case=tagged_pages())
@settings(max_examples=150, deadline=None)
def test_every_tag_is_aligned_exactly_or_listed(case: tuple[Page, TokenizedField]) -> None:
    page, field = case
    spans, misaligned = align(page, field)
    origins = field.origins
    placed = {(origins[first][0], origins[last][1], label) for first, last, label in spans}
    listed = [item.tag for item in misaligned]
    exact = [tag for tag in page.tags if tag not in listed]
    assert len(exact) + len(listed) == len(page.tags)
    assert all((*stripped(page["title"], tag), tag.label) in placed for tag in exact)
    assert all((*stripped(page["title"], tag), tag.label) not in placed for tag in listed)
    assert len(spans) == len(page.tags) - sum(item.lost for item in misaligned)
    assert spans == sorted(spans)
    assert all(a[1] < b[0] for a, b in pairwise(spans))


@given(case=tagged_pages())
@settings(max_examples=150, deadline=None)
def test_cut_tags_have_the_text_of_the_page_and_do_not_overlap(case: tuple[Page, TokenizedField]) -> None:
    page, field = case
    done = 0
    for tag in cut_tags(page, field, align(page, field)[0]):
        assert tag.text == page["title"][tag.start : tag.end] != ""
        assert done <= tag.start
        done = tag.end


@given(case=tagged_pages(), data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_spans_of_tokens_make_tags_with_the_text_of_the_page(
    case: tuple[Page, TokenizedField], data: st.DataObject
) -> None:
    page, field = case
    borders = sorted(data.draw(st.sets(st.integers(0, len(field.tokens)), max_size=10)))
    spans = [(first, last - 1, "x") for first, last in pairwise(borders)]
    done = 0
    for tag in cut_tags(page, field, spans):
        assert tag.text == page["title"][tag.start : tag.end] != ""
        assert tag.normal
        assert done <= tag.start
        done = tag.end


@given(case=tagged_pages(), data=st.data())
@settings(max_examples=150, deadline=None)
def test_unchanged_text_is_cut_as_changed_text_is(case: tuple[Page, TokenizedField], data: st.DataObject) -> None:
    page, field = case
    borders = sorted(data.draw(st.sets(st.integers(0, len(field.tokens)), max_size=10)))
    spans = [(first, last - 1, "x") for first, last in pairwise(borders)]
    for stop_words in (None, StopWords(stop_words_of("zh-Hant"))):
        same = list(_cut_changed(page["title"], field, spans, stop_words))
        assert cut_pieces(page["title"], field, spans, stop_words=stop_words) == same


def test_tokens_that_lie_one_over_the_other_make_tags_that_do_not() -> None:
    page, field = made("abcdef", tokens=((0, 4), (2, 6)), language="en")
    assert back(page, field, [(0, 0, "x"), (1, 1, "y")]) == [(0, 4, "x"), (4, 6, "y")]


@pytest.mark.parametrize("language", ["zh-Hant", "ja", "en"])
def test_exact_tags_of_sample_pages_come_back(language: str) -> None:
    seen = 0
    for page in sample_pages(language, pages=150, style="paper"):
        for field in AUTO(page):
            spans, misaligned = align(page, field)
            listed: list[Tag] = [item.tag for item in misaligned]
            exact = [tag for tag in page.tags if tag.field == field.name and tag not in listed]
            cut = {(tag.start, tag.end, tag.label, tag.text) for tag in cut_tags(page, field, spans)}
            for tag in exact:
                assert tag.text == page[field.name][tag.start : tag.end]
                assert (tag.start, tag.end, tag.label, tag.text) in cut, tag
                seen += 1
    assert seen > 100


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Air</b> Max", ["Air", "Max"]),
        ("Air<br>Max", ["Air", "Max"]),
        ("Air https://x.tw Max", ["Air", "Max"]),
        ("Air 【免運】 Max", ["Air", "Max"]),
        ("Air<!-- x -->Max", ["Air", "Max"]),
        ("Air Max", ["Air Max"]),
        ("Air\r\n  Max", ["Air\r\n  Max"]),
        ("Air \u200b\ufeffMax", ["Air \u200b\ufeffMax"]),
        ("Air\u00ad Max", ["Air\u00ad Max"]),
        ("Air \x00Max", ["Air \x00Max"]),
        ("Air \u3164Max", ["Air \u3164Max"]),
        ("Air&nbsp;Max", ["Air&nbsp;Max"]),
        ("Air &#8203;Max", ["Air &#8203;Max"]),
        ("Air&#32;Max", ["Air&#32;Max"]),
    ],
    ids=ascii,
)
def test_removed_markup_ends_a_tag_and_what_nobody_sees_does_not(text: str, pieces: list[str]) -> None:
    page, field = made(text, language="en")
    assert field.words == ["Air", "Max"]
    assert [tag.text for tag in cut_tags(page, field, [(0, 1, "x")])] == pieces


def test_token_borders_inside_one_character_merge() -> None:
    page, field = made("㍿山田", language="ja")
    assert field.words == ["株式", "会社", "山田"]
    assert back(page, field, [(0, 0, "a"), (1, 1, "b"), (2, 2, "c")]) == [(0, 1, "a"), (1, 3, "c")]
    assert back(page, field, [(0, 0, "a"), (1, 2, "b")]) == [(0, 1, "a"), (1, 3, "b")]


def test_the_normal_form_is_the_cleaned_form_of_the_text() -> None:
    page, field = made("㍿山田 ＮＩＫＥ&amp;ｶﾞｰｾﾞ", language="ja")
    for spans in ([(0, 1, "a")], [(0, 0, "a"), (1, 2, "b")], [(0, len(field.tokens) - 1, "a")]):
        for tag in cut_tags(page, field, spans):
            assert tag.normal == Cleaner()(tag.text).text


def test_a_lost_tag_says_so() -> None:
    assert Misaligned("1", "", Tag("title", 0, 1, "x", "a"), "").lost
    assert not Misaligned("1", "", Tag("title", 0, 1, "x", "a"), "ab").lost
    assert "page (page 1)" in str(Misaligned("1", "", Tag("title", 0, 1, "x", "a"), "ab"))


def test_a_stop_word_is_no_tag_by_itself_but_may_be_part_of_one() -> None:
    page = Page("1", {"title": "the shoe of the year, 50 %"}, language="en")
    (field,) = Segmentation()(page)
    stop_words = StopWords(stop_words_of("en", more=["year"]))
    spans = [(0, 0, "goods"), (1, 3, "goods"), (4, 4, "goods"), (6, 7, "feature")]
    assert [tag.text for tag in cut_tags(page, field, spans)] == ["the", "shoe of the", "year", "50 %"]
    assert [tag.text for tag in cut_tags(page, field, spans, stop_words=stop_words)] == ["shoe of the"]
