"""The top tags of a page: one per canonical form, title first, the longest kept, ordered by score, rarity and place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import read_all, written
from tests.tagging.test_canonical import bundle  # noqa: F401
from tests.tiny import typed

import batag
from batag.errors import UsageError
from batag.pages.page import MODEL, PERSON, Tag
from batag.tagging.top import top


def tag(
    text: str,
    canonical: str | None,
    *,
    score: float = 0.9,
    at: int = 0,
    field: str = "title",
    label: str = "goods",
    source: str = MODEL,
) -> Tag:
    return Tag(field, at, at + len(text), label, text, score, text, source, canonical)


def texts(tags: list[Tag], number: int = 5, **more: Any) -> list[str]:
    return [each.text for each in top(tags, number, **more)]


def test_one_tag_is_kept_of_each_canonical_form() -> None:
    tags = [tag("冰箱", "refrigerator"), tag("冷蔵庫", "refrigerator", at=5), tag("日立", "HITACHI", at=9, label="brand")]
    assert len(texts(tags)) == 2


def test_the_one_in_the_title_is_kept_and_then_the_longest() -> None:
    long = tag("refrigerators", "refrigerator", field="description")
    assert texts([long, tag("冰箱", "refrigerator", at=20)]) == ["冰箱"]
    assert texts([long, tag("冰箱", "refrigerator", at=20, field="description")]) == ["refrigerators"]
    assert texts([tag("冰箱", "refrigerator", field="bullets"), tag("fridge", "refrigerator", field="title")]) == ["fridge"]


def test_a_tag_inside_of_a_longer_one_of_its_label_goes() -> None:
    tags = [tag("登山鞋", "hiking shoes"), tag("防水登山鞋", "防水登山鞋", at=9), tag("登山", "登山", at=20, label="feature")]
    assert set(texts(tags)) == {"防水登山鞋", "登山"}


def test_the_surest_come_first_then_the_rarest_then_the_first() -> None:
    tags = [tag("aa", "aa", at=0, score=0.5), tag("bb", "bb", at=3, score=0.91), tag("cc", "cc", at=6, score=0.92)]
    assert texts(tags) == ["bb", "cc", "aa"]
    assert texts(tags, counts={"bb": 10, "cc": 2, "aa": 1}) == ["cc", "bb", "aa"]
    body = tag("dd", "dd", field="description", score=0.9)
    assert texts([body, *tags]) == ["bb", "cc", "dd", "aa"]


def test_a_form_is_as_sure_as_its_surest_tag() -> None:
    tags = [tag("aa", "aa", score=0.3), tag("bb", "bb", at=3, score=0.6), tag("aa", "aa", at=6, score=0.9, field="description")]
    assert texts(tags) == ["aa", "bb"]


def test_words_of_advertising_are_left_out_but_tags_of_people_stay() -> None:
    assert texts([tag("免運", None), tag("冰箱", "refrigerator", at=3)]) == ["冰箱"]
    assert [each.text for each in batag.top([Tag("title", 0, 2, "goods", "冰箱")], 3)] == ["冰箱"]
    assert texts([tag("福袋", None, score=1.0, source=PERSON)]) == ["福袋"]


@pytest.mark.parametrize("number", [0, -1, 2.5, True, "3"])
def test_the_number_must_be_a_whole_number_above_0(number: Any) -> None:
    with pytest.raises(UsageError, match="whole number above 0"):
        top([], number)


forms = st.sampled_from(["aa", "bb", "aabb", "ccc", None])
tags = st.builds(
    tag,
    st.sampled_from(["aa", "aabb", "冰箱", "ccc", "d"]),
    forms,
    score=st.floats(0, 1),
    at=st.integers(0, 50),
    field=st.sampled_from(["title", "description"]),
    label=st.sampled_from(["goods", "brand"]),
)


@given(st.lists(tags, max_size=12), st.integers(1, 6))
def test_top_tags_are_some_of_the_tags_and_no_form_is_there_twice(listed: list[Tag], number: int) -> None:
    found = top(listed, number)
    assert len(found) <= number
    assert all(each in listed for each in found)
    assert len({(each.label, each.canonical) for each in found}) == len(found)
    assert found == top(listed, len(listed) + 1)[:number]


# On the command line


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "xlsx"])
def test_top_keeps_one_tag_per_canonical_form_in_files(bundle: Path, tmp_path: Path, format: str, number: int) -> None:  # noqa: F811
    lines = [{"title": "日立 x 冰箱", "description": "HITACHI x refrigerators x 冰箱"}, {"title": "nothing"}]
    pages = written(tmp_path / "pages.jsonl", "".join(json.dumps(each) + "\n" for each in lines))
    out = tmp_path / f"tagged.{format}"
    done = typed("tag", bundle, pages, "--out", out, "--top", number, "--workers", "1")
    assert done.returncode == 0, done.stderr
    first, second = read_all(out)
    assert second.tags == ()
    assert len(first.tags) == number
    assert {(each.field, each.text) for each in first.tags} <= {("title", "日立"), ("title", "冰箱")}


def test_top_keeps_one_tag_per_canonical_form_of_a_text(bundle: Path) -> None:  # noqa: F811
    done = typed("tag", bundle, "日立 x HITACHI x 冰箱 x refrigerators", "--json", "--top", "5")
    assert sorted(each["canonical"] for each in json.loads(done.stdout)["tags"]) == ["HITACHI", "refrigerator"]
    everything = json.loads(typed("tag", bundle, "日立 x HITACHI x 冰箱 x refrigerators", "--json").stdout)
    assert len(everything["tags"]) == 4


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_a_wrong_number_is_wrong_usage(bundle: Path, number: str) -> None:  # noqa: F811
    done = typed("tag", bundle, "日立", "--top", number)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--top" in done.stderr
