"""A language is one row of one table: every part that has to know of languages reads that row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tiny import tiny_run

from batag.errors import UsageError
from batag.features.shipped import SHIPPED
from batag.pages.formats import read_pages
from batag.pages.given import join_tokens
from batag.pages.languages import LANGUAGES, Language, check_language, known_language
from batag.pages.page import Page, Tag
from batag.pages.stopwords import stop_words_by_language
from batag.segmentation import SEGMENTERS
from batag.segmentation.detection import possible_languages
from batag.segmentation.segmentation import Segmentation, language_of
from batag.tagging.tagger import Tagger
from batag.training.examples import label_words

SHOE, RED, FREE = "ᏚᎳᎾ", "ᎩᎦᎨ", "ᎠᏎᎢ"


@pytest.fixture
def cherokee(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A language that batag does not have, added as a row and nothing else."""
    words = tmp_path / "stop words.txt"
    words.write_text(f"# free\n{FREE}\n", encoding="utf-8")
    row = Language(
        name="chr",
        title="Cherokee",
        aliases="chr-us cherokee",
        spaces=True,
        segmenter="english",
        stop_words=words,
        letters="[\u13a0-\u13fd\uab70-\uabbf]",
    )
    monkeypatch.setitem(LANGUAGES, row.name, row)
    return row.name


@pytest.mark.parametrize("row", LANGUAGES.values(), ids=lambda row: row.name)
def test_every_row_names_things_that_exist(row: Language) -> None:
    assert row.segmenter in SEGMENTERS
    assert row.pretrained in (None, *SHIPPED)
    assert row.stop_words is not None
    assert row.stop_words.is_file()


def test_no_two_languages_share_a_name() -> None:
    names = [name for row in LANGUAGES.values() for name in (row.name.lower(), *row.aliases.split())]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("written", ["chr", "CHR_US", "Cherokee"])
def test_a_new_row_is_known_by_its_names(cherokee: str, written: str) -> None:
    assert known_language(written) == check_language(written) == cherokee


def test_an_unknown_language_is_an_error_that_lists_all(cherokee: str) -> None:
    with pytest.raises(UsageError, match=r"zh-Hant \(Traditional Chinese\), .* and chr \(Cherokee\)"):
        check_language("klingon")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (f"{RED} {SHOE} Nike Air Max", "chr"),
        ("red shoes for men", "en"),
        ("無線藍牙耳機", "zh-Hant"),
        (f"無線藍牙耳機 {RED[:1]}", "zh-Hant"),
        (f"Waterproof hiking boots for men and women {RED[:1]}", "en"),
    ],
)
def test_a_new_language_is_recognised_by_letters_of_its_own(cherokee: str, text: str, language: str) -> None:
    assert possible_languages(text)[0] == language


def test_a_text_that_may_be_in_any_language_may_be_in_the_new_one(cherokee: str) -> None:
    assert cherokee in possible_languages("TWS-900")


def test_pages_of_a_new_language_are_read_segmented_and_labelled(cherokee: str, tmp_path: Path) -> None:
    title = f"{RED} {SHOE}, {FREE}"
    record = {"id": "1", "title": title, "tags": [{"field": "title", "start": 4, "end": 7, "label": "goods"}]}
    path = tmp_path / "pages.jsonl"
    path.write_text(
        json.dumps(record) + "\n" + json.dumps(record | {"id": "2", "language": "Cherokee"}) + "\n", encoding="utf-8"
    )
    pages = list(read_pages(path))
    assert [(page.language, language_of(page)) for page in pages] == [(None, cherokee), (cherokee, cherokee)]
    assert [field.words for field in Segmentation()(pages[0])] == [[RED, SHOE, ",", FREE]]
    found = label_words(pages, Segmentation())
    assert found.class_tokens["goods"] == 2
    assert found.languages == {cherokee: 2}


def test_words_of_a_new_language_are_joined_as_its_row_says(cherokee: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert join_tokens([RED, SHOE], language=cherokee)[0] == f"{RED} {SHOE}"
    assert join_tokens(["紅", "鞋"], language="zh-Hant")[0] == "紅鞋"


def test_stop_words_of_a_new_language_are_never_a_tag(cherokee: str) -> None:
    judge = stop_words_by_language()[cherokee]
    assert judge.only_stop_words(FREE)
    assert not judge.only_stop_words(SHOE)


def test_a_bundle_tags_pages_of_a_language_that_came_later(cherokee: str) -> None:
    tagger = Tagger.load(tiny_run())
    tags = tagger.tag(Page("1", {"title": f"{RED} {SHOE} {FREE}"}))
    assert all(isinstance(tag, Tag) and tag.text != FREE for tag in tags)
