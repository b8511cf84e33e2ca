"""Taxonomies as others distribute them become one file of ours, or one clear line says why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.terms.categories import CATEGORIES, LANGUAGES, google_lines, path_of, shopify_files, shopify_lines, write

from batag.errors import InputError
from batag.settings import Settings
from batag.terms import limits
from batag.terms.sources import import_taxonomy
from batag.terms.taxonomy import read_taxonomy, write_taxonomy


def refused(call: Callable[[], object], *says: str) -> None:
    with pytest.raises(InputError) as raised:
        call()
    message = str(raised.value)
    assert "\n" not in message
    assert len(message) < 700
    assert all(each in message for each in says), message


# What works


def test_shopifys_files_in_four_languages_are_one_taxonomy(tmp_path: Path) -> None:
    found = import_taxonomy(shopify_files(tmp_path))
    assert (found.source, found.version, len(found)) == ("shopify", "2026-02", len(CATEGORIES))
    assert set(found.languages) == set(LANGUAGES)
    assert found.parents["aa-1-2"] == "aa-1"
    assert found.parents["aa"] == ""
    for language in LANGUAGES:
        assert found.path("aa-1-2", language) == path_of("aa-1-2", language)


def test_one_file_may_have_its_language_named(tmp_path: Path) -> None:
    (path,) = shopify_files(tmp_path, "ja")
    assert import_taxonomy([path], language="zh-Hant").languages == ("zh-Hant",)
    assert import_taxonomy([path]).languages == ("ja",)


def test_googles_file_keeps_its_numbers(tmp_path: Path) -> None:
    found = import_taxonomy([write(tmp_path / "taxonomy-with-ids.en-US.txt", google_lines(ids=True))])
    assert (found.source, found.version, found.languages, len(found)) == ("google", "2021-09-21", ("en",), len(CATEGORIES))
    assert found.path("103") == "Apparel & Accessories > Shoes > Hiking Boots"
    assert found.parents["103"] == "101"


def test_googles_file_without_numbers_has_paths_as_ids(tmp_path: Path) -> None:
    found = import_taxonomy([write(tmp_path / "taxonomy.en-US.txt", google_lines(ids=False))])
    assert found.source == "google"
    assert found.parents["Apparel & Accessories > Shoes"] == "Apparel & Accessories"


@pytest.mark.parametrize(
    ("lines", "id", "path"),
    [
        (["id,path", "7,Shoes", "8,Shoes > Boots"], "8", "Shoes > Boots"),
        (["path", "Shoes > Boots"], "Shoes > Boots", "Shoes > Boots"),
        (["path,id", '"Shoes > Boots, high",8'], "8", "Shoes > Boots, high"),
        (["id\tpath", "8\tShoes / Boots"], "8", "Shoes > Boots"),
        (["id;path", "8;Shoes › Boots"], "8", "Shoes > Boots"),
        (["編號,分類", "8,鞋類＞靴子"], "8", "鞋類 > 靴子"),
        (["id,level 1,level 2", "7,Shoes,", "8,Shoes,Boots"], "8", "Shoes > Boots"),
        (["id,path", "8,Shoes > Boots", "7,Shoes"], "8", "Shoes > Boots"),
        (["# ours", "", "id,path", "8,Shoes > Boots"], "8", "Shoes > Boots"),
        (["id,path", "8,Shoes > Boots\u2028and more"], "8", "Shoes > Boots and more"),
        (["Shoes,Boots"], "Shoes > Boots", "Shoes > Boots"),
    ],
)
def test_a_shops_own_table_is_read(tmp_path: Path, lines: list[str], id: str, path: str) -> None:
    found = import_taxonomy([write(tmp_path / "own.csv", lines)])
    assert found.source == "shop"
    assert found.path(id) == path
    if any("7," in line for line in lines):
        assert found.parents[id] == "7"


def test_a_written_taxonomy_is_read_again_as_it_was(tmp_path: Path) -> None:
    found = import_taxonomy(shopify_files(tmp_path))
    write_taxonomy(found, tmp_path / "ours.tsv")
    assert read_taxonomy(tmp_path / "ours.tsv") == found
    assert not list(tmp_path.glob("*.tmp"))


# What cannot be


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: [*lines[:6], lines[6][:20]], ["bad.txt:7", "not a category", "cut"]),
        (lambda lines: [*lines[:5], lines[5].partition(" > ")[0]], ["bad.txt:6", "not a category", "cut"]),
        (lambda lines: [*lines, lines[5]], ["bad.txt:16", "'aa-1-1' is there twice (line 6)"]),
        (lambda lines: [*lines[:4], *lines[5:]], ["bad.txt:5", "above 'aa-1-1' is not listed"]),
        (lambda lines: lines[:3], ["bad.txt", "no category"]),
        (lambda lines: [*lines[:4], lines[4].replace("Shoes", " ")], ["bad.txt:5"]),
    ],
    ids=["cut line", "cut path", "id twice", "parent missing", "nothing", "no name"],
)
def test_a_damaged_file_of_shopify_is_one_clear_line(
    tmp_path: Path, change: Callable[[list[str]], list[str]], says: list[str]
) -> None:
    path = write(tmp_path / "bad.txt", change(shopify_lines()))
    refused(lambda: import_taxonomy([path]), *says)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: [*lines[:6], "10"], ["bad.txt:7", "cut"]),
        (lambda lines: [*lines, "100 - Other"], ["bad.txt:14", "'100' is there twice (line 2)"]),
        (lambda lines: [*lines, "999 - Shoes > Boots"], ["bad.txt:14", "is not listed"]),
        (lambda lines: [*lines, "999 - Electronics"], ["bad.txt:14", "'Electronics' is there twice (line 11)"]),
        (lambda lines: [*lines, "999 - Electronics > "], ["bad.txt:14", "without a name"]),
    ],
    ids=["cut line", "id twice", "parent missing", "path twice", "no name"],
)
def test_a_damaged_file_of_google_is_one_clear_line(
    tmp_path: Path, change: Callable[[list[str]], list[str]], says: list[str]
) -> None:
    path = write(tmp_path / "bad.txt", change(google_lines(ids=True)))
    refused(lambda: import_taxonomy([path]), *says)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["id,path", "7,Shoes", "8"], ["bad.csv:3", "1 column instead of 2"]),
        (["id,path", "7,Shoes", "7,Hats"], ["bad.csv:3", "'7' is there twice"]),
        (["id,path", "7,Shoes", "8,Shoes"], ["bad.csv:3", "'Shoes' is there twice"]),
        (["id,path", "a|b,Shoes", "a/b,Hats"], ["bad.csv:3", "'a|b' (line 2) and 'a/b' differ only in"]),
        (["id,path", "a b,Shoes", "a  b,Hats"], ["bad.csv:3", "differ only in spaces"]),
        (["id,path", "?,Shoes"], ["bad.csv:2", "'?' has no letter or digit"]),
        (["id,path", "7,\x1b[31mShoes"], ["bad.csv:2", "a character that is no text"]),
        (["id,path", "\x1b7,Shoes"], ["bad.csv:2", "a character that is no text"]),
        (["id,path", "7,"], ["bad.csv:2", "no category"]),
        (["id,path", "7,Shoes >  > Boots"], ["bad.csv:2", "without a name"]),
        ([""], ["bad.csv", "no list of categories"]),
        (["", "# nothing"], ["bad.csv", "no category"]),
        (["id,path", "7,Shoes", "", '8,"Shoes > Boots', "9,Hats"], ["bad.csv:4", "quote that is not closed"]),
        (["id,path", '7,"Shoes"x'], ["bad.csv:2", "cannot be read as a table"]),
        (["id,path", "7," + "x" * 200_000], ["bad.csv:2", "a name of 200,000 characters"]),
        (["id,path", "7," + "x" * 600], ["bad.csv:2", "a name of 600 characters"]),
        (["id,path", "7," + " > ".join("x" * 20_000)], ["bad.csv:2", "a path of 20,000 levels"]),
        (["name,price", "shoe,3.50"], ["bad.csv:2", "no column is a path", "'3.50'", "column path"]),
        (["id,parent,name", "1,2,Shoes", "2,1,Boots"], ["bad.csv:1", "parents, without paths"]),
        (["id", "1", "2"], ["bad.csv:2", "no category"]),
        (['{"id": 1}'], ["bad.csv", "no table of categories"]),
        (["<html>", "<p>Shoes"], ["bad.csv", "no table of categories"]),
    ],
)
def test_a_damaged_table_of_a_shop_is_one_clear_line(tmp_path: Path, lines: list[str], says: list[str]) -> None:
    path = write(tmp_path / "bad.csv", lines)
    refused(lambda: import_taxonomy([path]), *says)


def test_files_of_two_versions_do_not_go_together(tmp_path: Path) -> None:
    first, _ = shopify_files(tmp_path, "en", "ja")
    other = write(tmp_path / "old" / "categories.txt", shopify_lines("ja", version="2024-07"))
    refused(lambda: import_taxonomy([first, other]), "old/categories.txt", "2024-07", "2026-02", "one version")


def test_a_file_that_lacks_categories_of_another_does_not_go_with_it(tmp_path: Path) -> None:
    first, _ = shopify_files(tmp_path, "en", "ja")
    other = write(tmp_path / "cut" / "categories.txt", shopify_lines("ja")[:-2])
    refused(lambda: import_taxonomy([first, other]), "cut/categories.txt", "lacks 2 ids", "'el-1'")


def test_files_with_other_ids_or_levels_do_not_go_together(tmp_path: Path) -> None:
    first, _ = shopify_files(tmp_path, "en", "ja")
    other = write(tmp_path / "new.txt", [line.replace("ha-3", "ha-4") for line in shopify_lines("ja")])
    refused(lambda: import_taxonomy([first, other]), "new.txt:12", "'ha-4'", "lacks ids such as 'ha-3'", "one version")
    english = write(tmp_path / "en.csv", ["id,path", "1,Shoes", "2,Shoes > Boots"])
    japanese = write(tmp_path / "ja.csv", ["id,path", "1,くつ", "2,ブーツ"])
    refused(lambda: import_taxonomy([english, japanese]), "ja.csv:3", "'2' has 1 level here, but 2 in", "one version")


def test_two_files_in_one_language_do_not_go_together(tmp_path: Path) -> None:
    first, _ = shopify_files(tmp_path, "en", "ja")
    other = write(tmp_path / "again.txt", shopify_lines())
    refused(lambda: import_taxonomy([first, other]), "again.txt", "in en")


def test_google_and_shopify_do_not_go_together(tmp_path: Path) -> None:
    (first,) = shopify_files(tmp_path, "en")
    other = write(tmp_path / "google.txt", google_lines(ids=True))
    refused(lambda: import_taxonomy([first, other]), "google.txt", "is google", "shopify 2026-02")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\0\1\2", b"PK\x03\x04\0\0", b"\x89PNG\r\n\x1a\n\0", b"# a\n\xff\xfe\n"])
def test_a_file_that_is_no_text_is_one_clear_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad").write_bytes(data)
    refused(lambda: import_taxonomy([tmp_path / "bad"]), str(tmp_path / "bad"))


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    refused(lambda: import_taxonomy([tmp_path / "none.txt"]), "none.txt", "cannot be read")
    refused(lambda: import_taxonomy([tmp_path]), "cannot be read")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = shopify_files(tmp_path, "en")
    monkeypatch.setattr(limits, "settings", Settings(max_terms_bytes=300))
    refused(lambda: import_taxonomy([path]), "too large", "300 bytes", "BATAG_MAX_TERMS_BYTES")
    refused(lambda: read_taxonomy(path), "too large")


# Files of ours


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace('"format": 1', '"format": 99'), ["another version", "format 99", "Import"]),
        (lambda text: text.replace('"keys": ', '"keys": 9'), ["another version", "Import"]),
        (lambda text: text[: len(text) // 2], ["instead of", "Import"]),
        (lambda text: text.replace("aa-1-1\taa-1\t", "aa-1-1 aa-1 "), ["ours.tsv:", "damaged"]),
        (lambda text: text.replace("aa-1-1\taa-1\t", "aa-1-1\tzz\t"), ["ours.tsv:", "damaged"]),
        (lambda text: text.replace("\naa-2\t", "\nha-1\t"), ["ours.tsv:", "damaged"]),
        (lambda text: text.replace('"categories": 12', '"categories": "12"'), ["no taxonomy"]),
        (lambda text: text[:-1], ["and a part of one instead of", "Import"]),
        (lambda text: text.replace("\t?el-2", "\tel-9").replace("\tel-2\n", "\tel-9\n"), ["ours.tsv:", "no category has"]),
        (lambda text: text.replace('"ja"]', "7]"), ["no taxonomy"]),
        (lambda text: "# batag taxonomy " + "[" * 100_000, ["no taxonomy"]),
        (lambda text: "id\tname\n1\tshoes\n", ["no taxonomy", "batag terms import"]),
        (lambda text: "", ["no taxonomy"]),
    ],
    ids=["format", "keys", "cut", "tabs", "parent", "twice", "count", "end", "id", "languages", "deep", "table", "empty"],
)
def test_a_damaged_taxonomy_file_is_one_clear_line(tmp_path: Path, change: Callable[[str], str], says: list[str]) -> None:
    path = tmp_path / "ours.tsv"
    write_taxonomy(import_taxonomy(shopify_files(tmp_path)), path)
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")
    refused(lambda: read_taxonomy(path), "ours.tsv", *says)


def test_other_line_ends_and_a_mark_at_the_start_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ours.tsv"
    taxonomy = import_taxonomy(shopify_files(tmp_path))
    write_taxonomy(taxonomy, path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_taxonomy(path) == taxonomy


def test_names_of_signs_alone_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "ours.tsv"
    write_taxonomy(import_taxonomy([write(tmp_path / "own.csv", ["id,path", "1,???"])]), path)
    assert read_taxonomy(path).path("1") == "???"
