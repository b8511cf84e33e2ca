"""`batag paper` as a researcher types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.paper.corner import SMALL, corner_corpus
from tests.tiny import typed

from batag.training.schedule import VERSIONS

COUNTS = {
    "bat": 1_123_971,
    "transformer": 793_475,
    "admin": 794_499,
    "switch": 26_634_827,
    "muse": 894_859,
    "performer": 791_427,
    "informer": 793_731,
    "evolved": 1_442_435,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    made = corner_corpus(tmp_path_factory.mktemp("corner"))
    return ["--train", str(made.train), "--dev", str(made.dev), "--test", str(made.test)]


def small() -> list[str]:
    return [part for setting in SMALL for part in ("--set", setting)]


def test_parameters_are_the_sheets_and_the_papers_number_is_explained() -> None:
    assert json.loads(typed("paper", "parameters", "--json").stdout)["parameters"] == COUNTS
    text = typed("paper", "parameters").stdout
    assert all(f"{number:,}" in text for number in COUNTS.values())
    assert "1.316 million" in text
    assert "1,315,971" in text


def test_schedules_are_printed_and_drawn(tmp_path: Path) -> None:
    done = typed("paper", "schedules", "--out", tmp_path)
    assert "v3.1" in done.stdout
    assert "1.397542e-03" in done.stdout
    assert (tmp_path / "schedules.png").exists()
    rates = json.loads(typed("paper", "schedules", "--json", "--out", tmp_path).stdout)["rates"]
    assert set(rates) > set(VERSIONS)
    assert rates["v3, beta as printed"]["4000"] == pytest.approx(1.318790e-3, rel=1e-6)
    assert rates["24 layers, transformer"]["12000" if "12000" in rates["v1"] else "4000"] < rates["24 layers, bat"]["4000"]


def test_thresholds_are_those_of_the_pages(corpus: list[str], tmp_path: Path) -> None:
    report = json.loads(typed("paper", "thresholds", *corpus[:2], "--json", "--out", tmp_path).stdout)
    assert (tmp_path / "thresholds.png").stat().st_size > 5_000
    counts, points = report["counts"], report["thresholds"]
    assert set(counts) == {"none", "brand", "goods"}
    for label, point in points["WCE"].items():
        assert point == pytest.approx(counts[label] / (counts["none"] + counts[label]), abs=5e-3)
        assert points["CE"][label] == pytest.approx(0.5, abs=2e-3)
    assert "tagged from (%)" in typed("paper", "thresholds", *corpus[:2], "--out", tmp_path).stdout


@pytest.mark.long
def test_a_table_is_trained_written_and_not_trained_again(corpus: list[str], tmp_path: Path) -> None:
    call = ["paper", "encoders", *corpus, *small(), "--epochs", 1, "--seeds", 2, "--jobs", 2, "--only-rows", "CE;PBP(0,8)"]
    call += ["--only-columns", "BAT;Transformer", "--out", tmp_path, "--name", "made"]
    first = typed(*call)
    assert first.returncode == 0, first.stderr
    assert "8/8" in first.stderr
    assert "(85.7)" in first.stdout
    text = (tmp_path / "made-encoders-part.md").read_text(encoding="utf-8")
    assert "8 of 8 cells finished" in text
    assert "--seeds 2" in text
    assert str(tmp_path) not in text
    report = json.loads((tmp_path / "made-encoders-part.json").read_text(encoding="utf-8"))
    assert [len(row["end"]["macro_f1"]) for row in report["cells"]] == [2, 2, 2, 2]
    assert (tmp_path / "made-encoders-part.png").stat().st_size > 5_000
    again = typed(*call, "--json")
    assert "8 of 8 cells are finished already" in again.stderr
    assert json.loads(again.stdout) == report


@pytest.mark.long
def test_what_is_finished_is_shown_without_training(corpus: list[str], tmp_path: Path) -> None:
    call = ["paper", "boost", *corpus, *small(), "--epochs", 1, "--out", tmp_path]
    assert typed(*call, "--only-rows", "CLA(1,20)").returncode == 0
    done = typed(*call, "--show")
    assert "5 of 6 cells are not finished" in done.stdout
    assert len(list((tmp_path / "cells").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["paper", "encoder"], "'encoder' is not a table"),
        (["paper", "encoders", "--train", "x.tsv"], "--train, --dev and --test go together"),
        (["paper", "encoders", "--train", "x", "--dev", "x", "--test", "x"], "x: is not a file"),
        (["paper", "encoders", "--only-columns", "BERT"], "'BERT' is not a column of this table"),
        (["paper", "encoders", "--show", "--name", "elsewhere"], "no corpora of finished cells are called 'elsewhere'"),
        (["paper", "encoders", "--set", "encoder.heads=3", "--quick"], "encoder.heads must divide encoder.width"),
        (["paper", "encoders", "--set", "encoder.nam=x", "--quick"], "Did you mean encoder.name?"),
        (["paper", "layers", "--set", "objective.weights=x", "--quick"], "objective.weights"),
        (
            ["paper", "ablations", "--set", "encoder.options.attention_scale=x", "--only-rows", "as it is", "--quick"],
            "attention scale",
        ),
        (["paper", "encoders", "--set", "objective.name=CE", "--quick"], "the table encoders itself sets objective.name"),
        (["paper", "encoders", "--set", "x", "--quick"], "is not TABLE.KEY=VALUE"),
        (["paper", "encoders", "--scale-warmup"], "the table encoders has no warm-ups of its own"),
    ],
)
def test_mistakes_are_one_clear_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = typed(*arguments)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_pages_that_teach_nothing_are_named_and_what_is_finished_stays(corpus: list[str], tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "1", "title": "no tags"}\n', encoding="utf-8")
    call = ["paper", "rates", "--train", empty, *corpus[2:], "--only-rows", "v1", "--epochs", 1, "--out", tmp_path / "out"]
    done = typed(*call)
    assert done.returncode == 1
    assert "no labelled page to learn from" in done.stderr
    assert "Traceback" not in done.stderr
