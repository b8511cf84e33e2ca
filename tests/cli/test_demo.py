"""`batag demo` goes the whole way: titles tagged by the starter, a shop from its export to tags, scores, what to type next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Run
from tests.tiny import typed


@pytest.mark.long
def test_the_demo_tags_starts_a_shop_scores_it_and_says_what_to_type_next(batag: Run, tmp_path: Path) -> None:
    done = batag("demo", "--out", tmp_path / "demo", "--pages", "30")
    assert done.returncode == 0, done.stderr
    for line in ("HITACHI", "象印", "after batag start", "batag tag", "batag serve", "batag start YOUR_EXPORT.csv"):
        assert line in done.stdout
    for name in ("shop.csv", "shop/CURRENT", "shop/out/tags.xlsx", "shop/out/report.html"):
        assert (tmp_path / "demo" / name).stat().st_size > 0


@pytest.mark.long
def test_the_demo_learns_and_can_be_repeated(batag: Run, tmp_path: Path) -> None:
    for _ in range(2):
        done = batag("demo", "--out", tmp_path / "demo", "--pages", "100", "--minutes", "0.5", "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["start"]["new_brands"]
        assert set(found["scores"]) == {"starter", "after batag start"}


def test_the_demo_is_not_written_over_a_file_or_with_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = typed("demo", "--out", tmp_path / "file")
    assert done.returncode == 1
    assert "is a file" in done.stderr
    done = typed("demo", "--out", tmp_path / "demo", "--pages", "30", "--set", "encoder.dept")
    assert done.returncode == 2
    assert not (tmp_path / "demo").exists()


def test_the_demo_takes_nothing_away_that_is_not_an_earlier_demos(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in ("shop/shop.json", "shop.csv"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    done = typed("demo", "--out", tmp_path)
    assert done.returncode == 1
    assert "not the folder of a demo" in done.stderr
    assert {path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()} == {"mine"}
