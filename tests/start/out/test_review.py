from __future__ import annotations

from pathlib import Path

from tests.start.out.tagged_shop import WORDS, tagged_shop
from tests.tiny import typed

import batag
from batag.pages.page import MODEL, Page

LETTERS = "春夏秋冬東南西北紅黃藍綠"
UNSURE = [[f"u{n}", f"melra {letter * 9} 冰箱", f"{letter * 20}"] for n, letter in enumerate(LETTERS)]


def test_near_duplicates_are_left_out(tmp_path: Path) -> None:
    sizes = [[f"s{n}", f"melra 真無線藍牙耳機 {n} 公分 白色 附收納盒", "同一款，只有尺寸不同"] for n in range(50)]
    shop = tagged_shop(tmp_path, [*sizes, *UNSURE])
    shop.write(review=8)
    pages = list(batag.read_pages(shop.out / "to_review.jsonl"))
    assert len(pages) == 8
    assert sum(page.id.startswith("s") for page in pages) == 1


def test_sizes_of_one_product_do_not_take_all_places_before_they_are_compared(tmp_path: Path) -> None:
    sizes = [[f"s{n}", f"melra 耳機 {n}", ""] for n in range(300)]
    shop = tagged_shop(
        tmp_path, [*sizes, *UNSURE], words=WORDS | {"melra": ("brand", "melra", 0.9), "耳機": ("goods", "耳機", 0.1)}
    )
    shop.write(review=10)  # 200 candidates are kept
    assert len(list(batag.read_pages(shop.out / "to_review.jsonl"))) == 10


def test_pages_that_a_person_labelled_and_their_near_duplicates_are_not_asked_for_again(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, UNSURE)
    reviewed = [Page(id="other id", fields={"title": UNSURE[3][1], "description": UNSURE[3][2]}, reviewed=True)]
    shop.write(review=100, reviewed=reviewed)
    assert {page.id for page in batag.read_pages(shop.out / "to_review.jsonl")} == {row[0] for row in UNSURE} - {"u3"}


def test_uncertain_pages_come_before_certain_ones(tmp_path: Path) -> None:
    sure = [[f"sure{n}", f"日立 {letter * 9} 冰箱", ""] for n, letter in enumerate("甲乙丙丁戊己庚辛壬癸")]
    shop = tagged_shop(tmp_path, [*sure, *UNSURE])
    shop.write(review=5)
    assert all(page.id.startswith("u") for page in batag.read_pages(shop.out / "to_review.jsonl"))


def test_every_category_has_a_share(tmp_path: Path) -> None:
    rows = [[row[0], row[1], row[2], "many"] for row in UNSURE] + [["few", "melra 耳機 單獨一件", "", "few"]]
    shop = tagged_shop(tmp_path, rows, header=("sku", "商品名稱", "描述", "分類"), category="分類")
    shop.write(review=4)
    assert "few" in {page.id for page in batag.read_pages(shop.out / "to_review.jsonl")}


def test_the_file_opens_in_the_commands_for_labels(tmp_path: Path) -> None:
    shop = tagged_shop(tmp_path, UNSURE)
    shop.write()
    path = shop.out / "to_review.jsonl"
    pages = list(batag.read_pages(path))
    assert all(page.tags and not page.reviewed for page in pages)
    assert {tag.source for page in pages for tag in page.tags} == {MODEL}
    assert all(page[tag.field][tag.start : tag.end] == tag.text for page in pages for tag in page.tags)
    for command in ("inspect", path), ("convert", path, tmp_path / "tasks.json", "--to", "label-studio"):
        done = typed(*command)
        assert done.returncode == 0, done.stderr
    done = typed("convert", path, tmp_path / "person.jsonl", "--reviewed")
    assert done.returncode == 0, done.stderr
    assert all(page.reviewed for page in batag.read_pages(tmp_path / "person.jsonl"))
