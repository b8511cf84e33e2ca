"""A small base bundle and the exports of small shops, for tests of `batag start`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.tiny import QUICK, _made_once

import batag
from batag.sample import sample_pages
from batag.training.setting import parse_setting

TITLES = (
    *(
        "日立 HITACHI 570L 變頻三門冰箱 RG599B",
        "雪肌精 化粧水 200ml 極潤型",
        "統一 麥香紅茶 300ml 24入",
        "大同 10人份電鍋 TAC-10L",
    ),
    *("Champion 男款連帽外套 黑", "Nike 耐吉 慢跑鞋 Pegasus 40", "象印 保溫杯 500ml", "舒潔 抽取衛生紙 110抽x72包"),
    *("Zowilan 無線吸塵器 V9", "左薇特 面霜 50ml"),
)
BRANDS = ("日立", "雪肌精", "統一", "大同", "Champion", "Nike", "象印", "舒潔", "Zowilan", "左薇特")
COLUMNS = ("商品編號", "商品名稱", "品牌", "售價")


def base_bundle() -> Path:
    """A bundle with the labels and features of the starter, trained for some seconds."""

    def make(folder: Path) -> None:
        pages = [page for language in ("zh-Hant", "en") for page in sample_pages(language, pages=80)]
        dev = [page for language in ("zh-Hant", "en") for page in sample_pages(language, pages=20, split="dev")]
        changes = [*QUICK, "training.epochs=3", "input.terms=lexicon"]
        settings = {
            f"{table}.{key}": value
            for each in map(parse_setting, changes)
            for table, change in each.items()
            for key, value in change.items()
        }
        batag.train(pages, dev=dev, out=folder, settings=settings)

    return _made_once("start-base", make) / "bundle"


def write_table(path: Path, rows: Iterable[Sequence[object]], *, encoding: str = "utf-8") -> Path:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding=encoding) as stream:
        csv.writer(stream).writerows(rows)
    return path


def small_shop(path: Path, *, times: int = 1) -> Path:
    """The export of a shop with ten products, or of one with them in so many variants."""
    products = [(title, brand) for _ in range(times) for title, brand in zip(TITLES, BRANDS, strict=True)]
    rows = [(f"P{n:04}", f"{title} {n}號" if times > 1 else title, brand, 100 + n) for n, (title, brand) in enumerate(products)]
    return write_table(path, [COLUMNS, *rows])
