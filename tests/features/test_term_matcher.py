"""Names of lists in the words of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batag.features.term_lists import Hiding, TermLists, parse_names, parse_terms
from batag.features.term_matcher import TermMatcher, fold

PIECES = st.lists(st.text("abＡé-冰箱車车 ", max_size=3), max_size=12)
NAMES = st.dictionaries(
    st.sampled_from(["brand", "goods"]), st.lists(st.text("abAé-冰箱車车 ", min_size=1, max_size=5), max_size=8), max_size=2
)


def codes(names: Mapping[str, Sequence[str]], words: str | Sequence[str], **more: object) -> list[str]:
    """The code of each word, empty without one."""
    asked = words.split("/") if isinstance(words, str) else words
    found = TermMatcher(names).codes(asked, **more)  # type: ignore[arg-type]
    return [found.get(number, "") for number in range(len(asked))]


def by_hand(names: Mapping[str, Sequence[str]], words: Sequence[str]) -> list[str]:
    """The same, by looking for every name at every place."""
    places: list[list[str]] = [[] for _ in words]
    for label in names:
        listed = {fold(name) for name in names[label]} - {""}
        first = 0
        while first < len(words):
            fitting = [last for last in range(first, len(words)) if fold("".join(words[first : last + 1])) in listed]
            fitting = [last for last in fitting if fold(words[first]) and fold(words[last])]
            if not fitting:
                first += 1
                continue
            last = max(fitting)
            for number in range(first, last + 1):
                place = "S" if first == last else "B" if number == first else "E" if number == last else "I"
                places[number].append(f"{place}-{label}")
            first = last + 1
    return [" ".join(sorted(each)) for each in places]


@given(names=NAMES, words=PIECES)
def test_it_finds_what_looking_for_every_name_at_every_place_finds(
    names: Mapping[str, Sequence[str]], words: Sequence[str]
) -> None:
    assert [" ".join(sorted(each.split())) for each in codes(names, words)] == by_hand(names, words)


def test_a_code_says_place_and_label() -> None:
    names = {"brand": ["The North Face", "日立"], "goods": ["冰箱", "三門冰箱"]}
    assert codes(names, "日立/變頻/三門/冰箱") == ["S-brand", "", "B-goods", "E-goods"]
    assert codes(names, "THE/NORTH/FACE/jacket") == ["B-brand", "I-brand", "E-brand", ""]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("L'Oréal", "LOREAL"),
        ("ザ・ノース・フェイス", "ザ/・/ノース/・/フェイス"),
        ("電腦", "电脑"),
        ("卸妝棉", "卸粧/棉"),
        ("Post-it Notes", "Post-it/™/Notes"),
        ("hair dryer", "hair-dryer"),
        ("Dr. Martens", "DR/./MARTENS"),
        ("ABC", "ＡＢＣ"),
    ],
)
def test_spelling_does_not_matter(name: str, words: str) -> None:
    assert "" not in codes({"brand": [name]}, words)


def test_a_name_is_found_from_token_border_to_token_border() -> None:
    assert codes({"goods": ["冰箱"]}, "電冰箱/冰/箱子") == ["", "", ""]
    assert codes({"brand": ["on"]}, "cartoon/on") == ["", "S-brand"]


def test_a_mark_says_that_the_name_is_an_ordinary_word_unless_a_list_is_sure_of_it() -> None:
    assert codes({"brand": ["Champion*"]}, "champion") == ["S-brand*"]
    assert codes({"brand": ["Champion*", "CHAMPION"]}, "champion") == ["S-brand"]
    assert codes({"brand": ["CHAMPION", "Champion*"]}, "champion") == ["S-brand"]


def test_a_word_can_be_in_two_lists() -> None:
    assert codes({"brand": ["apple*"], "goods": ["apple juice"]}, "apple/juice") == ["B-goods S-brand*", "E-goods"]


def test_goods_are_found_in_the_singular_and_in_the_plural_and_brands_are_not() -> None:
    matcher = TermMatcher({"goods": ["running shoes", "battery"], "brand": ["Van"]}, with_plurals=["goods"])
    assert matcher.codes(["running", "shoe"]) == {0: "B-goods", 1: "E-goods"}
    assert matcher.codes(["batteries"]) == {0: "S-goods"}
    assert matcher.codes(["vans"]) == {}


def test_a_hidden_name_is_hidden_everywhere_on_the_page_and_shows_what_is_inside_it() -> None:
    names = {"goods": ["冰箱", "三門冰箱"]}
    assert codes(names, "三門/冰箱/三門/冰箱", hides=lambda name: name == fold("三門冰箱")) == ["", "S-goods", "", "S-goods"]


def test_hiding_is_told_by_seed_and_page_and_hides_its_share() -> None:
    names = [f"name{number}" for number in range(2_000)]
    hidden = [name for name in names if Hiding(0.3, "0/7").of_page(4)(name)]
    assert hidden == [name for name in names if Hiding(0.3, "0/7").of_page(4)(name)]
    assert 500 < len(hidden) < 700
    assert hidden != [name for name in names if Hiding(0.3, "0/7").of_page(5)(name)]
    assert hidden != [name for name in names if Hiding(0.3, "0/8").of_page(4)(name)]
    assert not any(map(Hiding(0.0, "").of_page(0), names))


def test_the_lexicon_knows_brands_and_goods_in_every_script() -> None:
    matcher = TermLists(lexicon=True).matcher
    found = matcher.codes(["HITACHI", "日立", "冰箱", "冷蔵庫", "refrigerators", "送料無料"])
    assert {number: code.split("-")[1] for number, code in found.items()} == {
        **dict.fromkeys((0, 1), "brand"),
        **dict.fromkeys((2, 3, 4), "goods"),
        5: "promo",
    }


@pytest.mark.parametrize(
    ("chosen", "parsed"),
    [("", (False, "")), ("lexicon", (True, "")), ("a,b.tsv", (False, "a,b.tsv")), ("lexicon,a,b.tsv", (True, "a,b.tsv"))],
)
def test_the_setting_names_the_lexicon_a_file_or_both(chosen: str, parsed: tuple[bool, str]) -> None:
    assert parse_terms(chosen) == parsed


def test_a_file_of_names_is_read_and_written() -> None:
    read = parse_names(["# a comment", "日立\tbrand", "", "Champion*\tbrand\r", "日立\tbrand"], where="x")
    assert read == (("日立", "brand"), ("Champion*", "brand"))
    assert parse_names(TermLists(own=read).text().split("\n"), where="x") == read
    for line in ("日立", "日立\t", "\tbrand", "日立\ttwo words"):
        with pytest.raises(ValueError, match="x:1: is not a name, a tab and a label"):
            parse_names([line], where="x")


def test_a_page_of_one_letter_has_as_many_matches_as_it_is_long_times_the_longest_name() -> None:
    matcher = TermMatcher({"brand": ["a" * size for size in range(1, 9)]})
    for length in (100, 10_000):
        found = matcher.codes(["a"] * length)
        assert len(found) == length
        assert set(found.values()) <= {"B-brand", "I-brand", "E-brand", "S-brand"}


def test_no_name_reaches_across_a_space_that_parts_phrases() -> None:
    names = {"goods": ["除濕機濾網", "濾網"], "brand": ["New Balance"]}
    assert codes(names, "除濕機/濾網") == ["B-goods", "E-goods"]
    assert codes(names, "除濕機/濾網", spaced={1}) == ["", "S-goods"]
    assert codes(names, "男鞋/New/Balance", spaced={1}) == ["", "B-brand", "E-brand"]
