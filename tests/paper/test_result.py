"""What is written of a table, also of half a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batag.paper.comparison import compare
from batag.paper.figures import draw_result, draw_schedules
from batag.paper.markdown import write_markdown
from batag.paper.result import Result
from batag.paper.tables import TABLES


def cell(*, right: float, seed: int = 0, commit: str | None = "abc") -> dict[str, Any]:
    """A finished cell as the store has it."""
    rng = np.random.default_rng(seed)
    pages = []
    for _ in range(40):
        truth = rng.integers(0, 3, size=15)
        predictions = np.where(rng.random(15) < right, truth, rng.integers(0, 3, size=15))
        pages.append(np.bincount(3 * truth + predictions, minlength=9).tolist())
    confusion = np.array(pages).sum(0).reshape(3, 3)
    classes = ["none", "goods", "brand"]
    amounts = {
        "true": dict(zip(classes, confusion.sum(1).tolist(), strict=True)),
        "predicted": dict(zip(classes, confusion.sum(0).tolist(), strict=True)),
    }
    metrics = {f"macro_{f}{w}": right for f in ("f1", "f2") for w in ("", "_without_none")}
    scores = metrics | amounts | {"epoch": 4, "pages": pages, "confusion": confusion.tolist()}
    return {
        "key": f"{right}-{seed}",
        "commit": commit,
        "recipe": {"training": {"epochs": 4, "seed": seed}},
        "corpus": {"name": "made"},
        "versions": {"batag": "0.1", "torch": "2"},
        "date": "2026-01-01",
        "pages": {"train": 1000, "dev": 10, "test": 40},
        "classes": classes,
        "counts": [100, 20, 10],
        "seconds": 10.0,
        "epochs": [{"epoch": n, "seconds": 1.0 * n} | metrics | amounts for n in (1, 2, 3, 4)],
        "test": {"end": scores, "best": scores},
    }


@pytest.fixture
def half() -> Result:
    result = Result(TABLES["encoders"].only("CE;WCE", "BAT;Transformer;Admin"), done=4, wanted=12)
    result.finished = {
        ("CE", "BAT"): [cell(right=0.9), cell(right=0.88, seed=1)],
        ("CE", "Transformer"): [cell(right=0.5)],
        ("WCE", "BAT"): [cell(right=0.7, commit="def")],
    }
    diverged = {key: value for key, value in cell(right=0.5).items() if key != "test"} | {"failed": "the loss of step 3 is nan"}
    result.failed = {("WCE", "Admin"): [diverged], ("WCE", "BAT"): [diverged]}
    return result


def test_half_a_table_is_written_with_the_papers_numbers_beside(half: Result) -> None:
    text = write_markdown(half, command="batag paper encoders --epochs 4")
    assert "# Encoders and objectives, Chinese (the paper's tables 3 and 4)" in text
    assert "4 epochs (the paper: 50), seeds 0, 1; 4 of 12 cells finished" in text
    assert "1,000 / 10 / 40 pages, training tokens 100 : 20 : 10 (none, goods, brand)" in text
    assert "`batag paper encoders --epochs 4`" in text
    assert "Cells by the commit that trained them: abc (5), def (1)." in text
    assert "| CE | **89.0 ± 1.4** (paper 85.7) | 50.0 (1 seed) (paper 84.0) | - (paper 84.5) |" in text
    assert "| WCE | 70.0 (1 of 2 failed) (paper 85.5) | - (paper 82.9) | failed (paper 84.5) |" in text
    assert "- WCE, Admin, seed 0: the loss of step 3 is nan" in text


def test_differences_are_the_base_minus_the_other_with_the_papers(half: Result) -> None:
    found = half.difference(("CE", "BAT"), ("CE", "Transformer"), metric="macro_f2", moment="end")
    # The Transformer has one seed: BAT's second does not count.
    pages = {key: np.array([cells[0]["test"]["end"]["pages"]]) for key, cells in half.finished.items()}
    assert found == compare(pages["CE", "BAT"], pages["CE", "Transformer"], beta=2)
    assert found is not None
    assert found.points > 0
    assert half.difference(("CE", "BAT"), ("CE", "Admin"), metric="macro_f2", moment="end") is None
    text = write_markdown(half, command="")
    assert f"| CE | {found} (paper +1.9) |" in text
    assert "not distinguishable" not in str(found)


def test_it_counts_how_often_the_base_is_ahead(half: Result) -> None:
    text = write_markdown(half, command="")
    assert "| macro F2, after the last epoch | ahead 1 of 1 (1 clear), behind 0 (0 clear) | - |" in text


def test_layers_say_how_much_of_a_run_was_warm_up() -> None:
    result = Result(TABLES["layers"].only("12 layers", "BAT"))
    one = cell(right=0.8)
    one["recipe"]["schedule"] = {"warmup": 8000}
    one["epochs"][-1] |= {"step": 8655, "loss": 11.49}
    result.finished = {("12 layers", "BAT"): [one]}
    assert "| 12 layers | 8,000 of 8,655, loss 11.5 |" in write_markdown(result, command="")


def test_curves_say_the_score_of_every_epoch() -> None:
    result = Result(TABLES["curves"])
    result.finished = {("CE", "BAT"): [cell(right=0.8)], ("WCE", "BAT"): [cell(right=0.6)]}
    text = write_markdown(result, command="")
    assert "| epoch | CE, BAT | WCE, BAT |" in text
    assert "| 4 | 80.0 | 60.0 |" in text


def test_it_says_when_the_base_reached_the_others_best(half: Result) -> None:
    quick, slow = cell(right=0.9), cell(right=0.6)
    for number, line in enumerate(slow["epochs"], 1):
        line["macro_f2"] = 0.1 * number
    for number, line in enumerate(quick["epochs"], 1):
        line["macro_f2"] = 0.2 * number
    half.finished = {("CE", "BAT"): [quick], ("CE", "Transformer"): [slow]}
    assert half.sooner(("CE", "BAT"), ("CE", "Transformer")) == "epoch 2, 2 s (itself 4, 4 s)"
    assert half.sooner(("CE", "Transformer"), ("CE", "BAT")) == "never (itself 4, 4 s)"
    assert "| CE | epoch 2, 2 s (itself 4, 4 s) | - |" in write_markdown(half, command="")


def test_objectives_are_compared_beside_the_encoders(half: Result) -> None:
    found = half.difference(("CE", "BAT"), ("WCE", "BAT"), metric="macro_f1_without_none", moment="best")
    text = write_markdown(half, command="")
    section = text.split("## CE minus the others")[1].split("### Macro F1 without none, at the best macro F2 on dev")[1]
    assert f"| WCE | {found} |" in section
    assert ["CE", "BAT"] in [each["base"] for each in half.to_dict()["differences"] if each["other"] == ["WCE", "BAT"]]


def test_places_that_share_no_seed_are_not_compared(half: Result) -> None:
    half.finished["CE", "Admin"] = [cell(right=0.5, seed=7)]
    assert half.difference(("CE", "BAT"), ("CE", "Admin"), metric="macro_f1", moment="end") is None


def test_rows_are_compared_where_the_base_is_a_row() -> None:
    result = Result(TABLES["boost"].only("CLA(1,1);CLA(1,20)", None))
    assert result.pairs("CLA(1,20)") == [(("CLA(1,1)", "BAT"), ("CLA(1,20)", "BAT"))]


def test_the_report_holds_every_seed_and_difference(half: Result) -> None:
    report = half.to_dict()
    assert report["cells"][0]["end"]["macro_f1"] == [90.0, 88.0]
    assert report["cells"][0]["paper"] == {"macro_f1": 85.7, "macro_f2": 85.7}
    assert report["failed"][0] == {"row": "WCE", "column": "Admin", "seed": 0, "why": "the loss of step 3 is nan"}
    assert (report["epochs"], report["seeds"], report["dates"]) == ([4], [0, 1], ["2026-01-01"])
    assert report["versions"] == ["batag 0.1, torch 2"]
    differences = {(tuple(each["base"]), tuple(each["other"])): each for each in report["differences"]}
    assert len(differences[("CE", "BAT"), ("CE", "Transformer")]["end_macro_f1"]) == 3
    assert "end_macro_f1" not in differences[("CE", "BAT"), ("CE", "Admin")]


def test_amounts_stand_beside_the_truth() -> None:
    result = Result(TABLES["objectives"], done=1, wanted=16)
    one = cell(right=0.8)
    result.finished = {("CE", "BAT"): [one]}
    text = write_markdown(result, command="")
    true, predicted = one["test"]["end"]["true"], one["test"]["end"]["predicted"]
    assert f"| truth |  | {true['goods']:,} | {true['brand']:,} |  |  |" in text
    assert f"| CE | BAT | {predicted['goods']:,} | {predicted['brand']:,} | 7,156 | 3,887 |" in text
    assert "Macro F1 without none on test" in text
    assert "(paper 79.9)" in text


def test_where_rows_are_compared_the_best_of_a_column_is_bold() -> None:
    result = Result(TABLES["boost"])
    result.finished = {("CLA(1,1)", "BAT"): [cell(right=0.8)], ("CLA(1,20)", "BAT"): [cell(right=0.6)]}
    text = write_markdown(result, command="")
    assert "| CLA(1,1) | **80.0** (paper 85.1) |" in text
    assert "| CLA(1,20) | 60.0 (paper 85.7) |" in text


def test_what_was_left_out_of_the_pages_is_said() -> None:
    result = Result(TABLES["boost"])
    one = cell(right=0.8) | {
        "left_out": {"train": {"tags_lost": 3}, "dev": {}, "test": {"not_labelled": 7}},
        "problems": {"no_text": 2},
    }
    result.finished = {("CLA(1,1)", "BAT"): [one]}
    text = write_markdown(result, command="")
    assert "Left out or not fitting: train: 3 tags lost; test: 7 not labelled; 2 no_text." in text


def test_a_table_without_any_cell_says_so() -> None:
    text = write_markdown(Result(TABLES["rates"], wanted=7), command="batag paper rates")
    assert "Nothing finished yet (0 of 7 cells)" in text


@pytest.mark.parametrize("name", ["encoders", "curves", "objectives"])
def test_pictures_are_drawn_of_whatever_there_is(name: str, tmp_path: Path) -> None:
    result = Result(TABLES[name])
    draw_result(result, tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()
    result.finished = {("CE", "BAT"): [cell(right=0.8), cell(right=0.7, seed=1)], ("WCE", "BAT"): [cell(right=0.6)]}
    draw_result(result, tmp_path / "some.png")
    assert (tmp_path / "some.png").stat().st_size > 5_000


def test_the_schedules_are_drawn(tmp_path: Path) -> None:
    draw_schedules(tmp_path / "schedules.svg", steps=9_000)
    text = (tmp_path / "schedules.svg").read_text(encoding="utf-8")
    assert all(version in text for version in ("v1", "v3.1", "v5", "v3, beta as printed"))
