"""Weak labels: where terms are marked, and where not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny import catalogue, typed

from batag.labels.weak import Marking, Terms
from batag.pages.cleaning import Cleaner
from batag.pages.page import Page, Tag
from batag.pages.stopwords import fold
from batag.segmentation.chinese import simplify
from batag.segmentation.segmentation import Segmentation


def marked(title: str, *, segmentation: str = "auto", language: str | None = None, **lists: list[str]) -> list[tuple[str, str]]:
    page = Page("1", {"title": title}, language)
    (found,) = Marking(Terms(lists), Segmentation(segmentation))([page])
    assert all(tag.text == title[tag.start : tag.end] for tag in found.tags)
    return [(tag.label, tag.text) for tag in found.tags]


def test_terms_are_found_in_any_case_and_width_and_cut_from_the_original() -> None:
    assert marked("ＮｏｒｄＶｉｋ jacket", brand=["NORDVIK"]) == [("brand", "ＮｏｒｄＶｉｋ")]
    assert marked("nordvik jacket", brand=["ＮＯＲＤＶＩＫ"]) == [("brand", "nordvik")]


def test_the_longest_term_wins_wherever_it_begins() -> None:
    assert marked("Air Max shoes", brand=["Air"], goods=["Air Max shoes", "Max"]) == [("goods", "Air Max shoes")]
    # Longer by a letter, though it begins later.
    assert marked("red blue greens", a=["red blue"], b=["blue greens"]) == [("b", "blue greens")]


def test_only_whole_words_are_marked() -> None:
    assert marked("Acmex and acme-1 ACME", brand=["acme"])[-1] == ("brand", "ACME")
    assert ("brand", "Acme") not in marked("Acmex", brand=["acme"])
    assert marked("慢跑鞋", goods=["跑鞋"], segmentation="chinese") == []
    assert marked("登山鞋", goods=["登山鞋"], segmentation="chinese") == [("goods", "登山鞋")]


def test_a_term_in_two_lists_has_the_label_of_the_first() -> None:
    terms = Terms({"brand": ["ACME"], "goods": ["acme", "shoes"]})
    assert terms.in_two_lists == [("acme", "goods")]
    assert len(terms) == 2
    assert marked("Acme shoes", brand=["ACME"], goods=["acme", "shoes"]) == [("brand", "Acme"), ("goods", "shoes")]


@pytest.mark.parametrize("title", ["<b>New</b> <i>Balance</i> shoes", "New<br>Balance shoes", "New http://a.b/c Balance shoes"])
def test_a_term_that_markup_cuts_in_pieces_is_not_marked_but_shorter_terms_in_it_are(title: str) -> None:
    assert marked(title, brand=["New Balance"]) == []
    assert marked(title, brand=["New Balance"], goods=["shoes", "balance"]) == [("goods", "Balance"), ("goods", "shoes")]


def test_a_part_of_a_character_is_not_marked() -> None:
    assert marked("½ inch, 2 inch", size=["2"]) == [("size", "2")]
    assert marked("㎏ 2kg", size=["kg"]) == [("size", "㎏")]


@pytest.mark.parametrize("term", ["New  Balance", " new\tbalance ", "NEW\xa0BALANCE", "Ｎｅｗ\u3000Balance"])
@pytest.mark.parametrize("text", ["New Balance", "new \n balance", "New&nbsp;&nbsp;Balance", "New\u3000Balance"])
def test_any_white_space_stands_between_the_words_of_a_term(term: str, text: str) -> None:
    assert marked(f"our {text} shoes", brand=[term]) == [("brand", text)]


def test_white_space_between_given_tokens_is_any_too() -> None:
    page = Page("1", {"title": "a New  Balance x"}, tokens={"title": ((0, 1), (2, 5), (7, 14), (15, 16))})
    (found,) = Marking(Terms({"brand": ["new balance"], "x": ["X"]}))([page])
    assert [(tag.label, tag.text) for tag in found.tags] == [("brand", "New  Balance"), ("x", "x")]


@pytest.mark.parametrize(("term", "text"), [("Levi's", "Levi’s"), ("levi’s", "LEVI'S"), ("Levi’s", "Levi&rsquo;s")])
def test_an_apostrophe_is_straight_or_typographic(term: str, text: str) -> None:
    assert marked(f"{text} jeans", brand=[term]) == [("brand", text)]


@pytest.mark.parametrize(("term", "text"), [("苹果", "蘋果"), ("诺德维克", "諾德維克")])
def test_a_chinese_term_is_found_in_both_scripts(term: str, text: str) -> None:
    for one, other in ((term, text), (text, term)):
        for language in (None, "zh-Hant", "zh-Hans", "en"):
            assert marked(other, brand=[one], language=language, segmentation="english") == [("brand", other)]
    assert marked(text, simple=[term], own=[text], segmentation="english") == [("own", text)]
    assert marked(term, own=[text], simple=[term], segmentation="english") == [("simple", term)]


def test_characters_that_only_look_like_the_other_script_are_not_the_term() -> None:
    assert marked("木の 机 です", goods=["機"], segmentation="english") == []  # a desk, not a machine
    assert marked("木の 机 です", goods=["机"], segmentation="english") == [("goods", "机")]
    assert marked("尺寸 表", goods=["錶"], segmentation="english", language="zh-Hant") == []  # a table, not a watch
    assert marked("尺寸 表", goods=["錶"], segmentation="english", language="zh-Hans") == [("goods", "表")]


def test_people_have_the_last_word_and_pages_without_terms_stay_without_labels() -> None:
    by_people = Page("1", {"title": "acme"}, labelled=True)
    nothing, something = Page("2", {"title": "other"}), Page("3", {"title": "acme"}, extra={"price": 1})
    marking = Marking(Terms({"brand": ["ACME"]}))
    one, two, three = marking([by_people, nothing, something])
    assert one == by_people
    assert two == nothing
    assert not two.labelled
    assert three.labelled
    assert three.extra == {"price": 1}
    assert ([tag.source for tag in three.tags], three.reviewed) == (["terms"], False)
    assert marking.report() == {
        "pages": 3,
        "labelled_by_people": 1,
        "marked_before": 0,
        "without_terms": 1,
        "labels": {"brand": {"terms": 1, "found": 1, "tags": 1}},
        "in_two_lists": 0,
    }


def test_a_second_list_adds_to_what_the_first_has_marked() -> None:
    page = Page("1", {"title": "acme air shoes", "description": "shoes by acme"})
    (first,) = Marking(Terms({"brand": ["acme air"]}))([page])
    marking = Marking(Terms({"goods": ["shoes", "air"], "maker": ["acme"]}))
    (both,) = marking([first])
    assert [(tag.field, tag.label, tag.text) for tag in both.tags] == [
        ("title", "brand", "acme air"),
        ("title", "goods", "shoes"),
        ("description", "goods", "shoes"),
        ("description", "maker", "acme"),
    ]
    assert (marking.marked_before, marking.left_alone) == (1, 0)


def test_tags_of_other_machines_stay_beside_what_is_marked() -> None:
    by_model = Tag("title", 0, 4, "brand", "acme", 0.9, source="model")
    marking = Marking(Terms({"goods": ["shoes"], "maker": ["acme"]}))
    (found,) = marking([Page("1", {"title": "acme shoes"}, tags=(by_model,))])
    assert [(tag.label, tag.source) for tag in found.tags] == [("brand", "model"), ("goods", "terms")]
    assert (marking.left_alone, marking.marked_before) == (0, 1)
    unfinished = Page("1", {"title": "acme shoes"}, tags=(Tag("title", 0, 4, "brand", "acme"),), reviewed=False)
    (found,) = marking([unfinished])
    assert [(tag.label, tag.source) for tag in found.tags] == [("brand", "person"), ("goods", "terms")]


def test_none_is_no_label_to_mark(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("acme\n", encoding="utf-8")
    done = typed("weak", "-", "--terms", f"{tmp_path / 'terms.txt'}=none", stdin=b'{"title": "acme"}\n')
    assert (done.returncode, "'none' is the class of tokens without a tag" in done.stderr) == (2, True)


@given(
    st.lists(st.sampled_from(["a", "b", "a b", "b a b", "é", "ﬀ", "İ", "中", "中文", " "]), max_size=6),
    st.text("ab é中文ﬀİ", max_size=20),
)
def test_tags_never_overlap_and_are_always_terms(terms: list[str], title: str) -> None:
    page = Page("1", {"title": title})
    (found,) = Marking(Terms({"x": terms}))([page])
    done = 0
    for tag in found.tags:
        assert tag.start >= done
        assert tag.text == title[tag.start : tag.end]
        done = tag.end
    assert {tag.source for tag in found.tags} <= {"terms"}
    assert found.reviewed is (False if found.tags else None)


_PIECES = [
    "New",
    "balance",
    "levi's",
    "LEVI’S",
    "苹果",
    "蘋果",
    "錶",
    "表",
    "機",
    "の",
    "½",
    "2",
    "Ａ",
    "İ",
    " ",
    "  ",
    "\u3000",
]


@given(
    st.lists(st.lists(st.sampled_from(_PIECES), max_size=4).map("".join), max_size=6),
    st.lists(st.sampled_from([*_PIECES, "<b>", "&nbsp;", "\u200b"]), max_size=12).map("".join),
    st.sampled_from(["auto", "english", "chinese", "characters"]),
)
def test_what_is_marked_is_a_term_after_folding_and_has_no_markup(terms: list[str], title: str, segmentation: str) -> None:
    known = {simplify(fold(term)) for term in terms}
    for _, text in marked(title, segmentation=segmentation, x=terms):
        assert simplify(fold(Cleaner()(text).text)) in known
        assert "<" not in text


def test_the_brands_of_the_sample_are_found_again() -> None:
    pages = catalogue(40)
    brands = sorted({tag.text for page in pages for tag in page.tags if tag.label == "brand"})
    bare = [Page(page.id, page.fields, page.language) for page in pages]
    found = [{(tag.field, tag.start, tag.end) for tag in page.tags} for page in Marking(Terms({"brand": brands}))(bare)]
    wanted = [{(tag.field, tag.start, tag.end) for tag in page.tags if tag.label == "brand"} for page in pages]
    hits = sum(len(one & other) for one, other in zip(found, wanted, strict=True))
    assert hits > 0.9 * sum(map(len, wanted))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "pages.jsonl").write_text(
        '{"id": "1", "title": "ACME trail shoes"}\n{"id": "2", "title": "nothing"}\n', "utf-8"
    )
    (tmp_path / "brands.txt").write_text("# ours\nacme\n\n", "utf-8")
    (tmp_path / "goods.txt").write_text("trail shoes\nshoes\n", "utf-8")
    return tmp_path


def test_the_command_writes_labelled_pages_and_says_what_it_found(shop: Path) -> None:
    call = ["weak", shop / "pages.jsonl", "--terms", f"{shop / 'brands.txt'}=brand", "--terms", f"{shop / 'goods.txt'}=goods"]
    done = typed(*call, "--out", shop / "out.jsonl", "--json")
    statistics = json.loads(done.stdout)
    assert statistics["labels"] == {"brand": {"terms": 1, "found": 1, "tags": 1}, "goods": {"terms": 2, "found": 1, "tags": 1}}
    first, second = map(json.loads, (shop / "out.jsonl").read_text("utf-8").splitlines())
    assert [(tag["label"], tag["text"]) for tag in first["tags"]] == [("brand", "ACME"), ("goods", "trail shoes")]
    assert [tag["source"] for tag in first["tags"]] == ["terms", "terms"]
    assert first["reviewed"] is False
    assert "tags" not in second
    assert "1 without a term" in typed(*call, "--out", shop / "again.jsonl").stderr


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ("brands.txt", "is not FILE=LABEL"),
        ("brands.txt=", "is not FILE=LABEL"),
        ("none.txt=brand", "none.txt"),
        ("=x", "FILE=LABEL"),
    ],
)
def test_mistakes_are_one_line(shop: Path, terms: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    done = typed("weak", "pages.jsonl", "--terms", terms, "--out", "out.jsonl")
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert not (shop / "out.jsonl").exists()


def test_an_empty_list_is_a_mistake(shop: Path) -> None:
    (shop / "empty.txt").write_text("# nothing\n", "utf-8")
    done = typed("weak", shop / "pages.jsonl", "--terms", f"{shop / 'empty.txt'}=brand")
    assert (done.returncode, "no term in any list" in done.stderr) == (2, True)
