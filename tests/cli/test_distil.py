"""`batag distil` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.strategies import by_machine
from tests.tiny import catalogue, tiny_run, typed

from batag.cli.cautions import far_from_teacher
from batag.pages.formats import write_pages
from batag.pages.page import Page

SMALL = (
    "encoder.width=16",
    "encoder.depth=1",
    "encoder.inner=32",
    "schedule.warmup=40",
    "training.epochs=1",
    "training.export=false",
)
SETTINGS = [part for setting in SMALL for part in ("--set", setting)]
LONGER = ("--set", "training.epochs=10", "--set", "training.batch=8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages without labels, and a line that is none."""
    path = tmp_path_factory.mktemp("files") / "pages.jsonl"
    write_pages([Page(page.id, page.fields, language=page.language) for page in catalogue(15)], path)
    with open(path, "ab") as stream:
        stream.write(b"not a page\n")
    return path


def test_a_swift_bundle_is_shown_evaluated_and_tags(pages: Path, tmp_path: Path) -> None:
    done = typed("distil", tiny_run(), pages, "-o", tmp_path / "swift", *SETTINGS, *LONGER)
    assert done.returncode == 0, done.stderr
    assert "of token labels are the teacher's" in done.stdout
    assert f"batag tag {tmp_path / 'swift'}" in done.stdout
    assert "learns from flat on" in done.stderr
    assert "epoch   1  loss" in done.stderr
    assert "1 problem: 1 page skipped (1 bad-json)" in done.stderr
    assert "1 layers, 2 heads, width 16/32" in typed("show", tmp_path / "swift").stdout
    write_pages(catalogue(4, split="dev"), tmp_path / "dev.jsonl")
    scores = json.loads(typed("evaluate", tmp_path / "swift", tmp_path / "dev.jsonl", "--json", "--richness", "rich").stdout)
    assert scores["tokens"]["macro_f2"] > 0.4
    tagged = typed("tag", tmp_path / "swift", tmp_path / "dev.jsonl", "--out", tmp_path / "tagged.jsonl")
    assert tagged.returncode == 0, tagged.stderr
    assert len((tmp_path / "tagged.jsonl").read_bytes().splitlines()) == 12


def test_machines_get_json_and_dev_pages_choose_the_dial(pages: Path, tmp_path: Path) -> None:
    write_pages(catalogue(4, split="dev"), tmp_path / "dev.jsonl")
    call = ("distil", tiny_run(), pages, "-o", tmp_path / "swift", "--dev", tmp_path / "dev.jsonl", "--json", *SETTINGS)
    message = json.loads(typed(*call).stdout)
    assert message["bundle"] == str(tmp_path / "swift")
    assert message["trained_on"]["pages"] + message["trained_on"]["held_out"] == 45
    assert 0 <= message["metrics"]["teacher"]["same"] <= 1
    assert set(message["metrics"]["dev"]["points"]) == {"no offsets", "clean", "balanced", "rich"}
    evaluated = typed("evaluate", tiny_run(), tmp_path / "dev.jsonl", "--json", "--engine", "torch")
    assert message["teacher_dev"]["tags"]["micro"] == json.loads(evaluated.stdout)["tags"]["micro"]
    assert len(message["doubts"]) == 1  # it learnt for one epoch


def test_a_student_far_below_its_teacher_is_called_that(pages: Path, tmp_path: Path) -> None:
    write_pages(catalogue(4, split="dev"), tmp_path / "dev.jsonl")
    poor = "the student is much worse than its teacher: "
    done = typed("distil", tiny_run(), pages, "-o", tmp_path / "one", *SETTINGS)
    assert f"{poor}only " in done.stdout
    done = typed("distil", tiny_run(), pages, "-o", tmp_path / "two", *SETTINGS, "--dev", tmp_path / "dev.jsonl")
    rows = [line.replace("│", " ").split() for line in done.stdout.splitlines() if line.startswith(("│ teacher", "│ student"))]
    assert [(row[0], len(row)) for row in rows] == [("teacher", 5), ("student", 5)]
    assert f"{poor}up to " in done.stdout


def test_a_student_near_its_teacher_is_not_doubted() -> None:
    reports = {name: {"tags": {"micro": {"f1": f1, "f2": 0.8}}} for name, f1 in (("teacher", 0.8), ("student", 0.76))}
    assert far_from_teacher(0.2, reports) == far_from_teacher(0.9, {}) == []
    reports["teacher"]["tags"]["micro"]["f1"] = 0.9
    assert "up to 14.0 points" in far_from_teacher(0.99, reports)[0]
    assert "only 80.0 tag F1" in far_from_teacher(0.8, {})[0]


def test_dev_pages_that_no_person_has_seen_are_named_loudly_also_beside_json(pages: Path, tmp_path: Path) -> None:
    write_pages(map(by_machine, catalogue(4, split="dev")), tmp_path / "dev.jsonl")
    call = ("distil", tiny_run(), pages, "-o", tmp_path / "swift", "--dev", tmp_path / "dev.jsonl", "--json", *SETTINGS)
    done = typed(*call)
    assert json.loads(done.stdout)["metrics"]["dev"]["measured_by"] == "terms"
    assert "NO PERSON HAS REVIEWED ANY OF THESE PAGES" in " ".join(done.stderr.split())


def test_what_is_wrong_is_one_line_and_leaves_nothing_behind(pages: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    for code, what, call in (
        (1, "is there already", (tiny_run(), pages, "-o", tmp_path / "there")),
        (1, "too few pages", (tiny_run(), tmp_path / "empty.jsonl", "-o", tmp_path / "new")),
        (1, "is not there", (tmp_path / "nowhere", pages, "-o", tmp_path / "new")),
        (1, "not JSON", (tiny_run(), pages, "-o", tmp_path / "new", "--strict")),
        (2, "not for a student", (tiny_run(), pages, "-o", tmp_path / "new", "--set", "input.kind=word")),
        (2, "Missing argument", (tiny_run(), "-o", tmp_path / "new")),
    ):
        done = typed("distil", *call)
        assert done.returncode == code, done.stderr
        assert what in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "there" / "file").read_text() == "mine"
