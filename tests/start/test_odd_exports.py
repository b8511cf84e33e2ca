from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from tests.conftest import Run
from tests.start.shops import BRANDS, COLUMNS, TITLES, base_bundle, write_table

from batag.errors import InputError
from batag.pages.problems import Problems
from batag.start.columns import guess_columns
from batag.start.lists import make_lists
from batag.start.survey import Rows, Survey, read_rows, survey_pages
from batag.start.table import read_table

ROWS = [(f"P{n}", title, brand, 100 + n) for n, (title, brand) in enumerate(zip(TITLES, BRANDS, strict=True))]


def surveyed(path: Path, *, given: dict[str, str] | None = None, most: int = 100) -> tuple[Survey, list[Any]]:
    """The survey of an export and its sample, as the first stages make them."""
    table = read_table(str(path))
    found = guess_columns(table, given)
    rows = Rows(
        path=table.path,
        format=table.format,
        columns=found.texts,
        brand=found.column("brand"),
        category=found.column("category"),
        encoding=table.encoding,
    )
    survey = Survey()
    return survey, survey_pages(read_rows(rows, problems=Problems(), survey=survey), survey, most=most)


def test_brands_that_are_ordinary_words_count_only_on_their_rows(tmp_path: Path) -> None:
    survey, sample = surveyed(write_table(tmp_path / "shop.csv", [COLUMNS, *ROWS]))
    sure = {term.text: term.sure for term in make_lists(survey, sample).of("brand") if term.source == "column"}
    assert [sure[name] for name in ("統一", "Champion", "大同", "象印", "Zowilan")] == [False, False, False, True, True]


def test_cp950_with_a_letter_of_the_extension_is_read_whole(tmp_path: Path) -> None:
    _, sample = surveyed(write_table(tmp_path / "shop.csv", [COLUMNS, *ROWS], encoding="cp950"))
    assert [page.fields["title"] for page in sample] == list(TITLES)


def test_without_a_brand_column_there_is_no_brand_of_a_row(tmp_path: Path) -> None:
    survey, sample = surveyed(write_table(tmp_path / "shop.csv", [COLUMNS, *ROWS]), given={"brand": "-"})
    assert len(sample) == 10
    assert not survey.brands


def test_half_empty_rows_are_counted_and_three_languages_are_told_apart(tmp_path: Path) -> None:
    rows = [
        ("1", "日立 三門冰箱 變頻", "日立"),
        ("2", "", ""),
        ("3", "パナソニックのドラム洗濯機", ""),
        ("4", "Levi's blue jeans for men", ""),
    ]
    survey, _ = surveyed(write_table(tmp_path / "shop.csv", [("id", "title", "brand"), *rows]))
    assert (survey.rows, survey.pages, survey.without_text) == (4, 3, 1)
    assert set(survey.languages) == {"zh-Hant", "ja", "en"}


def test_a_large_export_is_read_in_bounded_memory(tmp_path: Path) -> None:
    import tracemalloc

    peaks = []
    for times in (100, 800):
        rows = ((f"P{n}", f"{TITLES[n % 10]} {n} {'長文' * 100}", BRANDS[n % 10], n) for n in range(10 * times))
        export = write_table(tmp_path / f"{times}.csv", [COLUMNS, *rows])
        tracemalloc.start()
        survey, sample = surveyed(export, most=200)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert survey.rows == 10 * times
        assert len(sample) == 200
    assert peaks[1] < 1.5 * peaks[0] + 1_000_000


def test_columns_that_are_wrong_end_in_one_clear_line(batag: Run, tmp_path: Path) -> None:
    export = write_table(tmp_path / "shop.csv", [COLUMNS, *ROWS])
    done = batag("start", export, "--out", tmp_path / "shop", "--columns", "title=商品名")
    assert done.returncode == 1
    assert "Did you mean title=商品名稱?" in " ".join(done.stderr.split())
    assert not (tmp_path / "shop").exists()


@pytest.mark.long
def test_a_price_given_as_the_title_still_ends_in_tables_with_every_row(batag: Run, tmp_path: Path) -> None:
    export = write_table(tmp_path / "shop.csv", [COLUMNS, *ROWS])
    told = ("--out", tmp_path / "shop", "--from", base_bundle(), "--columns", "title=售價", "--json")
    done = batag("start", export, *told)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tagged"]["pages"] == 10


def test_the_encoding_of_a_long_export_is_guessed_wherever_its_beginning_is_cut(tmp_path: Path) -> None:
    for more in ("", "a", "ab"):
        path = write_table(
            tmp_path / "shop.csv",
            [COLUMNS, *((more, "狗屋由設計師操刀", "汪喵星球", 1) for _ in range(2_000))],
            encoding="big5",
        )
        table = read_table(str(path))
        assert (table.encoding, table.guessed, table.rows[0]["品牌"]) == ("cp950", True, "汪喵星球")


@pytest.mark.parametrize(
    "lines",
    [
        ["好物商店 商品清單 2026", "商品編號,商品名稱,品牌", "1,日立 冰箱,日立"],
        ["好物商店 商品清單 2026,,", "商品編號,商品名稱,品牌", "1,日立 冰箱,日立"],
        ["好物商店", "", "商品編號\t商品名稱\t品牌", "1\t日立 冰箱\t日立"],
    ],
)
def test_a_title_above_the_names_of_the_columns_is_told(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="begins with a row that does not look like names of columns") as error:
        read_table(str(path))
    assert "Delete the rows above" in str(error.value)


def test_empty_rows_above_the_names_of_the_columns_do_not_matter(tmp_path: Path) -> None:
    book = Workbook()
    for row in ((None, None), ("", None), ("商品名稱", "品牌"), ("日立 冰箱", "日立")):
        book.active.append(row)
    book.save(tmp_path / "shop.xlsx")
    table = read_table(str(tmp_path / "shop.xlsx"))
    assert table.names == ("商品名稱", "品牌")
    assert table.rows == ({"商品名稱": "日立 冰箱", "品牌": "日立"},)


def test_a_first_row_with_a_column_that_the_user_has_named_is_not_doubted(tmp_path: Path) -> None:
    path = write_table(
        tmp_path / "shop.csv", [("t1", "t2"), ("Tags, brand, color and size", "1"), ("Laptop, brand, color", "2")]
    )
    with pytest.raises(InputError, match="name one: --columns title=NAME"):
        read_table(str(path))
    assert read_table(str(path), columns=["t1"]).names == ("t1", "t2")


@pytest.mark.parametrize("name", ["shop.xls", "shop.txt"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp950", "utf-16"])
@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_table_in_text_is_read_whatever_it_is_called(tmp_path: Path, name: str, encoding: str, separator: str) -> None:
    rows = [COLUMNS, *ROWS]
    (tmp_path / name).write_text("".join(separator.join(map(str, row)) + "\n" for row in rows), encoding=encoding)
    table = read_table(str(tmp_path / name))
    assert table.names == COLUMNS
    assert table.column("商品名稱") == list(TITLES)
    _, sample = surveyed(tmp_path / name)
    assert len(sample) == len(TITLES)
