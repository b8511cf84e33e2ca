"""Charts are real pictures, whatever the classes are called and however little there is to draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batag.errors import UsageError
from batag.evaluation.calibration import expected_calibration_error, reliability
from batag.evaluation.charts import draw_classes, draw_dial, draw_learning_curve
from batag.evaluation.operating_point import NAMES, steps
from batag.labels.inspection import Inspection
from batag.pages.page import Page, Tag


def report(*labels: str, splits: tuple[str, ...] = ("train",)) -> dict[str, Any]:
    inspection = Inspection()
    for split in splits:
        tags = tuple(Tag("title", 2 * place, 2 * place + 1, label, "a") for place, label in enumerate(labels))
        inspection.add([Page("1", {"title": "a " * max(len(labels), 1)}, language="en", tags=tags, labelled=True)], split=split)
    return inspection.report()


@pytest.mark.parametrize(
    "labels",
    [
        ("goods", "brand"),
        ("商品", "品牌", "機能", "ブランド", "色・サイズ"),
        ("브랜드", "😀", "علامة"),
        (),
        ("a_b^c", "50%", "&<b>", "US$ and NT$", "$\\frac$", "_x", "a\nb", "#"),
        tuple(f"class {number}" for number in range(15)),
    ],
    ids=["plain", "cjk", "no glyph", "none", "marks", "many"],
)
@pytest.mark.parametrize(("suffix", "signature"), [(".png", b"\x89PNG\r\n\x1a\n"), (".svg", b"<?xml")])
def test_a_chart_is_a_real_picture(tmp_path: Path, labels: tuple[str, ...], suffix: str, signature: bytes) -> None:
    path = tmp_path / f"classes{suffix}"
    draw_classes(report(*labels, splits=("train", "dev", "test")), path)
    content = path.read_bytes()
    assert content.startswith(signature)
    assert len(content) > 5_000
    if suffix == ".png":
        assert content.endswith(b"IEND\xaeB`\x82")
    else:
        assert content.rstrip().endswith(b"</svg>")


def test_the_letters_of_an_svg_are_text(tmp_path: Path) -> None:
    draw_classes(report("商品", "ブランド"), tmp_path / "a.svg")
    content = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "商品" in content
    assert "ブランド" in content


def test_a_dollar_in_a_class_name_is_a_dollar(tmp_path: Path) -> None:
    draw_classes(report("US$ and NT$"), tmp_path / "a.svg")
    assert "US$ and NT$</text>" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_the_same_report_draws_the_same_svg(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw_classes(report("goods"), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["a.jpg", "a", "a.pdf", "png"])
def test_another_kind_of_picture_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"neither \.png nor \.svg"):
        draw_classes(report("goods"), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_capital_letters_in_the_suffix_are_fine(tmp_path: Path) -> None:
    draw_classes(report("goods"), tmp_path / "A.PNG")
    assert (tmp_path / "A.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("tags", [0, 1, 40])
def test_a_dial_is_drawn_however_few_tags_there_are(tmp_path: Path, tags: int) -> None:
    scores = ("precision", "recall", "tag_f0.5", "tag_f1", "tag_f2")
    rows = [{"richness": richness} | dict.fromkeys(scores, richness) for richness in steps()]
    raw = np.linspace(0, 1, tags)
    right = (raw > 0.5).astype(np.float64)
    shown = {"raw": raw, "calibrated": raw**2}
    report = {
        "points": NAMES,
        "rows": rows,
        "tags": tags,
        "ece": {name: expected_calibration_error(values, right) for name, values in shown.items()},
        "reliability": {name: reliability(values, right) for name, values in shown.items()},
    }
    draw_dial(report, tmp_path / "dial.png", title="dial")
    assert (tmp_path / "dial.png").read_bytes().startswith(b"\x89PNG")


def test_a_learning_curve_of_one_size_and_seed_is_drawn(tmp_path: Path) -> None:
    point = {"pages": 50, "macro_f1": 0.5, "macro_f2": 0.6, "classes": {"US$ and NT$": {"f1": 0.5, "f2": 0.6}}}
    draw_learning_curve([point], tmp_path / "curve.svg", title="shop $5 and $6")
    text = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert "US$ and NT$</text>" in text
    assert "shop $5 and $6</text>" in text


def test_matplotlib_is_imported_only_to_draw() -> None:
    code = "import sys, batag.evaluation.charts; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
