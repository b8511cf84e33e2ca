from __future__ import annotations

from pathlib import Path

import pytest
from tests.start.shops import BRANDS, COLUMNS, TITLES, write_table

from batag.errors import InputError, UsageError
from batag.start.columns import Columns, guess_columns
from batag.start.headers import EXPORTS
from batag.start.table import read_table

ROWS = [(n, title, brand, f"https://shop.example/{n}.jpg") for n, (title, brand) in enumerate(zip(TITLES, BRANDS, strict=True))]


def guessed(folder: Path, header: tuple[str, ...], rows: list[tuple[object, ...]], **given: str) -> Columns:
    return guess_columns(read_table(str(write_table(folder / "shop.csv", [header, *rows]))), given)


def fields(columns: Columns) -> dict[str, str]:
    return {each.field: each.name for each in columns.columns if each.field}


def test_columns_are_told_by_their_names_in_three_languages(tmp_path: Path) -> None:
    for header in (COLUMNS, ("商品コード", "商品名", "ブランド", "価格"), ("product_id", "product_name", "vendor", "price")):
        found = guessed(tmp_path, header, [(*row[:3], 100) for row in ROWS])
        assert fields(found) == dict(zip(("id", "title", "brand"), header, strict=False))
        assert found.columns[-1].holds == "price"


def test_columns_with_names_that_say_nothing_are_told_by_what_stands_in_them(tmp_path: Path) -> None:
    found = guessed(tmp_path, ("a", "b", "c", "d"), ROWS)
    assert fields(found) == {"id": "a", "title": "b", "brand": "c"}
    assert len(found.columns[1].examples) == 3


def test_a_stock_number_names_a_page_where_nothing_else_does_and_none_comes_twice(tmp_path: Path) -> None:
    header = ("SKU", "title", "brand", "image")
    assert fields(guessed(tmp_path, header, ROWS))["id"] == "SKU"
    assert "id" not in fields(guessed(tmp_path, header, [("S-1", *row[1:]) for row in ROWS]))
    assert fields(guessed(tmp_path, ("SKU", "title", "brand", "product_id"), [(*row[:3], row[0]) for row in ROWS]))["id"] == (
        "product_id"
    )


def test_what_is_given_wins_and_a_dash_means_none(tmp_path: Path) -> None:
    assert fields(guessed(tmp_path, ("a", "b", "c", "d"), ROWS, brand="-")) == {"id": "a", "title": "b"}
    assert fields(guessed(tmp_path, ("a", "b", "c", "d"), ROWS, title="c", brand="b"))["title"] == "c"


@pytest.mark.parametrize("kind", sorted(EXPORTS))
def test_the_exports_of_known_shop_systems_are_known_as_they_are(kind: str, tmp_path: Path) -> None:
    known = EXPORTS[kind]
    texts = {
        "title": "日立 三門冰箱",
        "description": "省電又安靜的三門冰箱，適合小家庭使用",
        "brand": "日立",
        "category": "家電 > 冰箱",
        "id": "X-1",
    }
    rows: list[tuple[object, ...]] = [tuple(f"{texts.get(field, '1')}" for field in known.values())]
    found = guessed(tmp_path, tuple(known), rows)
    assert found.export == kind
    assert fields(found)["title"] == next(name for name, field in known.items() if field == "title")


def test_a_column_that_is_not_there_names_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no column '商品名'.*Did you mean title=商品名稱"):
        guessed(tmp_path, COLUMNS, [(*row[:3], 1) for row in ROWS], title="商品名")
    with pytest.raises(InputError, match=r"has no column 'brand' \(for 品牌\)\. The field comes first: brand=品牌\."):
        guessed(tmp_path, COLUMNS, [(*row[:3], 1) for row in ROWS], 品牌="brand")
    with pytest.raises(UsageError, match="tilte is no field"):
        guessed(tmp_path, COLUMNS, [(*row[:3], 1) for row in ROWS], tilte="商品名稱")


def test_a_file_without_names_of_columns_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="begins with a product, not with the names of its columns"):
        guessed(tmp_path, ("日立 HITACHI 570L 變頻三門冰箱", "日立", "100"), [(*row[1:3], 100) for row in ROWS])


def test_a_file_without_a_text_is_an_error_that_names_its_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no column that looks like the names of products.*the columns are a, b"):
        guessed(tmp_path, ("a", "b"), [(n, 2 * n) for n in range(10)])


def test_a_sheet_with_a_title_above_its_column_names_is_an_error_that_says_so(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["2024 商品總表"], [], ["商品編號", "商品名稱", "品牌"], *([n, title, brand] for n, title, brand, _ in ROWS)):
        book.active.append(row)
    book.save(tmp_path / "shop.xlsx")
    with pytest.raises(InputError, match=r"only 1 column name in its first row.*Delete what stands above"):
        read_table(str(tmp_path / "shop.xlsx"))


def test_a_file_that_is_no_text_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_bytes(bytes(range(256)) * 40)
    with pytest.raises(InputError, match="is neither text nor a table"):
        read_table(str(tmp_path / "shop.csv"))


def test_an_export_in_another_encoding_is_read(tmp_path: Path) -> None:
    table = read_table(str(write_table(tmp_path / "shop.csv", [COLUMNS, *((*row[:3], 1) for row in ROWS)], encoding="cp950")))
    assert table.guessed
    assert "雪肌精 化粧水 200ml 極潤型" in table.column("商品名稱")


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match="is empty"):
        read_table(str(tmp_path / "empty.csv"))
    with pytest.raises(InputError, match="has no row with a product"):
        read_table(str(write_table(tmp_path / "head.csv", [COLUMNS])))
