"""`batag demo`: the first hour on a made-up shop, from its export to tags of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.tables import show_comparison
from batag.cli.terminal import collected_problems, console, print_json
from batag.errors import InputError

if TYPE_CHECKING:
    from batag.tagging.tagger import Tagger

MARK = "demo.json"
"""The file that marks the folder of an earlier demo, whose export may be replaced."""
TEXTS = (
    "日立 HITACHI 570L 變頻三門冰箱 琉璃白",
    "【送料無料】象印 ZOJIRUSHI ステンレスマグ 480ml 水筒 保温 保冷",
    "Sony WH-1000XM5 wireless noise cancelling headphones, black",
)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the export and the shop.")] = Path("demo"),
    pages: Annotated[int, typer.Option(min=10, help="Products in the made-up shop.")] = 300,
    minutes: Annotated[float, typer.Option(min=0.1, help="Minutes that the command should take.")] = 2.0,
    set_: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Tag three titles, then take a made-up shop without labels from its export to tags, and score them: some minutes."""
    from batag.cli.shops.start import parsed_settings
    from batag.pages.file import open_output
    from batag.sample import sample_pages, write_export
    from batag.tagging.assessment import assess
    from batag.tagging.tagger import Tagger

    err, shown = console(error=True), console()
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=str(out), todo="Name a folder with --out")
    if out.exists() and any(out.iterdir()) and not (out / MARK).is_file():
        raise InputError("exists and is not the folder of a demo", where=str(out), todo="Name a new folder with --out")
    settings = parsed_settings(set_ or [])
    starter = Tagger.load(Path("batag:starter"))
    if not as_json:
        shown.print("1. Three titles, tagged by the starter, the bundle that comes with batag:", style="bold")
        _show_texts(starter)
        shown.print(
            f"2. A shop of {pages:,} products without labels: batag start {out / 'shop.csv'} -o {out / 'shop'}", style="bold"
        )
    out.mkdir(parents=True, exist_ok=True)
    with open_output(out / MARK) as stream:
        stream.write(json.dumps({"pages": pages}).encode())
    gold = list(sample_pages("zh-Hant", pages=pages, split="test"))
    (out / "shop.csv").unlink(missing_ok=True)  # of an earlier demo
    write_export(gold, out / "shop.csv", language="zh-Hant")
    made = _start(out / "shop.csv", out / "shop", minutes=minutes, settings=settings)
    taggers = {"starter": starter, "after batag start": Tagger.load(out / "shop")}
    reports = {name: assess(each, gold).report() for name, each in taggers.items()}
    if as_json:
        print_json({"out": str(out), "start": made, "scores": reports})
        return
    shown.print("3. Scores on the shop's pages; batag start saw their text and columns, never their labels:", style="bold")
    show_comparison(reports, shown, heading=f"{pages:,} pages", classes=("brand", "goods"))
    files = out / "shop" / "out"
    shown.print(f"Open {files / 'tags.xlsx'} and {files / 'report.html'}. Next:")
    for command in (
        f'batag tag {out / "shop"} "日立 HITACHI 570L 變頻三門冰箱" --richness rich',
        f"batag serve {out / 'shop'}",
        "batag start YOUR_EXPORT.csv -o my-shop",
    ):
        shown.print(f"  {command}")
    err.print(f"a made-up shop is easier than a real one; {pages:,} pages, one seed", style="dim")


def _show_texts(tagger: Tagger) -> None:
    from batag.cli.tag import highlighted
    from batag.pages.page import Page

    for number, text in enumerate(TEXTS, 1):
        page = Page(id=str(number), fields={"title": text})
        for line in highlighted(replace(page, tags=tuple(tagger.tag(page))), tagger.labels):
            console().print(line)


def _start(export: Path, folder: Path, *, minutes: float, settings: dict[str, Any]) -> dict[str, Any]:
    """What `batag start` does with an export, and the facts it found."""
    from batag.cli.shops.showing import show_columns
    from batag.cli.shops.start import run_stages
    from batag.start.columns import guess_columns
    from batag.start.folder import Shop
    from batag.start.pipeline import Start
    from batag.start.table import read_table
    from batag.start.task import Options

    table = read_table(str(export))
    columns = guess_columns(table, {})
    show_columns(table, columns, console(error=True))
    shop = Shop(folder)
    shop.open()
    asked = Options(base=Path("batag:starter"), minutes=minutes, settings=settings)
    with shop.alone(), collected_problems(strict=False, path=None) as noted:
        shop.sweep()
        return run_stages(Start(shop, table, columns, asked), noted)
