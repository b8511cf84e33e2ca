"""What people put into labels/person: workbooks and CSV as Excel saves them, with the shop's own columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from tests.conftest import Run
from tests.start.shops import base_bundle, small_shop, write_table
from tests.start.test_start import started

from batag.errors import InputError
from batag.start import people as people_module
from batag.start.people import People, Reading, files_of, own_label, read_people

LABELS = ("brand", "goods", "feature")
COLUMNS = {"id": "商品編號", "title": "商品名稱"}
TITLE = "日立 HITACHI 三門冰箱 RG599B"


def read(folder: Path, *, brand: str | None = None) -> People:
    return read_people(folder, Reading(LABELS, COLUMNS, brand))


def tags_of(people: People) -> list[list[tuple[str, str]]]:
    return [[(tag.label, tag.text) for tag in page.tags] for page in people.pages]


def workbook(path: Path, *rows: Sequence[Any]) -> Path:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_what_excel_macos_and_windows_leave_in_the_folder_is_ignored(tmp_path: Path) -> None:
    for name in ("~$review.xlsx", ".DS_Store", "Thumbs.db", "desktop.ini", "._review.xlsx"):
        (tmp_path / name).write_bytes(b"\x05\0\0rubbish")
    (tmp_path / "__MACOSX").mkdir()
    mine = write_table(tmp_path / "mine.csv", [("title", "tags"), ("Nike shoes", "brand=Nike")])
    assert files_of(tmp_path) == [mine]
    assert tags_of(read(tmp_path)) == [[("brand", "Nike")]]


def test_a_note_or_a_picture_in_the_folder_is_left_aside_and_it_is_said(tmp_path: Path) -> None:
    workbook(tmp_path / "review.xlsx", ("商品名稱", "brand (tags)", "reviewed"), ("日立 冰箱", "日立", "是"))
    (tmp_path / "notes.txt").write_text("ask Amy about row 7")
    (tmp_path / "shelf.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    people = read(tmp_path)
    assert tags_of(people) == [[("brand", "日立")]]
    assert [line.split(": ")[0] for line in people.refused] == [str(tmp_path / name) for name in ("notes.txt", "shelf.png")]
    assert all("is not used" in line for line in people.refused)


def test_a_damaged_workbook_in_the_folder_stops_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "review.xlsx").write_bytes(b"PK\3\4 no workbook")
    with pytest.raises(InputError, match=r"review\.xlsx"):
        read(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp950"])
def test_a_csv_with_the_shops_own_columns_is_read_in_the_encoding_that_excel_saved(tmp_path: Path, encoding: str) -> None:
    rows = [
        ("商品編號", "商品名稱", "brand (tags)", "goods (tags)", "reviewed"),
        ("1", TITLE, "日立;HITACHI", "三門冰箱", "是"),
    ]
    write_table(tmp_path / "review.csv", [*rows, ("2", "象印 保溫杯 不鏽鋼", "象印", "", "")], encoding=encoding)
    people = read(tmp_path)
    assert [(page.id, page["title"]) for page in people.pages] == [("1", TITLE)]
    assert tags_of(people) == [[("brand", "日立"), ("brand", "HITACHI"), ("goods", "三門冰箱")]]
    assert (people.unseen, people.refused) == (1, [])


def test_the_columns_of_the_shop_count_where_a_guess_would_take_others(tmp_path: Path) -> None:
    write_table(tmp_path / "mine.csv", [("賣點", "商品名稱", "tags"), ("日立 大容量", "RG599B 日立", "brand=日立")])
    people = read_people(tmp_path, Reading(LABELS, {"title": "賣點"}))
    assert [dict(page.fields) for page in people.pages] == [{"title": "日立 大容量"}]


def test_a_table_with_other_columns_than_the_shops_is_read_by_a_guess(tmp_path: Path) -> None:
    write_table(tmp_path / "old.csv", [("品名", "tags"), (TITLE, "brand=日立"), ("象印 保溫杯", "brand=象印")])
    assert tags_of(read(tmp_path)) == [[("brand", "日立")], [("brand", "象印")]]


@pytest.mark.parametrize("answer", [True, "TRUE", "是", "yes", "✓", "V", 1])
def test_a_row_that_a_person_has_checked_is_known_by_many_words(tmp_path: Path, answer: Any) -> None:
    header, title = ("商品名稱", "brand (tags)", "goods (tags)", "reviewed"), "象印 保溫杯"
    workbook(tmp_path / "a.xlsx", header, *((title, "象印", None, each) for each in (answer, None, "否")))
    people = read(tmp_path)
    assert tags_of(people) == [[("brand", "象印")]]
    assert people.unseen == 2


def test_names_are_looked_for_only_in_rows_that_a_person_has_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A whole `tags.xlsx` comes back for the sake of a few rows.
    asked: list[str] = []

    def names(text: str, kind: str | None, own: str) -> list[str]:
        asked.append(text)
        return [text, "HITACHI"]

    monkeypatch.setattr(people_module, "_names", names)
    rows = [("HITACHI 冰箱", "日立", "yes"), *((f"SHARP 冰箱 {number}", "夏普", "") for number in range(5))]
    workbook(tmp_path / "tags.xlsx", ("商品名稱", "brand (tags)", "reviewed"), *rows)
    assert tags_of(read(tmp_path)) == [[("brand", "HITACHI")]]
    assert asked == ["日立"]


def test_a_checked_row_without_any_text_of_tags_has_no_tags(tmp_path: Path) -> None:
    workbook(tmp_path / "a.xlsx", ("商品名稱", "brand (tags)", "reviewed"), (TITLE, None, True))
    assert tags_of(read(tmp_path)) == [[]]


def test_names_of_the_tables_are_found_on_the_page_in_its_own_words(tmp_path: Path) -> None:
    # `tags.xlsx` has one name for all names of a thing; each of those that are on the page is tagged.
    header = ("商品編號", "商品名稱", "品牌", "brand (tags)", "goods (tags)", "top tags", "reviewed")
    rows = [
        ("1", "Hitachi 日立 冷氣", "日立", "HITACHI", "冷氣", "", "yes"),
        ("2", "左薇特 面霜", "ZOVIT 左薇特", "ZOVIT", "", "", "yes"),
    ]
    workbook(tmp_path / "tags.xlsx", header, *rows)
    assert tags_of(read(tmp_path, brand="品牌")) == [
        [("brand", "Hitachi"), ("brand", "日立"), ("goods", "冷氣")],
        [("brand", "左薇特")],
    ]


def test_a_table_without_the_column_reviewed_claims_nothing_and_it_is_said(tmp_path: Path) -> None:
    workbook(tmp_path / "tags.xlsx", ("商品名稱", "brand (tags)"), (TITLE, "日立"))
    people = read(tmp_path)
    assert (people.pages, people.unseen) == ([], 1)
    assert "no column reviewed" in people.refused[0]
    assert "是" in people.refused[0]


def test_a_row_with_a_text_that_is_not_on_its_page_is_not_used_and_it_is_said_what_to_do(tmp_path: Path) -> None:
    rows = [("統一 麥香紅茶", "brand=統一生機;goods=紅茶"), ("象印 保溫杯", "brand=象印")]
    path = write_table(tmp_path / "mine.csv", [("商品名稱", "tags"), *rows])
    people = read(tmp_path)
    assert tags_of(people) == [[("brand", "象印")]]
    (line,) = people.refused
    for said in (f"{path}:2", "統一生機", "not used", "write the text as this product has it"):
        assert said in line


def test_a_text_that_only_another_label_covers_is_told_but_one_inside_its_own_label_is_not(tmp_path: Path) -> None:
    rows = [("統一麥香紅茶 300ml", "brand=統一;goods=統一麥香紅茶"), ("變頻三門冰箱", "goods=冰箱;goods=三門冰箱")]
    write_table(tmp_path / "mine.csv", [("商品名稱", "tags"), *rows])
    people = read(tmp_path)
    assert tags_of(people) == [[("goods", "三門冰箱")]]
    assert "take one of the two out" in people.refused[0]


@pytest.mark.parametrize(
    ("word", "label"),
    [
        *((word, "brand") for word in ("品牌", "廠牌", "ブランド", "maker", "Brand")),
        *((word, "goods") for word in ("商品", "品項", "產品", "商品種類", "品目")),
        *((word, "feature") for word in ("特色", "特徵", "屬性")),
        ("顧客", None),
    ],
)
def test_words_for_labels_mean_the_labels_of_the_bundle(word: str, label: str | None) -> None:
    assert own_label(word, LABELS) == label


def test_labels_in_other_words_are_the_bundles_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    rows = [("SK-II 青春露", "品牌=SK-II;商品=青春露"), ("SK-II 面膜", "顧客=SK-II")]
    path = write_table(tmp_path / "mine.csv", [("商品名稱", "tags"), *rows])
    people = read(tmp_path)
    assert tags_of(people) == [[("brand", "SK-II"), ("goods", "青春露")]]
    (line,) = people.refused
    for said in (f"{path}:3", "顧客=SK-II", "the labels are brand, goods, feature"):
        assert said in line


def test_the_workbook_of_a_start_is_corrected_in_excel_and_comes_back(batag: Run, tmp_path: Path) -> None:
    shop, export = tmp_path / "shop", small_shop(tmp_path / "shop.csv")
    made = started(batag, export, shop, "--no-learn")
    assert str(shop / "out" / "to_review.xlsx") in made["files"]
    book = load_workbook(shop / "out" / "to_review.xlsx")
    header = [cell.value for cell in book.active[1]]
    assert header[:6] == ["商品編號", "商品名稱", "brand (tags)", "goods (tags)", "feature (tags)", "reviewed"]
    rows = {row[0].value: row for row in book.active.iter_rows(min_row=2)}
    places = {name: place for place, name in enumerate(header)}
    rows["P0002"][places["brand (tags)"]].value = "麥香"
    rows["P0002"][places["reviewed"]].value = "是"
    rows["P0008"][places["brand (tags)"]].value = "印錯的字"
    rows["P0008"][places["reviewed"]].value = True
    rows["P0006"][places["brand (tags)"]].value = "保溫"  # and nobody says that the row is right now
    book.save(shop / "labels" / "person" / "to_review.xlsx")
    (shop / "labels" / "person" / "~$to_review.xlsx").write_bytes(b"\x05somebody")
    again = started(batag, export, shop, "--no-learn")
    assert again["people"]["not_reviewed"] == len(rows) - 2
    assert ["印錯的字" in line for line in again["people"]["refused"]] == [True]
    with (shop / "out" / "tags.csv").open(encoding="utf-8-sig", newline="") as stream:
        brands = {row["商品編號"]: row["brand (tags)"] for row in csv.DictReader(stream)}
    assert brands["P0002"] == "麥香"
    assert brands["P0008"] == "Zowilan"
    assert brands["P0006"] == "象印"
    told = batag("start", export, "--out", shop, "--from", base_bundle(), "--no-learn")
    assert "to_review.xlsx" in told.stdout
    assert "印錯的字" in told.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "cp950"])
def test_new_products_are_tagged_by_the_columns_and_the_encoding_of_the_shops_export(
    batag: Run, tmp_path: Path, encoding: str
) -> None:
    shop = tmp_path / "shop"
    started(batag, small_shop(tmp_path / "shop.csv"), shop, "--no-learn")
    record = json.loads((shop / "shop.json").read_text(encoding="utf-8"))
    record["reading"]["encoding"] = "cp950"  # as an export of Excel was
    (shop / "shop.json").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    new = write_table(tmp_path / "new.csv", [("商品編號", "商品名稱", "售價"), ("N1", TITLE, 1)], encoding=encoding)
    done = batag("tag", shop, new)
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)
    assert (page["id"], page["title"]) == ("N1", TITLE)
    done = batag("tag", shop, new, "--out", tmp_path / "tagged.csv", "--workers", 1)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "tagged.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["商品名稱"] for row in csv.DictReader(stream)] == [TITLE]


def test_a_product_that_two_files_have_is_learnt_once_and_contradictions_are_said(tmp_path: Path) -> None:
    page = {"id": "1", "title": "NORDVIK boots", "reviewed": True}
    brand = {"field": "title", "start": 0, "end": 7, "label": "brand", "source": "person"}
    for name, tags in (("a", [brand]), ("b", [brand]), ("c", [])):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({**page, "id": name, "tags": tags}) + "\n", encoding="utf-8")
    found = read_people(tmp_path, Reading(labels=["brand"]))
    assert [(each.id, each.tags) for each in found.pages] == [("c", ())]
    (said,) = found.refused
    assert "b.jsonl:1" in said
    assert "c.jsonl:1 has other labels" in said
