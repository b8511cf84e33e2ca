"""What every segmenter promises, over arbitrary Unicode, with and without a user's dictionary."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.tricky import NAUGHTY_STRINGS, PRODUCT_STRINGS

from batag.errors import UsageError
from batag.pages.cleaning import Cleaner
from batag.pages.page import Offsets, without_surrogates
from batag.segmentation import SEGMENTERS, build_segmenter
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmenter import Segmenter
from batag.settings import settings

TERMS = (
    "SK-II",
    "Air Max",
    "衛衣",
    "資生堂",
    "コットン",
    "hello kitty",
    "L'Oréal",
    "無印良品",
    "か",
    "1",
    "!",
    "😀",
    "İx",
    "ß",
)
WORD_LIST = (
    "NIKE",
    "商品",
    "保濕化妝水",
    "宽松卫衣",
    "コットン",
    "化粧水",
    "Tシャツ",
    "50ml",
    "ABC-123",
    "100%",
    "が",
    "Café",
    "한국",
)
EMOJI = {
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "flag": "🇹🇼",
    "keycap": "1\ufe0f\u20e3",
    "hash keycap": "#\ufe0f\u20e3",
    "tone": "👍🏽",
    "toned worker": "🧑🏻\u200d💻",
    "Scotland": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "heart": "❤\ufe0f",
    "burning heart": "❤\ufe0f\u200d🔥",
    "rainbow": "🏳\ufe0f\u200d🌈",
    "kiss": "👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏿",
    "shrug": "🤷🏾\u200d♀\ufe0f",
    "black bird": "🐦\u200d⬛",
    "pirates": "🏴\u200d☠\ufe0f",
    "handshake": "🫱🏻\u200d🫲🏿",
    "plain": "😀",
    "text style": "☎\ufe0e",
}

texts = st.lists(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=6),
        st.text(alphabet=" \t\n\r\u3000\u00a0\x1c\x85\u2028", max_size=2),
        st.sampled_from(WORD_LIST),
        st.sampled_from(TERMS),
        st.sampled_from(list(EMOJI.values())),
        st.sampled_from(
            ["\u0301", "\u3099", "\ufe0f", "\u20e3", "\u200d", "ﾞ", "🏽", "🇯", "'", "-", "&", "%", "+", ",", ".", "°C"]
        ),
        st.sampled_from(PRODUCT_STRINGS),
        st.sampled_from([without_surrogates(text) for text in NAUGHTY_STRINGS if len(text) < 100]),
    ),
    max_size=8,
).map("".join)


@pytest.fixture(
    scope="module",
    params=[(name, terms) for terms in ((), TERMS) for name in SEGMENTERS],
    ids=lambda param: f"{param[0]}{'-dictionary' if param[1] else ''}",
)
def segmenter(request: pytest.FixtureRequest) -> Segmenter:
    name, terms = request.param
    return build_segmenter(name, dictionary=Dictionary(terms) if terms else None)


@pytest.fixture(scope="module", params=SEGMENTERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def segmented(segmenter: Segmenter, text: str) -> list[Offsets]:
    return segmenter.segment_many([text])[0]


def check(segmenter: Segmenter, text: str) -> list[str]:
    tokens = segmented(segmenter, text)
    done = 0
    for start, end in tokens:
        assert type(start) is type(end) is int
        assert done <= start < end <= len(text), (text, tokens)
        assert text[done:start] == "" or text[done:start].isspace(), text[done:start]
        assert text[start:end] == text[start:end].strip()
        done = end
    assert text[done:] == "" or text[done:].isspace()
    words = [text[start:end] for start, end in tokens]
    starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
    gaps = [text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True)]
    assert gaps[0] + "".join(word + gap for word, gap in zip(words, gaps[1:], strict=True)) == text
    return words


def words_of(name: str, text: str, *terms: str) -> list[str]:
    return check(build_segmenter(name, dictionary=Dictionary(terms)), text)


@given(text=texts)
@example(text="a" * 20 + "\u0301" * 40)
@example(text="\ufdfa" * 50)
@hypothesis_settings(max_examples=100, deadline=None)
def test_tokens_and_gaps_rebuild_the_text(segmenter: Segmenter, text: str) -> None:
    check(segmenter, text)


@given(text=texts)
@hypothesis_settings(max_examples=40, deadline=None)
def test_cleaned_text_is_rebuilt_too(segmenter: Segmenter, text: str) -> None:
    check(segmenter, Cleaner()(text).text)


def test_tricky_strings_are_rebuilt(segmenter: Segmenter) -> None:
    for text in (*PRODUCT_STRINGS, *map(without_surrogates, NAUGHTY_STRINGS)):
        check(segmenter, text)


@given(text=texts)
@hypothesis_settings(max_examples=30, deadline=None)
def test_the_same_text_gives_the_same_tokens(segmenter: Segmenter, text: str) -> None:
    first = segmented(segmenter, text)
    segmented(segmenter, "別的 text ほか")
    assert segmented(segmenter, text) == first


@pytest.mark.parametrize("text", ["", " ", "\u3000\n\t", "\u00a0\u2003"])
def test_nothing_but_white_space_has_no_tokens(segmenter: Segmenter, text: str) -> None:
    assert segmented(segmenter, text) == []


LONG = {
    "sentences": "寬鬆長袖連帽衛衣 100%コットン Men's T-shirt，保濕化妝水 50ml。",
    "no spaces": "寬鬆長袖連帽衛衣保濕化妝水",
    "one letter": "a",
    "kana": "コットンのシャツ",
    "emoji": "👨\u200d👩\u200d👧\u200d👦",
    "white space": " \u3000\n",
    "expanding": "\ufdfa㍿",
    "marks": "e\u0301\u0323",
    "four bytes": "𠮷",
}


@pytest.mark.parametrize("piece", LONG.values(), ids=LONG)
def test_text_longer_than_a_chunk_is_rebuilt(segmenter: Segmenter, piece: str) -> None:
    text = (piece * (50_000 // len(piece) + 1))[:50_000]
    assert len(text) > 5 * settings.segment_chunk_characters
    check(segmenter, text)


@pytest.mark.parametrize("kind", list(EMOJI))
def test_an_emoji_sequence_is_one_token(name: str, kind: str) -> None:
    for around in ("{}", "商品{}外套", "かわいい{}です", "nice {} shoe", "{}😀", "{}🇯🇵{}", "!{}!"):
        assert EMOJI[kind] in words_of(name, around.replace("{}", EMOJI[kind])), around


@pytest.mark.parametrize("kind", list(EMOJI))
def test_an_emoji_right_after_a_latin_word_is_one_token(name: str, kind: str) -> None:
    assert words_of(name, f"b{EMOJI[kind]}b") == ["b", EMOJI[kind], "b"]


@pytest.mark.parametrize(
    ("term", "whole"),
    [("1", "1\ufe0f\u20e3"), ("👨", "👨\u200d👩\u200d👧"), ("か", "か\u3099")],
    ids=["keycap", "family", "mark"],
)
def test_a_dictionary_term_does_not_cut_a_character_that_people_see_as_one(name: str, term: str, whole: str) -> None:
    assert whole in words_of(name, f"第{whole}裝", term)


@pytest.mark.parametrize("word", ["👨\u200d👩\u200d👧\u200d👦", "🇹🇼", "👍🏽"], ids=ascii)
def test_no_emoji_is_cut_where_a_chunk_ends(name: str, word: str) -> None:
    before = settings.segment_chunk_characters - 1
    words = words_of(name, "衣" * before + word + "衣" * 20)
    assert word in words


@pytest.mark.parametrize("name", ["english", "chinese", "japanese"])
def test_no_latin_word_is_cut_where_a_chunk_ends(name: str) -> None:
    before = settings.segment_chunk_characters - 3
    assert "ABC-123" in words_of(name, "衣" * before + "ABC-123" + "衣" * 20)


@pytest.mark.parametrize("name", ["english", "chinese", "japanese"])
def test_no_word_after_much_white_space_is_cut_where_a_chunk_ends(name: str) -> None:
    assert words_of(name, " " * (settings.segment_chunk_characters - 2) + "ABC-123 shoe") == ["ABC-123", "shoe"]


@pytest.mark.parametrize("piece", ["a+", "e\u0301", "हि", "a商", "😀a", "1\ufe0f\u20e3", "衣 a"], ids=ascii)
def test_a_chunk_of_short_pieces_takes_a_moment(segmenter: Segmenter, piece: str) -> None:
    segmented(segmenter, "商品 abc テスト")
    start = time.process_time()
    segmented(segmenter, piece * (settings.segment_chunk_characters // len(piece)))
    assert time.process_time() - start < 1.5  # some hundredths; what grows with the square took several


def test_no_dictionary_term_is_cut_where_a_chunk_ends(name: str) -> None:
    before = settings.segment_chunk_characters - 2
    assert "無印良品" in words_of(name, "衣" * before + "無印良品" + "衣" * 20, "無印良品")
    assert "air max plus" in words_of(name, "衣 " * (before // 2) + "air max plus" + " 衣" * 20, "air max plus")


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("寬鬆長袖連帽衛衣", "韓版寬鬆長袖連帽衛衣女"),
        ("無印良品", "日本無印良品正品"),
        ("コットン100", "綿コットン100のシャツ"),
        ("化粧水", "しっとり化粧水です"),
        ("Hello Kitty", "三麗鷗 HELLO KITTY 杯"),
        ("hello kitty", "Hello Kitty杯"),
        ("SK-II", "SK-II青春露"),
        ("L'Oréal Paris", "巴黎 L'ORÉAL PARIS 唇膏"),
        ("C++", "a C++ mug"),
        ("A.P.C.", "A.P.C. x Carhartt"),
        (".NET", "a .NET mug"),
        ("100", "純棉100%"),
        ("ABC", "ABC-123"),
        ("3M", "3M口罩"),
        ("GU", "gu 外套"),
        ("İstanbul", "an İstanbul rug"),
    ],
)
def test_a_dictionary_term_on_word_borders_is_one_token(name: str, term: str, text: str) -> None:
    place = text.lower().find(term.lower())
    assert text[place : place + len(term)] in words_of(name, text, term)


@pytest.mark.parametrize("name", ["english", "chinese", "japanese"])
@pytest.mark.parametrize(
    ("term", "text", "word"),
    [
        ("GU", "GUCCI 包", "GUCCI"),
        ("pro", "iPhone Professional", "Professional"),
        ("50", "50ml 化妝水", "50ml"),
        ("max", "MAXÉ", "MAXÉ"),
    ],
)
def test_a_latin_term_is_not_found_inside_a_longer_word(name: str, term: str, text: str, word: str) -> None:
    assert word in words_of(name, text, term)


def test_the_longest_term_wins(name: str) -> None:
    assert "air max 90" in words_of(name, "air max 90", "air", "air max", "air max 90")


def test_a_shorter_term_is_found_where_the_longer_one_would_split_a_word(name: str) -> None:
    assert "air max" in words_of(name, "air max 90", "air max 9", "air max")
    assert "資生堂集團" in words_of(name, "資生堂集團Aqua", "資生堂集團A", "資生堂集團")


@given(terms=st.lists(st.text(min_size=1, max_size=4), max_size=6), text=texts)
@hypothesis_settings(max_examples=50, deadline=None)
def test_any_dictionary_keeps_the_contract(terms: list[str], text: str) -> None:
    terms = [without_surrogates(term) for term in terms]
    for each in SEGMENTERS:
        words_of(each, text + "".join(terms), *terms)


@given(data=st.data())
@hypothesis_settings(max_examples=60, deadline=None)
def test_a_term_between_spaces_is_always_one_token(data: st.DataObject) -> None:
    plain = st.text(alphabet="abcXYZ019商品衛衣コットンかガ-'&.+%", min_size=1, max_size=8)
    term = data.draw(plain)
    text = f"{data.draw(plain)} {term} {data.draw(plain)}"
    for each in SEGMENTERS:
        assert term in words_of(each, text, term)


@pytest.mark.parametrize("name", ["chinese", "japanese"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ABC-123", ["ABC-123"]),
        ("50ml", ["50ml"]),
        ("100%コットン", ["100%", "コットン"]),
        ("L'Oréal", ["L'Oréal"]),
        ("Levi’s", ["Levi’s"]),
        ("H&M", ["H&M"]),
        ("SPF50+", ["SPF50+"]),
        ("24.5cm", ["24.5cm"]),
        ("1,980円", ["1,980", "円"]),
        ("Wi-Fi", ["Wi-Fi"]),
        ("USB-C線", ["USB-C", "線"]),
        ("SK-II霜", ["SK-II", "霜"]),
        ("120x60x75cm", ["120x60x75cm"]),
        ("-5°C", ["-", "5°C"]),
        ("a,b", ["a", ",", "b"]),
        ("3,4", ["3,4"]),
    ],
)
def test_mixed_text_is_cut_sensibly(name: str, text: str, words: list[str]) -> None:
    assert words_of(name, text) == words
    assert words_of("english", text) == words


@pytest.mark.parametrize("name", ["english", "chinese", "japanese"])
@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("型號 ABC-123 黑色", "ABC-123"),
        ("型號ABC-123黑色", "ABC-123"),
        ("化妝水50ml保濕", "50ml"),
        ("防曬SPF50+霜", "SPF50+"),
        ("女鞋24.5cm真皮", "24.5cm"),
        ("Tシャツ100%コットン製", "100%"),
        ("iPhone15手機殼", "iPhone15"),
        ("巴黎L'Oréal唇膏", "L'Oréal"),
        ("Tシャツ100%コットン製", "コットン"),
    ],
)
def test_words_of_other_scripts_stay_whole_inside_chinese_and_japanese(name: str, text: str, word: str) -> None:
    assert word in words_of(name, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Men's Running Shoes - Size 10.5 (Wide)", ["Men's", "Running", "Shoes", "-", "Size", "10.5", "(", "Wide", ")"]),
        ("non-slip mat, 6mm", ["non-slip", "mat", ",", "6mm"]),
        ("$19.99!", ["$", "19.99", "!"]),
        ("Crème Brûlée", ["Crème", "Brûlée"]),
        ("純棉 tee", ["純", "棉", "tee"]),
        ("end. Next", ["end", ".", "Next"]),
    ],
)
def test_english_words(text: str, words: list[str]) -> None:
    assert words_of("english", text) == words


@pytest.mark.parametrize(
    "text",
    [
        "Giày thể thao nữ Việt Nam",
        unicodedata.normalize("NFD", "Giày thể thao Việt-Nam nữ"),
        unicodedata.normalize("NFD", "Müller's Crème"),
        "हिन्दी जूते पुरुषों के लिए",
        "தமிழ் புத்தகம்",
        "שָׁלוֹם עוֹלָם",
        "أَحْذِيَة رياضية",
        "বাংলা বই",
    ],
)
def test_words_with_accents_vowel_signs_and_points_are_whole(text: str) -> None:
    assert words_of("english", text) == text.split()


@pytest.mark.parametrize("name", ["english", "chinese", "japanese"])
def test_vietnamese_words_stay_whole_inside_chinese_and_japanese(name: str) -> None:
    assert {"Việt", "Phở"} <= {*words_of(name, "越南Việt Nam Phở河粉")}
    assert "Phở" in words_of(name, "Phở", "ph")  # a term of the dictionary is not found inside the word


def test_characters_are_one_token_each_and_marks_stay_with_their_letter() -> None:
    assert words_of("characters", "保濕 50ml") == [*"保濕50ml"]
    assert words_of("characters", "e\u0301か\u3099x") == ["e\u0301", "か\u3099", "x"]
    assert words_of("characters", "हिन्दी ที่") == ["हि", "न्", "दी", "ที่"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("無線藍牙耳機", ["無線", "藍牙", "耳機"]),
        ("型號 ABC-123", ["型號", "ABC-123"]),
        ("不鏽鋼保溫杯", ["不鏽鋼", "保溫杯"]),
        ("小米充电宝20000mAh", ["小米", "充电", "宝", "20000mAh"]),
    ],
)
def test_chinese_words(text: str, words: list[str]) -> None:
    assert words_of("chinese", text) == words


PAIRS = [
    ("寬鬆長袖連帽衛衣", "宽松长袖连帽卫衣"),
    ("無線藍牙耳機降噪", "无线蓝牙耳机降噪"),
    ("韓國保濕化妝水", "韩国保湿化妆水"),
    ("兒童雨衣黃色小鴨", "儿童雨衣黄色小鸭"),
    ("真皮樂福鞋女鞋", "真皮乐福鞋女鞋"),
    ("台灣高山烏龍茶禮盒", "台湾高山乌龙茶礼盒"),
    ("運動背心透氣網布護腰", "运动背心透气网布护腰"),
    ("電腦雙肩包筆記型電腦", "电脑双肩包笔记型电脑"),
    ("蘋果手機殼防摔", "苹果手机壳防摔"),
    ("實木餐桌椅組合", "实木餐桌椅组合"),
]


@pytest.mark.parametrize(("traditional", "simplified"), PAIRS)
def test_traditional_chinese_is_cut_as_simplified_is(traditional: str, simplified: str) -> None:
    segmenter = build_segmenter("chinese")
    assert segmented(segmenter, traditional) == segmented(segmenter, simplified)
    assert "".join(check(segmenter, traditional)) == traditional


@pytest.mark.parametrize(
    ("text", "words"),
    [("保湿化粧水", ["保湿", "化粧", "水"]), ("綿のシャツ", ["綿", "の", "シャツ"]), ("送料無料", ["送料", "無料"])],
)
def test_japanese_words_are_short_units(text: str, words: list[str]) -> None:
    assert words_of("japanese", text) == words


@pytest.mark.parametrize(("wrong", "near"), [("chinse", "chinese"), ("japan", "japanese"), ("English", "english")])
def test_an_unknown_segmenter_offers_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"{wrong}.*Did you mean '{near}'"):
        build_segmenter(wrong)


@given(text=texts)
@hypothesis_settings(max_examples=60, deadline=None)
def test_the_english_segmenter_never_cuts_inside_a_latin_word(text: str) -> None:
    for start, end in segmented(build_segmenter("english"), text):
        for place in (start, end):
            if 0 < place < len(text):
                pair = text[place - 1 : place + 1]
                keycap = re.match("[0-9]\ufe0f?\u20e3", text[place:])
                assert keycap or not re.fullmatch("[A-Za-z0-9]{2}", pair), (text, place)


@given(text=st.text(alphabet="abe\u0301\u0323か\u3099ハ\u309a商 ", max_size=20))
@hypothesis_settings(max_examples=100, deadline=None)
def test_no_token_starts_with_a_mark_that_has_a_letter_before_it(name: str, text: str) -> None:
    for start, _ in segmented(build_segmenter(name), text):
        assert start == 0 or text[start - 1].isspace() or not unicodedata.combining(text[start]), text
