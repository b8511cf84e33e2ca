"""Labels given as plain text: found in the page wherever they stand, listed where they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import plain_texts, read_with_problems, texts, written

from batag.pages.mentions import label_pairs, occurrences

# tests/contract/test_formats.py looks for files left open; without this every later test would answer for them.

TITLE, DESCRIPTION = "ACME 全新跑鞋", "跑鞋由 ACME 出品，ACMEX 不是"
EXPECTED = [
    ("title", 0, 4, "brand", "ACME"),
    ("title", 7, 9, "goods", "跑鞋"),
    ("description", 0, 2, "goods", "跑鞋"),
    ("description", 4, 8, "brand", "ACME"),
]


def spans_of(tmp_path: Path, title: str, labels: Any, *, key: str = "labels") -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    (page,), problems = read_with_problems(written(tmp_path / "a.jsonl", json.dumps({"title": title, key: labels}) + "\n"))
    assert page.labelled == bool(page.tags)
    return [(tag.start, tag.end, tag.label, tag.text) for tag in page.tags], dict(problems.counts)


# Where they may stand


@pytest.mark.parametrize("key", ["tags", "labels"])
@pytest.mark.parametrize(
    "labels",
    [
        "brand=ACME;goods=跑鞋",
        " brand = ACME ; goods = 跑鞋 ; ",
        "brand=ACME；goods=跑鞋",
        "brand=ACME|goods=跑鞋",
        "brand=ACME,goods=跑鞋",
        "brand=ACME, goods=跑鞋,",
        "brand=ACME，goods=跑鞋",
        "brand=ACME、goods=跑鞋",
        "brand=ACME｜goods=跑鞋",
        "brand＝ACME；goods＝跑鞋",
        "brand ＝ ACME\ngoods ＝ 跑鞋",
        ";brand=ACME;;goods=跑鞋",
        "brand=ACME\ngoods=跑鞋\n",
        "brand=ACME\r\ngoods=跑鞋\r\n",
        ["brand=ACME", "goods=跑鞋"],
        ["brand=ACME;goods=跑鞋"],
        {"brand": "ACME", "goods": "跑鞋"},
        {"brand": ["ACME"], "goods": ["跑鞋"]},
        {"brand": [" ACME "], "goods": "跑鞋", "feature": []},
    ],
    ids=repr,
)
def test_plain_labels_are_found_in_every_field(tmp_path: Path, labels: Any, key: str) -> None:
    record = {"id": "1", "title": TITLE, "description": DESCRIPTION, key: labels}
    (page,), problems = read_with_problems(written(tmp_path / "a.jsonl", json.dumps(record) + "\n"))
    assert [(tag.field, tag.start, tag.end, tag.label, tag.text) for tag in page.tags] == EXPECTED
    assert page.labelled
    assert not problems.counts


@pytest.mark.parametrize("key", ["tags", "labels"])
@pytest.mark.parametrize("mark", [",", "\t", "|"])
def test_plain_labels_are_found_in_tables(tmp_path: Path, key: str, mark: str) -> None:
    rows = [["id", "title", "description", key], ["1", TITLE, DESCRIPTION, "brand=ACME;goods=跑鞋"], ["2", "b", "", ""]]
    (page, other), problems = read_with_problems(written(tmp_path / "a.csv", "".join(mark.join(row) + "\n" for row in rows)))
    assert [(tag.field, tag.start, tag.end, tag.label, tag.text) for tag in page.tags] == EXPECTED
    assert other.tags == ()
    assert not problems.counts


def test_null_among_named_labels_is_a_label_that_is_not_there(tmp_path: Path) -> None:
    found, problems = spans_of(tmp_path, "ACME", {"brand": "ACME", "goods": None, "feature": []})
    assert found == [(0, 4, "brand", "ACME")]
    assert not problems


def test_an_empty_value_is_a_label_that_is_not_there(tmp_path: Path) -> None:
    for labels in ("brand=;goods=跑鞋", "brand=\ngoods=跑鞋", "brand= ；goods=跑鞋", {"brand": "", "goods": "跑鞋"}):
        found, _ = spans_of(tmp_path, "全新跑鞋", labels)
        assert found == [(2, 4, "goods", "跑鞋")]


# What is found


@pytest.mark.parametrize(
    ("title", "labels", "expected"),
    [
        ("跑鞋和跑鞋跑鞋", "goods=跑鞋", [(0, 2), (3, 5), (5, 7)]),
        ("ACME acme", "brand=ACME;brand=acme", [(0, 4), (5, 9)]),
        ("acme Shoes", "brand=ACME", [(0, 4)]),
        ("ＡＣＭＥ shoes", "brand=acme", [(0, 4)]),
        ("ACME shoes", "brand=ＡＣＭＥ", [(0, 4)]),
        ("ｶﾞｰｾﾞ ケット", "goods=ガーゼ", [(0, 5)]),
        ("50ml and 150ml", "size=50ml", [(0, 4)]),
        ("AC/DC (AC)", "x=AC", [(0, 2), (7, 9)]),
        ("C++ mug", "x=C++", [(0, 3)]),
        ("A.C. aXcX", "x=A.C.", [(0, 4)]),
        ("size=M shirt", "size=size=M", [(0, 6)]),
        ("Red Wing boots", "brand=Red Wing", [(0, 8)]),
        ("Crate, Barrel mug", "brand=Crate, Barrel", [(0, 13)]),
        ("Crate, Barrel mug", "brand=Crate, Barrel,goods=mug", [(0, 13), (14, 17)]),
        ("红、黑 two", "color=红、黑", [(0, 3)]),
        ("a;b c", "x=a;b", [(0, 3)]),
        ("A＝B mug", "brand=A＝B", [(0, 3)]),
        ("ACME鞋", "brand=ACME", [(0, 4)]),
        ("İ ACME", "brand=acme", [(2, 6)]),
        ("CRÈME crème", "x=Crème", [(0, 5), (6, 11)]),
        ("😀 ACME", "brand=ACME", [(2, 6)]),
    ],
)
def test_every_occurrence_is_found(tmp_path: Path, title: str, labels: str, expected: list[tuple[int, int]]) -> None:
    found, problems = spans_of(tmp_path, title, labels)
    assert [(start, end) for start, end, _, _ in found] == expected
    assert all(title[start:end] == text for start, end, _, text in found)
    assert not problems


@pytest.mark.parametrize(
    ("title", "term"),
    [
        ("ACMEX", "ACME"),
        ("XACME", "ACME"),
        ("acmex", "ACME"),
        ("ＡＣＭＥＸ", "ACME"),
        ("cafés", "café"),
        ("café", "caf"),
        ("ACME2", "ACME"),
    ],
)
def test_a_latin_term_is_not_found_inside_a_longer_word(tmp_path: Path, title: str, term: str) -> None:
    found, problems = spans_of(tmp_path, title, f"x={term}")
    assert found == []
    assert problems == {"not-found": 1}


def test_the_longest_term_wins_where_two_stand_at_one_place(tmp_path: Path) -> None:
    found, problems = spans_of(tmp_path, "全新跑鞋 鞋", "short=鞋;long=跑鞋")
    assert found == [(2, 4, "long", "跑鞋"), (5, 6, "short", "鞋")]
    assert not problems


@pytest.mark.parametrize(("title", "labels"), [("ACME", "brand=ACME;goods=ACME"), ("red shoe box", "a=red shoe;b=shoe box")])
def test_a_label_that_lost_every_place_to_another_is_listed(tmp_path: Path, title: str, labels: str) -> None:
    found, problems = spans_of(tmp_path, title, labels)
    assert len(found) == 1
    assert sum(problems.values()) == 1


def test_what_does_not_occur_is_listed_with_its_page(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,title,labels\n1,ACME shoe,brand=ACME;goods=跑鞋\n2,b,brand=Nobody\n")
    found, problems = read_with_problems(path)
    assert [len(page.tags) for page in found] == [1, 0]
    assert problems.counts == {"not-found": 2}
    assert [(problem.where, problem.page) for problem in problems.listed] == [(f"{path}:2", "1"), (f"{path}:3", "2")]
    assert "goods=跑鞋" in problems.listed[0].reason


@pytest.mark.parametrize("labels", ["goods=shoes,socks", "goods=shoes、socks", "goods=shoes; socks"])
def test_several_texts_behind_one_label_are_told_how_to_be_written(tmp_path: Path, labels: str) -> None:
    path = written(tmp_path / "a.jsonl", json.dumps({"title": "shoes and socks", "labels": labels}) + "\n")
    _, problems = read_with_problems(path)
    assert "goods=shoes;goods=socks" in problems.listed[0].reason
    assert problems.listed[0].where == f"{path}:1"


@pytest.mark.parametrize("labels", ["brand:ACME", "ACME", "brand->ACME; goods->shoes"])
def test_a_text_that_is_no_label_is_told_what_to_write(tmp_path: Path, labels: str) -> None:
    path = written(tmp_path / "a.jsonl", json.dumps({"title": "ACME shoes", "labels": labels}) + "\n")
    (page,), problems = read_with_problems(path)
    assert not page.labelled
    assert labels in problems.listed[0].reason
    assert "brand=ACME;goods=shoes" in problems.listed[0].reason


def test_reading_labels_takes_time_in_proportion_to_their_length() -> None:
    assert label_pairs("brand=A;" + " " * 200_000 + ";" * 200_000) == [("brand", "A")]
    assert label_pairs("a=b," * 50_000) == [("a", "b")] * 50_000


@pytest.mark.parametrize("value", ["ACME", "just words; and more", 5, None, [5], ["brand=A", 5], {"brand": 5}, {"brand": [5]}])
def test_what_is_no_list_of_labels_is_told(value: Any) -> None:
    assert label_pairs(value) is None


@given(text=texts(), term=plain_texts())
@settings(max_examples=100, deadline=None)
def test_occurrences_lie_inside_the_text_in_order_and_never_overlap(text: str, term: str) -> None:
    last = 0
    for start, end in occurrences(text, term):
        assert last <= start < end <= len(text)
        last = end


@given(
    before=st.text(st.sampled_from("全新。 "), max_size=5),
    term=plain_texts(),
    after=st.text(st.sampled_from("全新。 "), max_size=5),
)
@settings(max_examples=100, deadline=None)
def test_a_term_that_stands_in_the_text_is_found(before: str, term: str, after: str) -> None:
    assert any(start <= len(before) < end for start, end in occurrences(before + term + after, term))
