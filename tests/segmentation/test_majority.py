"""Short pages that do not tell their language are read like most pages of their file, and the commands print how many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.strategies import written
from tests.tiny import make_bundle, typed

from batag.segmentation import majority
from batag.segmentation.detection import possible_languages
from batag.segmentation.majority import read_with_language
from batag.segmentation.segmentation import language_of
from batag.settings import Settings

SIMPLIFIED = ["红色连衣裙", "男士运动鞋", "儿童雨衣"]
TRADITIONAL = ["紅色連衣裙", "男士運動鞋", "兒童雨衣"]
JAPANESE = ["こどもの雨具", "コーヒー豆 深煎り", "ゲーミングチェア"]
ENGLISH = ["Wooden dining table with four chairs", "Kids raincoat with yellow ducks", "Stainless steel water bottle"]


def read(tmp_path: Path, titles: list[str], **reading: str) -> dict[str, str]:
    """The language of each title of a file."""
    path = written(tmp_path / "a.jsonl", "".join(json.dumps({"title": title}) + "\n" for title in titles))
    return {page["title"]: language_of(page) for page in read_with_language(path, **reading)}


@pytest.mark.parametrize(
    ("clear", "language"), [(SIMPLIFIED, "zh-Hans"), (TRADITIONAL, "zh-Hant"), (JAPANESE, "ja"), (ENGLISH, "en")]
)
@pytest.mark.parametrize("unclear", ["NIKE", "M61519FP", "2024", "Air Max 90", "T-100"])
def test_names_and_numbers_are_read_like_the_rest(tmp_path: Path, clear: list[str], language: str, unclear: str) -> None:
    assert read(tmp_path, [unclear, *clear])[unclear] == language


@pytest.mark.parametrize(("clear", "language"), [(SIMPLIFIED, "zh-Hans"), (TRADITIONAL, "zh-Hant"), (JAPANESE, "ja")])
@pytest.mark.parametrize(
    "unclear", ["外套", "玉米", "T恤", "牛皮女包", "珍珠奶茶 大杯", "自制彩虹瓶", "Tissot PR100 Automatic Watch 手表"]
)
def test_han_characters_that_all_share_are_read_like_the_rest(
    tmp_path: Path, clear: list[str], language: str, unclear: str
) -> None:
    assert read(tmp_path, [unclear, *clear])[unclear] == language


def test_pages_that_tell_keep_their_language(tmp_path: Path) -> None:
    found = read(tmp_path, [*SIMPLIFIED * 5, TRADITIONAL[0], JAPANESE[0], ENGLISH[0]])
    assert (found[TRADITIONAL[0]], found[JAPANESE[0]], found[ENGLISH[0]]) == ("zh-Hant", "ja", "en")


def test_characters_of_one_script_are_not_read_in_another(tmp_path: Path) -> None:
    assert read(tmp_path, ["日本の匠 紅茶", *SIMPLIFIED])["日本の匠 紅茶"] == "zh-Hant"
    assert read(tmp_path, ["台灣製 床包", *SIMPLIFIED])["台灣製 床包"] == "zh-Hant"
    assert read(tmp_path, ["卫衣", *JAPANESE])["卫衣"] == "zh-Hans"
    assert read(tmp_path, ["専門は商法", *JAPANESE])["専門は商法"] == "ja"


def test_a_file_without_a_majority_leaves_each_page_to_its_own_guess(tmp_path: Path) -> None:
    assert read(tmp_path, ["外套", "NIKE", SIMPLIFIED[0], JAPANESE[0]])["外套"] == "zh-Hant"
    assert read(tmp_path, ["外套", "NIKE"]) == {"外套": "zh-Hant", "NIKE": "en"}


def test_a_language_that_is_given_is_the_language(tmp_path: Path) -> None:
    assert set(read(tmp_path, ["外套", *SIMPLIFIED], language="ja").values()) == {"ja"}
    lines = ['{"title": "外套", "language": "ja"}', '{"title": "外套"}', '{"title": "连衣裙"}', '{"title": "雨衣 儿童"}']
    path = written(tmp_path / "b.jsonl", "\n".join(lines) + "\n")
    assert [language_of(page) for page in read_with_language(path)] == ["ja", "zh-Hans", "zh-Hans", "zh-Hans"]


def test_a_page_that_may_be_in_two_languages_counts_for_the_likelier_one(tmp_path: Path) -> None:
    assert read(tmp_path, ["外套", "紅茶", "連衣裙", "運動鞋", JAPANESE[0]])["外套"] == "zh-Hant"


def test_the_beginning_of_the_file_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(majority, "HEAD_PAGES", 3)
    assert read(tmp_path, [*SIMPLIFIED, *TRADITIONAL, *TRADITIONAL[:1], "外套"])["外套"] == "zh-Hans"
    monkeypatch.setattr(majority, "HEAD_PAGES", 100)
    monkeypatch.setattr(majority, "settings", Settings(sniff_bytes=6))
    assert read(tmp_path, [*SIMPLIFIED, *TRADITIONAL, *TRADITIONAL[:1], "外套"])["外套"] == "zh-Hans"


def test_pages_come_once_and_in_order_and_keep_what_they_are(tmp_path: Path) -> None:
    titles = [f"{title} {number}" for number, title in enumerate([*SIMPLIFIED, "外套"] * 50)]
    path = written(tmp_path / "a.jsonl", "".join(json.dumps({"title": title}) + "\n" for title in titles))
    pages = list(read_with_language(path))
    assert [page["title"] for page in pages] == titles
    assert {page.language for page in pages} == {None}


def test_characters_that_languages_share_may_be_in_each_of_them() -> None:
    assert possible_languages("卫衣") == ("zh-Hans",)
    assert possible_languages("外套") == ("zh-Hant", "zh-Hans", "ja")


def test_every_command_that_reads_a_file_says_how_many_pages_are_read_like_the_rest(tmp_path: Path) -> None:
    tags: list[object] = []
    lines = (json.dumps({"title": title, "tags": tags}) + "\n" for title in ("NIKE", *JAPANESE))
    pages, terms = written(tmp_path / "pages.jsonl", "".join(lines)), written(tmp_path / "terms.txt", "NIKE\n")
    bundle = make_bundle(tmp_path / "bundle")
    commands: list[tuple[object, ...]] = [
        ("segment", pages),
        ("weak", pages, "--terms", f"{terms}=brand", "--out", tmp_path / "weak.jsonl"),
        ("evaluate", bundle, pages),
        ("tag", bundle, pages),
        ("tag", bundle, pages, "--out", tmp_path / "tagged.jsonl"),
    ]
    for command in commands:
        done = typed(*command)
        assert done.returncode == 0, done.stderr
        message = " ".join(done.stderr.split())
        assert (
            message.count("1 page without a clear language, read as ja like most of the file (--language sets it for all)") == 1
        )
