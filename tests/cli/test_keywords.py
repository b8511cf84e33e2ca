"""`batag keywords` and `batag evaluate --keywords` as a person meets them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.strategies import read_all

from batag.keywords import METHODS
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.sample.catalogue import sample_pages

Done = subprocess.CompletedProcess[str]
TEXT = "The waterproof hiking boot has a rubber sole. A hiking boot for wet rock."


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.jsonl"
    write_pages(sample_pages("zh-Hant", pages=30, style="paper"), path)
    return path


def records(done: Done) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def message(done: Done, code: int, *says: str) -> None:
    """One clear line, and nothing on standard output."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for each in says:
        assert each in done.stderr


def test_a_text_gets_keywords_and_tags(batag) -> None:
    (record,) = records(batag("keywords", "auto", TEXT, "--top", 3))
    assert len(record["keywords"]) == 3
    scores = [each["score"] for each in record["keywords"]]
    assert scores == sorted(scores, reverse=True)
    assert record["reviewed"] is False
    for tag in record["tags"]:
        assert (tag["label"], tag["source"]) == ("keyword", "model")
        assert tag["text"] == record["title"][tag["start"] : tag["end"]]


@pytest.mark.parametrize("method", [each for each in METHODS if each != "embedding"])
def test_every_process_gives_the_same_bytes(batag, shop: Path, method: str) -> None:
    first, second = (batag("keywords", method, shop, PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))
    assert first == second != ""


def test_a_file_alone_means_the_default_method(batag, shop: Path) -> None:
    assert records(batag("keywords", shop)) == records(batag("keywords", "auto", shop))


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.xlsx"])
def test_tables_have_a_column_of_plain_keywords(batag, shop: Path, tmp_path: Path, name: str) -> None:
    assert batag("keywords", "tfidf", shop, "-o", tmp_path / name).returncode == 0
    lines = records(batag("keywords", "tfidf", shop))
    expected = ["; ".join(each["text"] for each in line["keywords"]) for line in lines]
    assert [page.extra["keywords"] for page in read_all(tmp_path / name)] == expected


@pytest.mark.parametrize("name", ["out.csv", "out.xlsx", "out.jsonl.gz"])
def test_files_are_written_and_read_again(batag, shop: Path, tmp_path: Path, name: str) -> None:
    done = batag("keywords", "tfidf", shop, "-o", tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert "30 pages in" in done.stderr
    again: list[Page] = read_all(tmp_path / name)
    assert len(again) == 30
    assert all(
        tag.label == "keyword" and tag.text == page[tag.field][tag.start : tag.end] for page in again for tag in page.tags
    )
    assert all(page.tags and not page.reviewed for page in again)


def test_statistics_are_counted_once_and_used(batag, shop: Path, tmp_path: Path) -> None:
    done = batag("keywords", "fit", shop, "--out", tmp_path / "words.tsv", "--json")
    assert json.loads(done.stdout)["pages"] == 30
    with_file = records(batag("keywords", "tfidf", shop, "--statistics", tmp_path / "words.tsv"))
    assert with_file == records(batag("keywords", "tfidf", shop))


def test_lines_of_standard_input_are_texts(batag) -> None:
    found = records(batag("keywords", "yake", stdin=f"{TEXT}\n防水登山鞋 輕量透氣登山鞋\n"))
    assert [bool(each["keywords"]) for each in found] == [True, True]


def test_wrong_calls_are_one_clear_line(batag, shop: Path, tmp_path: Path) -> None:
    message(batag("keywords", "yaki", TEXT), 2, "'yaki' is not a method", "Did you mean 'yake'")
    message(batag("keywords", "fit", shop), 2, "fit needs files of pages and --out FILE")
    message(batag("keywords", "auto", TEXT, "--statistics", tmp_path / "none.tsv"), 1, "cannot be opened")
    (tmp_path / "bad.tsv").write_text("rubber 3\n", encoding="utf-8")
    message(batag("keywords", "auto", TEXT, "--statistics", tmp_path / "bad.tsv"), 1, "is no file of keyword statistics")
    message(batag("keywords", "yake", TEXT, "--statistics", tmp_path / "bad.tsv"), 2, "yake uses no statistics")
    message(batag("keywords", "yake", TEXT, "--backbone", tmp_path), 2, "--backbone is for the method embedding")
    message(batag("keywords", "embedding", TEXT), 2, "needs a model", "--backbone")
    message(batag("keywords", "auto", shop, "-o", shop), 2, "is both input and output")


def test_methods_and_lists_stand_in_one_table(batag, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "brands.txt").write_text("NORDVIK\n登山鞋\n", encoding="utf-8")
    done = batag("evaluate", "--keywords", "auto,rake", shop, "--terms", f"{tmp_path / 'brands.txt'}=brand", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["methods"]
    assert list(rows) == ["auto", "rake", "lists"]
    assert all(0 <= rows[name][kind]["10"]["f1"] <= 1 for name in rows for kind in ("texts", "spans"))
    assert rows["auto"]["texts"]["10"]["f1"] > 0
    table = batag("evaluate", "--keywords", "auto,rake", shop).stdout
    assert "F1@5" in table
    assert "F2@15" in table


def test_true_keywords_may_stand_in_a_column(batag, tmp_path: Path) -> None:
    rows = [{"id": "1", "title": TEXT, "keys": ["hiking boot"]}, {"id": "2", "title": "rubber sole", "keys": "rubber sole"}]
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    done = batag("evaluate", "--keywords", "tfidf", path, "--gold", "keys", "--json")
    (row,) = json.loads(done.stdout)["methods"].values()
    assert row["pages"] == 2
    assert row["texts"]["5"]["recall"] == 1
    message(batag("evaluate", "--keywords", "tfidf", path, "--gold", "kes"), 1, "no page has a list of keywords in 'kes'")


def test_evaluate_without_what_it_needs_is_one_clear_line(batag, shop: Path, tmp_path: Path) -> None:
    message(batag("evaluate", "--keywords", "yaki", shop), 2, "Did you mean 'yake'")
    message(batag("evaluate", "--keywords", "auto", tmp_path), 2, "there are no pages to score on")
    message(batag("evaluate", tmp_path), 2, "there are no pages to score on")
    message(batag("evaluate", tmp_path, shop, "--gold", "keys"), 2, "--gold is for --keywords")
    message(batag("evaluate", "--keywords", "auto", shop, "--chart", "x.png"), 2, "--chart does not go with --keywords")
