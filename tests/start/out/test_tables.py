from __future__ import annotations

import csv
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from openpyxl import load_workbook
from tests.start.out.tagged_shop import TEXT, TITLE, WORDS, tagged_shop

from batag.errors import InputError
from batag.settings import settings
from batag.start.out import Facts, book

ROWS = [
    ["00017", "日立 HITACHI 三門冰箱", "=1+1"],
    ["4710012345678901234", "  耳機 \t", 'first\r\nsecond\nthird, "quoted"'],
    ["+886", "沒有標籤", "@cmd"],
]


def table(path: Path) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8-sig") as stream:
        return list(csv.reader(stream))


def sheet(path: Path) -> list[list[str]]:
    return [["" if cell is None else str(cell) for cell in row] for row in load_workbook(path).active.values]


def lower(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(book, "settings", replace(settings, sheet_rows=rows))


def test_the_shops_own_cells_are_as_they_were_in_both_tables(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS)
    shop.write()
    for found in table(shop.out / "tags.csv"), sheet(shop.out / "tags.xlsx"):
        assert found[0][:3] == ["sku", TITLE, TEXT]
        assert [row[:3] for row in found[1:]] == ROWS


def test_a_text_that_begins_like_a_formula_is_no_formula_in_the_workbook(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS)
    shop.write()
    with zipfile.ZipFile(shop.out / "tags.xlsx") as archive:
        xml = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in xml
    assert 't="inlineStr"><is><t xml:space="preserve">=1+1</t>' in xml
    assert "<v>" not in xml  # nothing became a number: zeros and long numbers stay


def test_each_label_has_a_column_of_canonical_forms_and_the_top_tags_follow(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, [*ROWS, ["4", "Melra x 日立", "melra 冰箱"]])
    shop.write(labels=("feature", "goods", "brand"))
    header, first, second, third, last = table(shop.out / "tags.csv")
    assert header[3:] == ["brand (tags)", "goods (tags)", "feature (tags)", "top tags"] or header[3:] == [
        *("brand", "goods", "feature", "top tags")
    ]
    assert first[3:] == ["HITACHI", "冰箱", "", "HITACHI; 冰箱"]
    assert second[3:] == ["", "耳機", "", "耳機"]
    assert third[3:] == ["", "", "", ""]
    assert last[3:6] == ["HITACHI; melra", "冰箱", ""]
    assert sheet(shop.out / "tags.xlsx") == table(shop.out / "tags.csv")


def test_a_canonical_form_with_a_semicolon_is_not_taken_for_two(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS[:1], words=WORDS | {"HITACHI": ("brand", "A; B", 0.9)})
    shop.write()
    assert table(shop.out / "tags.csv")[1][3] == "HITACHI; A, B"


def test_a_tag_that_begins_like_a_formula_is_harmless_in_the_csv(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS[:1], words={"HITACHI": ("brand", "=HYPERLINK(1)", 0.9)})
    shop.write()
    assert table(shop.out / "tags.csv")[1][3] == "'=HYPERLINK(1)"
    assert sheet(shop.out / "tags.xlsx")[1][3] == "=HYPERLINK(1)"


def test_columns_of_the_shop_that_are_named_like_ours_stay(tmp_path: Path) -> None:
    header = ("sku", TITLE, "Brand", "brand (tags)", "top tags", "tags")
    shop = tagged_shop(tmp_path, [["1", "日立冰箱", "own brand", "own", "own top", "own tags"]], header=header)
    shop.write()
    names, row = table(shop.out / "tags.csv")
    assert names[:6] == list(header)
    assert row[:6] == ["1", "日立冰箱", "own brand", "own", "own top", "own tags"]
    assert len({name.casefold() for name in names}) == len(names)
    assert row[6:] == ["HITACHI", "冰箱", "HITACHI; 冰箱"]


def test_two_columns_of_one_name_both_stay(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, [["1", "日立冰箱", "a", "b"]], header=("sku", TITLE, "x", "x"))
    shop.write()
    assert [row[:4] for row in table(shop.out / "tags.csv")] == [["sku", TITLE, "x", "x"], ["1", "日立冰箱", "a", "b"]]


def test_rows_beyond_a_sheet_go_into_a_next_workbook_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = tagged_shop(tmp_path, [[str(number), "日立冰箱", ""] for number in range(8)])
    lower(monkeypatch, 4)
    written = shop.write()
    names = ["tags.xlsx", "tags-2.xlsx", "tags-3.xlsx"]
    assert [path.name for path in written.files] == [*names, "tags.csv", "report.html", "to_review.xlsx", "to_review.jsonl"]
    assert [row[0] for name in names for row in sheet(shop.out / name)[1:]] == [str(n) for n in range(8)]
    assert {tuple(sheet(shop.out / name)[0]) for name in names} == {tuple(table(shop.out / "tags.csv")[0])}
    assert len(table(shop.out / "tags.csv")) == 9
    assert any("tags-2.xlsx, tags-3.xlsx" in note for note in written.notes)
    lower(monkeypatch, 100)
    assert [path.name for path in shop.write().files if path.match("tags*.xlsx")] == ["tags.xlsx"]
    assert [path.name for path in sorted(shop.out.glob("tags*.xlsx"))] == ["tags.xlsx"]  # no part of an older table is left


def test_a_cell_longer_than_excel_holds_is_whole_in_a_second_file(tmp_path: Path) -> None:
    long = "長文😀" * 15_000
    shop = tagged_shop(tmp_path, [["1", "日立冰箱", long], ["2", "耳機", "短"]])
    written = shop.write()
    assert [path.name for path in written.files][:3] == ["tags.xlsx", "tags-long.xlsx", "tags.csv"]
    assert table(shop.out / "tags.csv")[1][2] == long
    shown = sheet(shop.out / "tags.xlsx")[1][2]
    assert len(shown.encode("utf-16-le")) <= 2 * 32_767
    assert shown.endswith("(tags-long.xlsx)")
    pieces = sheet(shop.out / "tags-long.xlsx")[1:]
    assert "".join(row[4] for row in pieces) == long
    assert pieces[0][0] == "tags.xlsx"
    assert float(pieces[0][1]) == 2
    assert pieces[0][2] == TEXT
    assert any("32,767 characters" in note for note in written.notes)


def test_a_row_without_text_stays_and_says_why_it_has_no_tags(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, [["1", "日立冰箱", ""], ["2", "", ""]])
    written = shop.write()
    header, _, row = table(shop.out / "tags.csv")
    assert header[-1] == "not tagged because"
    assert row[0] == "2"
    assert row[-1] == "no text in any field"
    assert any("1 row could not be tagged" in note for note in written.notes)


def test_the_variants_of_a_product_have_its_tags_and_are_no_mistakes(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, [["h", "日立冰箱", ""], ["h", "", ""], ["other", "", ""]], group="sku")
    written = shop.write()
    rows = table(shop.out / "tags.csv")
    assert rows[2][3:5] == ["HITACHI", "冰箱"]
    assert rows[2][-1] == ""
    assert rows[3][3:5] == ["", ""]
    assert rows[3][-1]
    assert (written.survey.variants, written.survey.errors, written.survey.pages) == (1, 1, 1)


def test_an_export_that_changed_since_it_was_tagged_is_an_error_and_the_files_stay(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, ROWS)
    shop.write()
    before = (shop.out / "tags.csv").read_bytes()
    export = tmp_path / "shop.csv"
    for text in export.read_text(encoding="utf-8").replace("日立", "東芝"), export.read_text(encoding="utf-8") + "9,冰箱,\r\n":
        export.write_text(text, encoding="utf-8", newline="")
        with pytest.raises(InputError, match=r"changed|more rows"):
            shop.write()
    assert (shop.out / "tags.csv").read_bytes() == before
    assert not list(shop.out.glob(".*"))


def test_progress_is_told(tmp_path: Path) -> None:
    shop, told = tagged_shop(tmp_path, [[str(n), "日立冰箱", ""] for n in range(600)]), list[tuple[str, int, float | None]]()
    shop.write(progress=lambda *each: told.append(each), facts=Facts(shop="x"))
    assert ("tables", 500, pytest.approx(500 / 600)) in told
    assert {"review", "report"} <= {each[0] for each in told}
