"""The shop's export of the sample: the columns that shops have, read back by batag; no labels; no file is overwritten."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter, defaultdict
from functools import cache

import pytest

from batag.errors import InputError, UsageError
from batag.pages.formats import read_pages
from batag.pages.page import Page
from batag.sample import sample_pages, write_export
from batag.sample.shops import LANGUAGES
from batag.sample.shops.ledger import read_table
from batag.sample.shops.rules import read_groups

HEADERS = {
    "zh-Hant": ["商品編號", "商品名稱", "商品描述", "品牌", "分類", "售價"],
    "zh-Hans": ["商品编号", "商品名称", "商品描述", "品牌", "分类", "售价"],
    "ja": ["商品番号", "商品名", "商品説明", "ブランド", "カテゴリ", "価格"],
    "en": ["SKU", "Title", "Description", "Brand", "Category", "Price"],
}
every_language = pytest.mark.parametrize("language", LANGUAGES)


@cache
def pages_of(language: str) -> tuple[Page, ...]:
    return tuple(sample_pages(language, pages=500))


@every_language
def test_batag_reads_the_rows_back_as_the_pages_with_their_columns_and_without_labels(language, tmp_path):
    path = tmp_path / "shop.csv"
    assert write_export(pages_of(language), path, language=language) == 500
    assert path.read_bytes().startswith(codecs.BOM_UTF8)
    number, title, description, *others = HEADERS[language]
    found = list(read_pages(path, columns={"id": number, "title": title, "description": description}))
    assert len(found) == 500
    for page, read in zip(pages_of(language), found, strict=True):
        assert read["title"] == page["title"]
        assert read.fields.get("description", "") == page.fields.get("description", "")
        assert read.id == page.extra["sku"]
        assert {name: read.extra[name] or "" for name in others} == dict(
            zip(others, (page.extra[key] for key in ("brand", "category", "price")), strict=True)
        )
        assert not read.labelled


@every_language
def test_the_columns_have_the_names_of_shops_of_that_language_and_every_row_all_cells(language, tmp_path):
    write_export(pages_of(language), tmp_path / "shop.csv", language=language)
    with open(tmp_path / "shop.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == HEADERS[language]
    assert {len(row) for row in rows} == {6}
    assert len({row[0] for row in rows}) == 500
    assert all(re.fullmatch(r"\d+(\.\d+)?", row[5]) and float(row[5]) > 0 for row in rows)


@every_language
def test_most_rows_name_the_brand_of_the_page_and_some_none_or_other(language):
    table = read_table()
    none = {"", *table["no_brand"][language]}
    values = Counter(page.extra["brand"] for page in pages_of(language))
    assert 0.08 < sum(values[value] for value in none) / 500 < 0.3
    assert values[""] > 10
    assert any(values[value] for value in none - {""})
    given = [page for page in pages_of(language) if page.extra["brand"] not in none]
    written = [
        any(tag.label == "brand" and tag.text.lower() in page.extra["brand"].lower() for tag in page.tags) for page in given
    ]
    # The others write it in another script only, or not at all.
    assert sum(written) / len(written) > 0.5


@pytest.mark.parametrize("language", ["zh-Hant", "zh-Hans", "ja"])
def test_the_column_has_both_scripts_one_in_brackets_or_only_one(language):
    two = [page.extra["brand"] for page in pages_of(language) if re.search("[A-Za-z]", page.extra["brand"])]
    two = [brand for brand in two if not brand.isascii()]
    assert any(re.search(r"[(（]", brand) for brand in two)
    assert any(not re.search(r"[(（/]", brand) for brand in two)
    assert 0.05 < len(two) / 500 < 0.7


@every_language
def test_a_brand_is_written_in_one_way_in_the_whole_column(language):
    ways = defaultdict(set)
    for page in pages_of(language):
        for part in re.split(r"[()（）/]|(?<=[a-z]) (?=[^ -~])", page.extra["brand"]):
            if len(part.strip()) > 3:
                ways[part.strip().lower()].add(page.extra["brand"])
    assert sum(len(each) > 1 for each in ways.values()) < 0.05 * len(ways)


@every_language
def test_the_category_is_a_path_that_often_ends_in_goods_of_the_page(language):
    paths = [page.extra["category"] for page in pages_of(language)]
    assert all(path and not path.endswith(">") for path in paths)
    assert sum(" > " in path for path in paths) > 0.7 * 500
    leaves = [path.rpartition(" > ")[2].lower() for path in paths]
    texts = ["\n".join(page.fields.values()).lower() for page in pages_of(language)]
    assert sum(leaf in text for leaf, text in zip(leaves, texts, strict=True)) > 0.3 * 500


def test_every_group_of_goods_has_a_category_in_every_language_and_a_price():
    rows = read_table()["group"]
    assert set(rows) == set(read_groups().rows)
    for row in rows.values():
        assert set(row) == {"price", *LANGUAGES}
        assert 0 < row["price"][0] < row["price"][1]


def test_an_export_that_exists_is_refused_and_left_alone(batag, tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="exists already"):
        write_export(pages_of("en"), path, language="en")
    done = batag("sample", "--pages", 3, "--export", path, "--out", tmp_path / "pages.jsonl")
    assert done.returncode == 1
    assert "exists already" in done.stderr
    assert path.read_text(encoding="utf-8") == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["shop.csv"]


def test_an_export_that_breaks_off_leaves_no_file(tmp_path):
    def broken():
        yield from pages_of("en")[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_export(broken(), tmp_path / "shop.csv", language="en")
    assert not list(tmp_path.iterdir())


def test_the_command_writes_the_export_alone_or_beside_the_labelled_pages_and_the_same_for_a_seed(batag, tmp_path):
    first = batag("sample", "--pages", 9, "--language", "ja", "--seed", 3, "--export", tmp_path / "a.csv")
    assert first.returncode == 0
    assert first.stdout == ""
    labelled = tmp_path / "b.jsonl"
    batag("sample", "--pages", 9, "--language", "ja", "--seed", 3, "--export", tmp_path / "b.csv", "-o", labelled)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    pages = list(read_pages(labelled))
    assert [page["title"] for page in pages] == [page["title"] for page in sample_pages("ja", pages=9, seed=3)]
    with open(tmp_path / "a.csv", encoding="utf-8-sig", newline="") as file:
        assert [row["商品番号"] for row in csv.DictReader(file)] == [page.extra["sku"] for page in pages]


def test_the_papers_shops_have_no_export_and_an_export_is_a_csv(batag, tmp_path):
    done = batag("sample", "--style", "paper", "--export", tmp_path / "shop.csv")
    assert done.returncode == 2
    assert "--style shops" in done.stderr
    with pytest.raises(UsageError, match="csv"):
        write_export(pages_of("en"), tmp_path / "shop.xlsx", language="en")
    assert not list(tmp_path.iterdir())
