"""Pages to tokens: language, cleaning, the way back to the original, tokens that a page brings."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tricky import NAUGHTY_STRINGS, PRODUCT_STRINGS

from batag.errors import UsageError
from batag.pages.cleaning import RULES
from batag.pages.page import Offsets, Page, Tag
from batag.sample import sample_pages
from batag.segmentation import SEGMENTATIONS, SEGMENTERS
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmentation import Segmentation, TokenizedField, bring_tokens, language_of

AUTO = Segmentation()
ALL_RULES = {name: Segmentation(name, rules=tuple(RULES)) for name in ("auto", *SEGMENTERS)}
NO_RULES = {name: Segmentation(name, rules=()) for name in ("auto", *SEGMENTERS)}

texts = st.lists(
    st.one_of(
        st.text(max_size=5),
        st.sampled_from(PRODUCT_STRINGS),
        st.sampled_from([text for text in NAUGHTY_STRINGS if len(text) < 60]),
        st.sampled_from(
            [
                "<b>",
                "</b>",
                "&amp;",
                "&nbsp;",
                "㍿",
                "ｶﾞ",
                "½",
                "\u200b",
                "👨\u200d👩\u200d👧",
                "【免運】",
                "\r\n",
                "https://x.tw/",
            ]
        ),
    ),
    max_size=6,
).map("".join)
languages = st.sampled_from([None, "zh-Hant", "zh-Hans", "ja", "en", "fr"])


def check(page: Page, fields: list[TokenizedField]) -> None:
    assert [field.name for field in fields] == list(page.fields)
    for field in fields:
        text = field.cleaned.text
        done = 0
        for start, end in field.tokens:
            assert done <= start < end <= len(text)
            assert not text[done:start].strip()
            done = end
        assert not text[done:].strip()
        origins = field.origins
        assert field.cleaned.original == page[field.name]
        assert all(0 <= start < end <= len(page[field.name]) for start, end in origins)
        assert origins == sorted(origins)
        assert [end for _, end in origins] == sorted(end for _, end in origins)
        assert field.words == [text[start:end] for start, end in field.tokens]


@given(title=texts, description=texts, language=languages)
@settings(max_examples=100, deadline=None)
def test_every_token_has_a_place_in_the_original(title: str, description: str, language: str | None) -> None:
    page = Page("1", {"title": title, "description": description}, language=language)
    check(page, AUTO(page))


@pytest.mark.parametrize("name", ["auto", *SEGMENTERS])
@given(title=texts)
@settings(max_examples=40, deadline=None)
def test_all_rules_and_no_rules_keep_the_way_back(name: str, title: str) -> None:
    page = Page("1", {"title": title})
    check(page, ALL_RULES[name](page))
    check(page, NO_RULES[name](page))


@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_without_rules_the_origin_of_a_token_is_the_token(text: str) -> None:
    page = Page("1", {"title": text})
    for segmentation in NO_RULES.values():
        (field,) = segmentation(page)
        assert [page["title"][start:end] for start, end in field.origins] == field.words


@pytest.mark.parametrize("text", ["㍿山田製作所 包丁", "18㌢ ㍿", "令和㋿ 年", "\ufdfa "], ids=ascii)
def test_japanese_without_the_width_rule_has_no_empty_token(text: str) -> None:
    page = Page("1", {"title": text}, language="ja")
    check(page, NO_RULES["auto"](page))


def test_the_origin_of_untouched_text_is_the_word() -> None:
    touched = 0
    for text in PRODUCT_STRINGS:
        page = Page("1", {"title": text})
        (field,) = AUTO(page)
        for word, (low, high) in zip(field.words, field.origins, strict=True):
            piece = page["title"][low:high]
            if AUTO.cleaner(piece).text == piece:
                assert word == piece
            else:
                touched += 1
    assert touched > 20


@pytest.mark.parametrize("language", ["zh-Hant", "ja", "en"])
def test_sample_pages_keep_the_way_back(language: str) -> None:
    for page in sample_pages(language, pages=60, style="paper"):
        check(page, AUTO(page))


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("zh-Hant", "<p>純棉<b>外套</b></p>", ["純棉", "外套"]),
        ("zh-Hans", "宽松长袖", ["宽松", "长袖"]),
        ("ja", "ｶﾞｰｾﾞのﾊﾝｶﾁ", ["ガーゼ", "の", "ハンカチ"]),
        ("en", "Salt &amp; Pepper&nbsp;Mill", ["Salt", "&", "Pepper", "Mill"]),
        ("en", "ＮＩＫＥ　Ａｉｒ", ["NIKE", "Air"]),
        ("zh-Hant", "保\u200b濕面膜", ["保濕", "面膜"]),
    ],
)
def test_the_language_chooses_the_segmenter_and_text_is_cleaned(language: str, text: str, words: list[str]) -> None:
    (field,) = AUTO(Page("1", {"title": text}, language=language))
    assert field.words == words


def test_a_given_language_wins_over_what_the_text_looks_like() -> None:
    page = Page("1", {"title": "寬鬆長袖"}, language="en")
    assert language_of(page) == "en"
    assert AUTO(page)[0].words == [*"寬鬆長袖"]


@pytest.mark.parametrize("language", [None, "fr", "", "klingon"])
def test_an_unknown_language_is_detected(language: str | None) -> None:
    assert language_of(Page("1", {"title": "宽松卫衣"}, language=language)) == "zh-Hans"


def test_the_language_is_that_of_title_and_description_together() -> None:
    page = Page("1", {"title": "NIKE AIR MAX 90", "description": "柔らかいニットのアッパーで、とても軽いスニーカーです。"})
    assert language_of(page) == "ja"
    assert AUTO(page)[0].words == ["NIKE", "AIR", "MAX", "90"]
    page = Page("1", {"title": "外套", "description": "柔らかいニットです"})
    assert language_of(page) == "ja"


@pytest.mark.parametrize(
    "markup",
    [
        '<div class="product-description" style="color:red;font-size:14px"><p class="text">{}</p></div>',
        '<a href="https://www.example.com.tw/products/categories/item?id=1234&utm_source=newsletter">{}</a>',
        "<script>function track(event) {{ window.analytics.push(event); return false; }}</script>{}",
        "<style>.product {{ color: red; background: white; font-family: sans-serif }}</style>{}",
        "{} https://www.example.com/products/categories/item-number-one/reviews",
    ],
)
@pytest.mark.parametrize(("text", "language"), [("柔軟透氣", "zh-Hant"), ("やわらかい", "ja")])
def test_markup_says_nothing_about_the_language(markup: str, text: str, language: str) -> None:
    assert language_of(Page("1", {"title": text, "description": markup.format(text)})) == language


def given_page(text: str, tokens: tuple[Offsets, ...], **report: str) -> Page:
    return Page("1", {"title": text}, tokens={"title": tokens}, **report)


@pytest.mark.parametrize("name", ["auto", "given"])
@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("化妝水保濕", ((0, 3), (3, 5)), ["化妝水", "保濕"]),
        ("a\u3000b", ((0, 1), (1, 2), (2, 3)), ["a", "\u3000", "b"]),
        ("<b>ACME</b>", ((0, 3), (3, 7), (7, 11)), ["<b>", "ACME", "</b>"]),
        ("https://x.tw 鞋", ((0, 12), (13, 14)), ["https://x.tw", "鞋"]),
        ("\u200b鞋", ((0, 1), (1, 2)), ["\u200b", "鞋"]),
        ("!!! 【免運】", ((0, 3), (4, 8)), ["!!!", "【免運】"]),
        ("ＡＢＣ㍿ｶﾞ鞋", ((0, 3), (3, 4), (4, 6), (6, 7)), ["ABC", "株式会社", "ガ", "鞋"]),
        ("a b", ((0, 3),), ["a b"]),
        ("ab", (), []),
    ],
)
def test_given_tokens_are_kept(name: str, text: str, tokens: tuple[Offsets, ...], words: list[str]) -> None:
    (field,) = Segmentation(name)(given_page(text, tokens))
    assert field.words == words
    assert field.origins == list(tokens)
    assert [text[start:end] for start, end in field.origins] == [text[start:end] for start, end in tokens]


@given(data=st.data(), text=texts)
@settings(max_examples=100, deadline=None)
def test_any_given_tokens_are_kept(data: st.DataObject, text: str) -> None:
    text = Page("1", {"title": text})["title"]
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pairs = tuple(zip(borders[::2], borders[1::2], strict=False))
    (field,) = AUTO(given_page(text, pairs))
    assert field.origins == list(pairs)
    assert len(field.words) == len(pairs)
    assert all(field.words)


def test_given_tokens_stay_as_they_are_without_the_width_rule() -> None:
    (field,) = Segmentation(rules=("html",))(given_page("ＡＢ<b>", ((0, 2), (2, 5))))
    assert field.words == ["ＡＢ", "<b>"]


def test_a_field_without_given_tokens_is_segmented() -> None:
    page = Page("1", {"title": "保濕化妝水", "description": "韓版寬鬆長袖"}, tokens={"title": ((0, 5),)}, language="zh-Hant")
    (alone,) = AUTO(Page("2", {"description": "韓版寬鬆長袖"}, language="zh-Hant"))
    assert 1 < len(alone.words) < 6
    assert [field.words for field in AUTO(page)] == [["保濕化妝水"], alone.words]
    assert [field.words for field in Segmentation("given")(page)] == [["保濕化妝水"], alone.words]


def test_a_named_segmenter_overrides_given_tokens() -> None:
    page = given_page("保濕水", ((0, 3),), language="zh-Hant")
    assert Segmentation("characters")(page)[0].words == ["保", "濕", "水"]
    assert AUTO(page)[0].words == ["保濕水"]


def test_a_named_segmenter_overrides_the_language() -> None:
    page = Page("1", {"title": "保濕面膜"}, language="zh-Hant")
    assert Segmentation("english")(page)[0].words == [*"保濕面膜"]


@pytest.mark.parametrize("name", ["automatic", "charcters", "Given"])
def test_an_unknown_segmentation_is_an_error(name: str) -> None:
    with pytest.raises(UsageError, match="Did you mean") as caught:
        Segmentation(name)
    assert all(each in str(caught.value) for each in SEGMENTATIONS)


@pytest.mark.parametrize("term", ["ＡＳＩＣＳ　Ｗａｌｋｅｒ", "ｱｼｯｸｽ ｳｫｰｶｰ"])
def test_a_dictionary_term_written_as_on_the_page_is_one_token(term: str) -> None:
    (field,) = Segmentation(dictionary=Dictionary([term]))(Page("1", {"title": f"靴 {term} 黒"}, language="ja"))
    assert len(field.words) == 3
    assert field.origins[1] == (2, 2 + len(term))


def test_no_token_reaches_over_removed_markup() -> None:
    segmentation = Segmentation(dictionary=Dictionary(["air max"]))
    (field,) = segmentation(Page("1", {"title": "<p>Air</p><p>Max</p>"}, language="en"))
    assert field.words == ["Air", "Max"]


def test_a_dictionary_term_over_ordinary_white_space_is_one_token() -> None:
    segmentation = Segmentation(dictionary=Dictionary(["air max"]))
    (field,) = segmentation(Page("1", {"title": "Nike Air  \r\n Max 90"}, language="en"))
    assert field.words == ["Nike", "Air Max", "90"]


def test_bring_tokens_cuts_at_the_borders_of_tags() -> None:
    tags = (Tag("title", 1, 2, "x", "濕"), Tag("title", 3, 5, "y", "ab"))
    page = bring_tokens(Page("1", {"title": "保濕<abc>d"}, language="zh-Hant", tags=tags), AUTO)
    assert page.tokens is not None
    borders = {border for token in page.tokens["title"] for border in token}
    assert {1, 2, 3, 5} <= borders


@given(data=st.data(), text=texts)
@settings(max_examples=80, deadline=None)
def test_brought_tokens_are_in_order_and_none_crosses_a_border(data: st.DataObject, text: str) -> None:
    text = Page("1", {"title": text})["title"]
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    tags = tuple(
        Tag("title", start, end, "x", text[start:end]) for start, end in zip(borders[::2], borders[1::2], strict=False)
    )
    page = bring_tokens(Page("1", {"title": text}, tags=tags), AUTO)
    assert page.tokens is not None
    done = 0
    for start, end in page.tokens["title"]:
        assert done <= start < end <= len(text)
        assert not any(start < border < end for tag in tags for border in (tag.start, tag.end))
        done = end


@pytest.mark.parametrize("named", ["auto", "chinese", "japanese", "english", "characters"])
def test_many_pages_have_the_same_tokens_as_one_by_one(named: str) -> None:
    texts = [*PRODUCT_STRINGS, *NAUGHTY_STRINGS, "line\nend", "", "跑鞋"]
    pages = [Page(str(number), {"title": text, "description": text[::-1]}) for number, text in enumerate(texts)]
    segmentation = Segmentation(named, dictionary=Dictionary(["Air Max", "登山鞋"]))
    for page, fields in segmentation.many(pages):
        alone = segmentation(page)
        assert [(field.name, field.tokens) for field in fields] == [(field.name, field.tokens) for field in alone]
