"""Stop words: our four lists, a user's own on top, and the judgement that a text is no tag by itself."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path

import opencc
import pytest

from batag.errors import InputError, UsageError
from batag.pages.stopwords import LANGUAGES, StopWords, fold, read_words, stop_words

EVERYTHING = StopWords(stop_words(None))


def listed(language: str) -> list[str]:
    with resources.as_file(resources.files("batag.pages.stopwords").joinpath(f"{language}.txt")) as path:
        return read_words(path)


# The lists


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_has_150_to_300_words(language: str) -> None:
    assert 150 <= len(listed(language)) <= 300


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_has_no_word_twice_after_folding(language: str) -> None:
    folded = [fold(word) for word in listed(language)]
    assert sorted(folded) == sorted(set(folded))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_of_a_list_stands_alone_in_its_language(language: str) -> None:
    words = StopWords(stop_words(language))
    assert [word for word in listed(language) if not words.only_stop_words(word)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_is_utf8_without_bom_and_ends_its_last_line(language: str) -> None:
    data = resources.files("batag.pages.stopwords").joinpath(f"{language}.txt").read_bytes()
    assert data.startswith(b"# ")
    assert data.endswith(b"\n")
    assert b"\r" not in data


# Simplified-to-Traditional tables also move characters that Taiwan writes as they are.
BOTH_SCRIPTS = set("台秘")


def test_the_traditional_list_has_no_simplified_character() -> None:
    convert = opencc.OpenCC("s2t").convert
    moved = {character for word in listed("zh-Hant") for character in word if convert(character) != character}
    assert moved - BOTH_SCRIPTS == set()


def test_the_simplified_list_has_no_traditional_character() -> None:
    convert = opencc.OpenCC("t2s").convert
    assert {character for word in listed("zh-Hans") for character in word if convert(character) != character} == set()


def test_the_simplified_list_is_mainland_usage_not_a_conversion() -> None:
    convert = opencc.OpenCC("t2s").convert
    converted = {convert(word) for word in stop_words("zh-Hant")}
    assert {"包邮", "宝贝", "秒杀", "旗舰店", "厘米"} <= stop_words("zh-Hans") - converted
    assert {"免运", "宅配", "超取", "公厘"} <= converted - stop_words("zh-Hans")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("zh-Hant", "的 商品 特價 免運 系列 公分 個 一 cm ml"),
        ("zh-Hans", "的 商品 特价 包邮 系列 厘米 个 一 cm ml"),
        ("ja", "の です 商品 送料無料 セール センチ 枚 一 cm ml"),
        ("en", "the and is free shipping sale new cm ml two pieces"),
    ],
)
def test_a_list_has_the_words_one_expects(language: str, words: str) -> None:
    assert set(words.split()) <= stop_words(language)


GOODS_BRANDS_FEATURES = (
    "棉 保濕 防水 手機殼 包 瓶 杯 米 套裝 禮盒 保湿 纯棉 连衣裙 韩版 "
    "本 缶 箱 袋 台 綿 ボルト カート 日本製 レディース ギフト 大容量 福袋 "
    "leather cotton waterproof box bag cart down meter pc gift single double zero next only three nike xl 501"
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_list_has_a_word_that_could_be_a_tag(language: str) -> None:
    assert stop_words(language).isdisjoint(GOODS_BRANDS_FEATURES.split())


# stop_words


def test_no_language_joins_all_four_lists() -> None:
    assert stop_words(None) == frozenset().union(*map(stop_words, LANGUAGES))


def test_the_words_come_folded() -> None:
    for language in LANGUAGES:
        assert stop_words(language) == {fold(word) for word in listed(language)}
    assert "°c" in stop_words("en")


def test_an_unknown_language_is_an_error_that_names_the_valid_ones() -> None:
    with pytest.raises(UsageError, match=r"'klingon'.*zh-Hant, zh-Hans, ja, en"):
        stop_words("klingon")


def test_a_list_is_read_once() -> None:
    assert stop_words("ja") is stop_words("ja")


def test_importing_reads_no_list() -> None:
    code = "import batag.pages.stopwords as s; print(s._listed.cache_info().currsize)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"


def test_words_of_ones_own_are_added_and_folded() -> None:
    assert stop_words("en", more=["ＡＣＭＥ", " Best  Buy "]) == stop_words("en") | {"acme", "best buy"}


def test_files_and_words_are_added_together(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# mine\n蝦皮\n", encoding="utf-8")
    assert stop_words("zh-Hant", more=[path, "momo"]) == stop_words("zh-Hant") | {"蝦皮", "momo"}


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("foo", encoding="utf-8")
    assert "foo" in stop_words("en", more=[path])
    path.write_text("bar", encoding="utf-8")
    assert stop_words("en", more=[path]) == stop_words("en") | {"bar"}


def test_a_text_is_a_word_even_where_a_file_has_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.txt").write_text("foo", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert stop_words("en", more=["mine.txt"]) == stop_words("en") | {"mine.txt"}


def test_one_text_is_one_word_not_its_letters() -> None:
    assert stop_words("en", more="acme") == stop_words("en") | {"acme"}


def test_empty_words_are_not_added() -> None:
    assert stop_words("en", more=["", " \u3000"]) == stop_words("en")


# read_words


def test_comments_and_blank_lines_are_skipped_and_words_stripped(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("# head\n\n  Free Shipping \n\u3000\n  # indented\n免運\u3000\nC#\n", encoding="utf-8")
    assert read_words(path) == ["Free Shipping", "免運", "C#"]


def test_bom_crlf_and_cr_are_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeff# head\r\nの\r\n\r\nです\rだ".encode())
    assert read_words(path) == ["の", "です", "だ"]


def test_only_cr_and_lf_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("a\u2028b\nc\x0bd\n".encode())
    assert read_words(path) == ["a\u2028b", "c\x0bd"]


def test_an_empty_file_has_no_words(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.touch()
    assert read_words(path) == []


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        (b"ok\r\n\r\n" + "商品".encode("big5"), 3, "not UTF-8"),
        ("word".encode("utf-16"), 1, "not UTF-8"),
        ("word\n".encode("utf-16-le"), 1, "NUL"),
    ],
)
def test_a_file_that_is_not_utf8_text_is_an_error_with_its_line(tmp_path: Path, data: bytes, line: int, what: str) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(data)
    with pytest.raises(InputError, match=what) as caught:
        read_words(path)
    assert caught.value.where == f"{path}:{line}"
    assert "UTF-8" in caught.value.todo


@pytest.mark.parametrize("name", ["missing.txt", "."])
def test_a_path_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read") as caught:
        stop_words("en", more=[tmp_path / name])
    assert caught.value.where == str(tmp_path / name)
    assert caught.value.todo


# only_stop_words


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "\u3000\n",
            "!!",
            "【】",
            "★☆★",
            "~~~",
            "ーーー",
            "、。",
            "\u200b",
            "\u0301\u0301",
            "\x00",
            "\ud83d",
            "\ue000",
        ),
        *("👍", "👍🏽", "👨\u200d👩\u200d👧", "🇯🇵", "3\ufe0f\u20e3", "❤\ufe0f", "🉐", "㊙", "🈚", "™"),
        *("5", "50", "５０", "1/2", "½", "①", "5 6", "-50%", "100%", "¥1,980", "￥1980", "$19.99", "1,980", "1234.50"),
        *(
            "sale",
            "SALE!!",
            "ＳＡＬＥ",
            "【免運】",
            "(free shipping)",
            "免運 特價",
            "免運\u3000特價",
            "送料無料！",
            "sale❤\ufe0f",
        ),
        *("It’s", "50 ml", "㎏", "㌢", "㍿", "㈱", "℃", "№", "the new"),
    ],
)
def test_what_is_only_stop_words_and_signs_stands_alone(text: str) -> None:
    assert EVERYTHING.only_stop_words(text)


@pytest.mark.parametrize(
    "text",
    [
        *("棉", "leather", "new balance", "The North Face", "H&M", "H & M", "保濕", "レディース", "コットン100%", "𠮷"),
        *("501", "５０１", "#501", "2024", "501.", "990 sale", "501 $5", "ABC-123", "50ml", "免運特價", "Best Buy", "ⓃⒾⓀⒺ"),
    ],
)
def test_what_holds_anything_else_may_be_a_tag(text: str) -> None:
    assert not EVERYTHING.only_stop_words(text)


def test_words_of_ones_own_stand_alone_too() -> None:
    words = StopWords(stop_words("ja", more=["楽天市場店", "Best Buy", "501"]))
    assert words.only_stop_words("【楽天市場店】 送料無料")
    assert words.only_stop_words("「best  buy」")
    assert words.only_stop_words("501")
    assert not words.only_stop_words("Best Value")


def test_a_language_knows_only_its_own_words() -> None:
    assert not StopWords(stop_words("en")).only_stop_words("免運")
    assert not StopWords(stop_words("zh-Hant")).only_stop_words("包邮")


def test_stop_words_fold_what_they_are_given() -> None:
    assert StopWords(frozenset({"ＡＣＭＥ", ""})) == StopWords(frozenset({"acme"}))
    assert StopWords(frozenset({"Acme"})).only_stop_words("ACME")


def test_half_width_katakana_is_compared_composed() -> None:
    assert EVERYTHING.only_stop_words("ﾀｲﾑｾｰﾙ")
    assert EVERYTHING.only_stop_words("ﾌﾞﾗﾝﾄﾞ")


def test_a_long_run_of_signs_is_judged_in_linear_time() -> None:
    assert EVERYTHING.only_stop_words("!" * 200_000 + "sale" + "!" * 200_000)
    assert not EVERYTHING.only_stop_words("a" + "!" * 200_000 + "b")
