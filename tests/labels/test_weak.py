"""Weak labels: where terms are marked, and where not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny import catalogue, typed

from batag.labels.weak import WEAK, Marking, Terms
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation


def marked(title: str, *, segmentation: str = "auto", **lists: list[str]) -> list[tuple[str, str]]:
    page = Page("1", {"title": title})
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


def test_people_have_the_last_word_and_pages_without_a_term_stay_without_labels() -> None:
    by_people = Page("1", {"title": "acme"}, labelled=True)
    nothing, something = Page("2", {"title": "other"}), Page("3", {"title": "acme"}, extra={"price": 1})
    marking = Marking(Terms({"brand": ["ACME"]}))
    one, two, three = marking([by_people, nothing, something])
    assert one == by_people
    assert two == nothing
    assert not two.labelled
    assert three.labelled
    assert three.extra == {"price": 1, WEAK: True}
    assert marking.report() == {
        "pages": 3,
        "labelled_by_people": 1,
        "marked_before": 0,
        "without_a_term": 1,
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


def test_none_is_no_label_to_mark(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("acme\n", encoding="utf-8")
    done = typed("weak", "-", "--terms", f"{tmp_path / 'terms.txt'}=none", stdin=b'{"title": "acme"}\n')
    assert (done.returncode, "'none' is what has no label" in done.stderr) == (2, True)


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
    assert bool(found.tags) == (found.extra.get(WEAK, False))


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
    facts = json.loads(done.stdout)
    assert facts["labels"] == {"brand": {"terms": 1, "found": 1, "tags": 1}, "goods": {"terms": 2, "found": 1, "tags": 1}}
    first, second = map(json.loads, (shop / "out.jsonl").read_text("utf-8").splitlines())
    assert [(tag["label"], tag["text"]) for tag in first["tags"]] == [("brand", "ACME"), ("goods", "trail shoes")]
    assert first["weak"] is True
    assert "tags" not in second
    assert "1 without a term" in typed(*call, "--out", shop / "again.jsonl").stderr


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ("brands.txt", "is not FILE=LABEL"),
        ("brands.txt=", "is not FILE=LABEL"),
        ("none.txt=brand", "none.txt"),
        ("=x", "FILE=LABEL"),
    ],
)
def test_mistakes_are_one_line(shop: Path, terms: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    done = typed("weak", "pages.jsonl", "--terms", terms, "--out", "out.jsonl")
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert not (shop / "out.jsonl").exists()


def test_an_empty_list_is_a_mistake(shop: Path) -> None:
    (shop / "empty.txt").write_text("# nothing\n", "utf-8")
    done = typed("weak", shop / "pages.jsonl", "--terms", f"{shop / 'empty.txt'}=brand")
    assert (done.returncode, "no term in any list" in done.stderr) == (2, True)
