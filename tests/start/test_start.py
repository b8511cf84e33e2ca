"""One conformance test of the shop's folder, and what a second start does."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Run
from tests.start.shops import BRANDS, TITLES, base_bundle, small_shop, write_table

import batag as library
from batag.bundles.bundle import read_bundle
from batag.errors import InputError
from batag.start.folder import Shop

QUICK = ("--minutes", "0.1", "--set", "training.export=false", "--set", "training.replay=0.1")


def started(batag: Run, export: Path, shop: Path, *more: str) -> dict[str, Any]:
    """The facts of `batag start --json`."""
    done = batag("start", str(export), "--out", str(shop), "--from", str(base_bundle()), "--json", *more)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_shop(tmp_path_factory.mktemp("export") / "shop.csv", times=8)


def test_the_folder_has_what_everything_later_shares(batag: Run, export: Path, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    made = started(batag, export, shop, *QUICK)
    record = json.loads((shop / "shop.json").read_text(encoding="utf-8"))
    assert record["format"] == 1
    assert record["columns"] == {"id": "商品編號", "title": "商品名稱", "brand": "品牌"}
    assert not any(Path(path).is_absolute() for path in record["paths"].values())
    assert {path.name for path in shop.iterdir()} == {
        *("shop.json", "CURRENT", "terms", "labels", "tagged", "bundles", "runs", "locks", "out"),
    }
    assert [path.name for path in (shop / "terms").iterdir()] == ["brand.txt.proposed"]
    labelled = list(library.read_pages(shop / "labels" / "column.parquet"))
    assert {tag.source for page in labelled for tag in page.tags} >= {"column"}
    assert not any(page.reviewed for page in labelled)
    bundle, beside = sorted((shop / "bundles").iterdir())
    assert bundle.name.startswith("0001-")
    assert beside.name == f"{bundle.name}.names.json"
    assert json.loads((shop / "CURRENT").read_text()) == {"bundle": f"bundles/{bundle.name}", "before": []}
    assert read_bundle(shop).folder == bundle
    names = {"tags.xlsx", "tags.csv", "report.html", "to_review.xlsx", "to_review.jsonl"}
    assert {path.name for path in (shop / "out").iterdir()} == names
    with (shop / "out" / "tags.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["商品名稱"] for row in rows] == [f"{TITLES[n % 10]} {n}號" for n in range(80)]
    assert all(row["brand (tags)"] for row in rows)
    # Whatever loads the shop later names its tags as the tables do.
    assert library.load(shop).terms.meaning("HITACHI", label="brand").canonical == rows[0]["brand (tags)"]
    assert made["learnt"]["epochs"] >= 1
    assert made["comparison"]["pages"] == 5
    # A few new products are tagged with what the shop has learnt (here it need not have been better than the base bundle).
    learnt = Shop(shop).add_bundle(shop / "runs" / "0001" / "learn" / "run" / "bundle", number=1)
    Shop(shop).use(learnt)
    few = write_table(tmp_path / "few.csv", [("編號", "名稱", "品牌"), ("N1", "日立 除濕機", "日立")])
    done = batag("start", str(few), "--out", str(shop), "--from", str(base_bundle()))
    assert "what this shop learnt before with the shop's lists" in " ".join(done.stderr.split())
    in_use = Shop(shop).current()
    assert in_use is not None
    assert in_use.name.startswith("0002-")
    weights = [read_bundle(folder).description.files["model.safetensors"] for folder in (in_use, learnt)]
    assert weights[0] == weights[1]
    started(batag, export, shop, *QUICK)
    # The brand of a row is tagged wherever it stands, whatever was learnt.
    for page, brand in zip(library.read_pages(*sorted((shop / "tagged").glob("part-*"))), BRANDS * 8, strict=True):
        assert any(tag.label == "brand" and tag.text == brand for tag in page.tags)


@pytest.mark.long
def test_the_same_command_again_changes_nothing_and_labels_of_people_make_the_next_bundle(
    batag: Run, export: Path, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    first = started(batag, export, shop, *QUICK, "--no-learn")
    assert started(batag, export, shop, *QUICK, "--no-learn")["bundle"] == first["bundle"]
    reviewed = [{"id": f"P{n:04}", "title": f"{TITLES[n % 10]} {n}號", "tags": []} for n in range(12)]
    lines = "".join(json.dumps(page, ensure_ascii=False) + "\n" for page in reviewed)
    (shop / "labels" / "person" / "mine.jsonl").write_text(lines, encoding="utf-8")
    second = started(batag, export, shop, *QUICK)
    assert Path(second["bundle"]).name.startswith("0002-")
    assert second["labels"]["people"] == 12
    assert second["comparison"]["people"] == 3
    assert len([*(shop / "bundles").glob("*/bundle.json")]) == 2
    assert Shop(shop).current() == Path(second["bundle"])
    assert (shop / "labels" / "person" / "mine.jsonl").read_text(encoding="utf-8") == lines


@pytest.mark.long
def test_a_new_export_and_a_list_of_a_person_make_the_next_bundle(batag: Run, tmp_path: Path) -> None:
    shop, export = tmp_path / "shop", small_shop(tmp_path / "shop.csv")
    assert started(batag, export, shop)["labels"]["pages"] == 10
    (shop / "terms" / "brand.txt").write_text("左薇特\n", encoding="utf-8")
    small_shop(export, times=2)
    again = started(batag, export, shop)
    assert Path(again["bundle"]).name.startswith("0002-")
    assert again["tagged"]["pages"] == 20
    assert (shop / "terms" / "brand.txt").read_text(encoding="utf-8") == "左薇特\n"


def test_half_empty_rows_and_three_languages_are_tagged_row_by_row(batag: Run, tmp_path: Path) -> None:
    rows = [
        *(("1", "日立 HITACHI 三門冰箱", "日立"), ("2", "", "日立"), ("3", "", "")),
        *(("4", "パナソニック 洗濯機 NA-1", "パナソニック"), ("5", "Levi's Men's Jeans", "Levi's"), ("6", "象印 保溫杯", "")),
    ]
    export = write_table(tmp_path / "shop.csv", [("id", "title", "brand"), *rows])
    made = started(batag, export, tmp_path / "shop")
    assert made["pages"] == 4
    with Path(made["files"][1]).open(encoding="utf-8-sig", newline="") as stream:
        written = list(csv.DictReader(stream))
    assert [row["id"] for row in written] == ["1", "2", "3", "4", "5", "6"]
    assert [bool(row["brand (tags)"]) for row in written][:5] == [True, False, False, True, True]


def test_one_column_is_enough(batag: Run, tmp_path: Path) -> None:
    export = write_table(tmp_path / "shop.csv", [("商品名稱",), *((title,) for title in TITLES)])
    assert started(batag, export, tmp_path / "shop")["tagged"]["pages"] == 10


def test_a_folder_of_somebody_else_is_not_touched(batag: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    done = batag("start", str(small_shop(tmp_path / "shop.csv")), "--out", str(tmp_path / "mine"))
    assert done.returncode == 1
    assert "is not the folder of a shop" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_every_choice_is_printed_and_the_last_lines_say_what_to_type(batag: Run, tmp_path: Path) -> None:
    export = small_shop(tmp_path / "shop.csv")
    done = batag("start", str(export), "--out", str(tmp_path / "shop"), "--from", str(base_bundle()))
    for shown in ("商品名稱", "its name", "another choice: --columns", "learning does not pay"):
        assert shown in done.stderr
    assert "Next:" in done.stdout
    assert f"batag tag {tmp_path / 'shop'}" in done.stdout.replace("\n", "")


def test_a_start_that_ended_at_its_first_step_goes_on_but_files_of_others_stay(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    shop.open()
    (tmp_path / "shop" / ".shop.json.123.tmp").touch()
    shop.open()
    shop.sweep()
    assert not (tmp_path / "shop" / ".shop.json.123.tmp").exists()
    (tmp_path / "shop" / "terms" / "mine.txt").touch()
    with pytest.raises(InputError, match="is not the folder of a shop"):
        shop.open()


def test_pages_that_nobody_has_reviewed_make_no_second_run_and_it_is_said_what_to_do(batag: Run, tmp_path: Path) -> None:
    export, shop = small_shop(tmp_path / "shop.csv"), tmp_path / "shop"

    def again() -> str:
        done = batag("start", str(export), "--out", str(shop), "--from", str(base_bundle()))
        assert done.returncode == 0, done.stderr
        return " ".join(done.stderr.split())

    first = again()
    assert "bundle in use: 0001-" in first
    assert "because learning does not pay: only" in first
    assert "nothing has changed" not in first
    person = shop / "labels" / "person" / "to_review.jsonl"
    person.write_bytes((shop / "out" / "to_review.jsonl").read_bytes())
    second = again()
    for said in (
        "nothing has changed since this run was done",
        "write yes in the column reviewed",
        "batag convert FILE reviewed.jsonl --reviewed",
    ):
        assert said in second
    assert len([*(shop / "bundles").glob("*/bundle.json")]) == 1
    person.write_text(person.read_text(encoding="utf-8").replace('"reviewed":false', '"reviewed":true', 1), encoding="utf-8")
    assert "bundle in use: 0002-" in again()
