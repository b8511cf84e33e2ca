"""The pictures of the documentation, made from the product: `make pictures`, or python benchmarks/pictures.py --out FOLDER.

The web page with an example of the starter, the report of `batag start` on a made-up shop, the dial of the starter, and a
terminal with `batag tag`.
"""

from __future__ import annotations

import argparse
import html
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from place import new_folder
from playwright.sync_api import Browser, ViewportSize
from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from browser import browser, served

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
EXAMPLE = "除濕機"
TITLE = "日立 HITACHI 570L 變頻三門冰箱"
COLUMNS = 90
CELL = 12.2
"""Width of a character in the drawing of rich."""
THEME = TerminalTheme(
    (24, 28, 34),
    (233, 236, 241),
    [
        (15, 18, 22),
        (255, 157, 148),
        (112, 200, 146),
        (240, 180, 100),
        (123, 180, 255),
        (212, 131, 197),
        (110, 205, 225),
        (183, 193, 203),
    ],
)
VIEW: ViewportSize = {"width": 1280, "height": 1100}


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=new_folder, default=FOLDER)
    folder: Path = parser.parse_args().out
    terminal(folder / "tag.svg")
    dial(folder / "dial.png")
    with browser() as opened:
        try_page(opened, folder / "try-page.png")
        report(opened, folder / "report.png")


def try_page(opened: Browser, path: Path) -> None:
    """The page in Traditional Chinese, with an example and the reason of one of its tags."""
    with served("starter") as address:
        page = opened.new_context(locale="zh-TW", viewport=VIEW, device_scale_factor=1.5).new_page()
        page.goto(f"{address}/")
        page.get_by_role("button", name=EXAMPLE, exact=True).click()
        page.locator(".tag[role][data-label=goods]").first.click()
        page.locator(".bar-row .score").first.wait_for()
        page.mouse.move(0, 0)
        page.screenshot(path=path)
    print(path)


def report(opened: Browser, path: Path) -> None:
    """The first screen of the report on a made-up shop."""
    with tempfile.TemporaryDirectory() as made:
        export, shop = Path(made, "shop.csv"), Path(made, "shop")
        batag("sample", "--language", "zh-Hant", "--pages", "300", "--export", str(export))
        batag("start", str(export), "-o", str(shop), "--no-learn")
        page = opened.new_context(locale="zh-TW", viewport=VIEW, device_scale_factor=1.5).new_page()
        page.goto((shop / "out" / "report.html").as_uri())
        page.screenshot(path=path)
    print(path)


def dial(path: Path) -> None:
    """Precision and recall of the starter from clean to rich, on pages of the sample whose brands and goods are new to it."""
    with tempfile.TemporaryDirectory() as made:
        pages, drawn = Path(made, "test.jsonl"), Path(made, "dial.png")
        batag("sample", "--language", "zh-Hant", "--pages", "1000", "--split", "test", "--out", str(pages))
        batag("evaluate", "starter", str(pages), "--dial", str(drawn))
        path.write_bytes(drawn.read_bytes())
    print(path)


def terminal(path: Path) -> None:
    """A terminal in which a title is tagged; the fonts are those of whoever looks at it."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "bold green"), f'batag tag starter "{TITLE}"'))
    console.print(Text.from_ansi(batag("tag", "starter", TITLE)))
    drawn = console.export_svg(title="batag", theme=THEME)
    drawn = re.sub(r'textLength="[\d.]+"([^>]*)>([^<]*)<', _widened, drawn)
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL), encoding="utf-8")
    print(path)


def _widened(text: re.Match[str]) -> str:
    """A piece of text as wide as its cells: rich counts a Chinese character, which takes two, as one."""
    width = cell_len(html.unescape(text[2])) * CELL
    return f'textLength="{width:.1f}"{text[1]}>{text[2]}<'


def batag(*given: str) -> str:
    """What a command prints on a terminal."""
    colours = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    done = subprocess.run([sys.executable, "-m", "batag", *given], env=os.environ | colours, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"batag {' '.join(given)}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
