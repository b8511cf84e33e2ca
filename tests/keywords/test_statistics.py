"""The statistics of a corpus: counted in one pass and bounded memory, written whole, read with every line checked."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from batag.errors import InputError
from batag.keywords import build_extractor, statistics
from batag.keywords.document import documents
from batag.keywords.statistics import Statistics
from batag.pages.page import Page
from batag.segmentation.segmentation import Segmentation
from batag.settings import Settings

TEXTS = ("rubber sole", "rubber boot", "a rubber band")


def counted(*texts: str, language: str = "en") -> Statistics:
    pages = (Page(str(number), {"title": text}, language=language) for number, text in enumerate(texts))
    return Statistics().fit(documents(pages, Segmentation()))


@pytest.fixture
def few_entries(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(statistics, "settings", replace(Settings(), keyword_entries=100))
    return 100


def test_words_and_phrases_are_counted_once_a_page() -> None:
    found = counted(*TEXTS, "rubber, rubber, rubber")
    assert found.pages == 4
    assert found.document_frequency("rubber", language="en") == 4
    assert found.document_frequency("rubber sole", language="en") == 1
    assert found.document_frequency("wool", language="en") == 0
    assert found.mean_length("en") == pytest.approx((2 + 2 + 3 + 3) / 4)


def test_languages_are_counted_apart() -> None:
    found = counted(*TEXTS)
    found.fit(documents([Page("1", {"title": "rubber 登山鞋"}, language="zh-Hant")], Segmentation()))
    assert found.document_frequency("rubber", language="zh-Hant") == 1
    assert found.document_frequency("rubber", language="en") == 3


def test_memory_stays_bounded_however_many_words_there_are(few_entries: int) -> None:
    found, most = Statistics(), 0
    pages = (Page(str(n), {"title": f"rubber sole, unseen{n}x lining"}, language="en") for n in range(2_000))
    for document in documents(pages, Segmentation()):
        found.add(document)
        most = max(most, found.entries)
    assert most <= few_entries + 10
    assert found.pages == 2_000
    floor = found.languages["en"].floor
    assert 0 < floor < 100
    assert 2_000 - floor <= found.document_frequency("rubber", language="en") <= 2_000
    assert found.document_frequency("unseen1999y", language="en") == floor


@pytest.mark.parametrize("name", ["words.tsv", "words.tsv.gz", "words.tsv.zst"])
def test_what_is_saved_is_loaded_and_gives_the_same_keywords(tmp_path: Path, name: str) -> None:
    found = counted(*TEXTS).fit(documents([Page("1", {"title": "防水登山鞋"}, language="zh-Hant")], Segmentation()))
    found.save(tmp_path / name)
    again = Statistics.load(tmp_path / name)
    assert again.languages == found.languages
    page = Page("1", {"title": "rubber sole of a boot"}, language="en")
    for method in ("auto", "tfidf", "bm25"):
        assert build_extractor(method, statistics=again).extract(page) == build_extractor(method, statistics=found).extract(
            page
        )


def test_the_same_corpus_gives_the_same_bytes(tmp_path: Path) -> None:
    counted(*TEXTS).save(tmp_path / "a")
    counted(*TEXTS[::-1]).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "words.tsv"
    counted(*TEXTS).save(path)
    before = path.read_bytes()
    bad = counted(*TEXTS)
    bad.languages["en"].counts["\ud800"] = 1
    with pytest.raises(UnicodeEncodeError):
        bad.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["words.tsv"]


HEAD = '{"format": "batag keyword statistics 1", "language": "en", "pages": 3, "words": 7, "floor": 0, "entries": 2}\n'


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b"rubber\t3\n", ":1: is no file of keyword statistics"),
        (b"[" * 3_000 + b"\n", "is not the head of a language"),
        (b"\xff\xfe\x00\n", "it is not UTF-8 text"),
        (HEAD.encode(), "the file ends early"),
        (HEAD.encode() + b"3\trubber\n", "the file ends early"),
        (HEAD.encode() + b"3\trubber\nsole\t1\n", ":3: is no file of keyword statistics: 'sole\\t1' is not a count"),
        (HEAD.encode() + b"4\trubber\n1\tsole\n", "is not a count and a word"),
        (HEAD.encode() + b"3\trubber\n1\tsole", "a line is cut or too long"),
        (HEAD.encode() + b"3\trubber\n1\t" + b"x" * 5_000 + b"\n", "a line is cut or too long"),
        (HEAD.replace('"en"', '"xx"').encode(), "is not the head of a language"),
        (HEAD.replace(": 3", ": -3").encode(), "is not the head of a language"),
        (HEAD.replace('entries": 2', 'entries": 9000000').encode(), "9,000,000 entries are more than keyword_entries"),
        (2 * (HEAD.encode() + b"3\trubber\n1\tsole\n"), "the language en is there twice"),
        (gzip.compress(HEAD.encode() * 50, mtime=0)[:60], "it cannot be read"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "words.tsv"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        Statistics.load(path)
    assert says in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
