from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.strategies import by_machine
from tests.tiny import QUICK, catalogue, typed

from batag.errors import UsageError
from batag.pages.formats import write_pages
from batag.training.learning_curve import Point, pages_for, parse_sizes, split_pages


def points(values: dict[int, float]) -> list[Point]:
    return [Point(pages, 0, value, value, {}) for pages, value in values.items()]


def test_sizes_are_the_usual_ones_up_to_all_pages_or_those_that_are_said() -> None:
    assert parse_sizes(None, most=700) == [50, 100, 250, 500, 700]
    assert parse_sizes("500,100", most=700) == [100, 500]
    for wrong in ("many", "0", "-5", "800", "1.5"):
        with pytest.raises(UsageError, match="--sizes"):
            parse_sizes(wrong, most=700)


def test_a_smaller_size_is_the_beginning_of_a_larger_one_and_dev_pages_are_others() -> None:
    pages = catalogue(30)
    train, dev = split_pages(pages, None, seed=3)
    assert {page.id for page in train} | {page.id for page in dev} == {page.id for page in pages}
    assert not {id(page) for page in train} & {id(page) for page in dev}
    assert split_pages(pages, None, seed=3)[0] == train
    assert split_pages(pages, None, seed=4)[0] != train


def test_only_pages_that_people_labelled_are_learnt_from_and_measured_by() -> None:
    pages = catalogue(2)
    people, weak = pages[:4], list(map(by_machine, pages[4:]))
    train, dev = split_pages(people[:2] + weak, people[2:] + weak, seed=0)
    assert sorted(page.id for page in train) == sorted(page.id for page in people[:2])
    assert dev == people[2:]


def test_a_power_law_is_continued_and_a_flat_curve_is_not() -> None:
    law = points({pages: 1 - 2 * pages**-0.5 for pages in (100, 200, 400, 800)})
    wanted = pages_for(law, "macro_f2", gain=0.01)
    assert wanted == pytest.approx((2 / (2 * 800**-0.5 - 0.01)) ** 2, rel=0.01)
    assert pages_for(points({100: 0.8, 200: 0.8, 400: 0.8}), "macro_f1", gain=0.01) is None
    assert pages_for(points({100: 0.8, 200: 0.9}), "macro_f1", gain=0.01) is None
    assert pages_for(points({100: 0.9, 200: 0.8, 400: 0.7}), "macro_f1", gain=0.01) is None


@pytest.mark.long
def test_the_command_trains_each_size_once_and_draws(tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    write_pages(catalogue(30), pages)
    settings = [each for setting in (*QUICK, "training.epochs=2") for each in ("--set", setting)]
    command = ("curve", pages, "--out", tmp_path / "curve", "--sizes", "20,40", *settings)
    first = typed(*command, "--json")
    assert first.returncode == 0, first.stderr
    found = json.loads(first.stdout)
    assert [point["pages"] for point in found["points"]] == [20, 40]
    assert (tmp_path / "curve" / "curve.png").stat().st_size > 1000
    bundles = {path: path.stat().st_mtime_ns for path in (tmp_path / "curve").glob("*/bundle/bundle.json")}
    again = typed(*command)
    assert again.returncode == 0, again.stderr
    assert "one more point of macro F2" in again.stdout
    assert bundles == {path: path.stat().st_mtime_ns for path in bundles}
    other = typed(*command, "--set", "training.epochs=3")
    assert (other.returncode, "another recipe" in other.stderr) == (1, True)
    mended = [replace(page, tags=page.tags[1:]) for page in catalogue(30)]
    write_pages(mended, pages)
    other = typed(*command)
    assert (other.returncode, "on other pages" in other.stderr) == (1, True)
    other = typed("curve", pages, "--out", pages)
    assert (other.returncode, "is no folder" in other.stderr) == (1, True)


def test_a_size_whose_pages_show_no_tag_is_left_out_and_the_others_are_trained(tmp_path: Path) -> None:
    pages, dev = tmp_path / "pages.jsonl", tmp_path / "dev.jsonl"
    sample = catalogue(14)
    order, held = split_pages(sample[:-2], sample[-2:], seed=0)
    given = [replace(page, tags=()) if page is order[0] else page for page in sample[:-2]]
    weak = [by_machine(replace(page, id=f"weak-{page.id}")) for page in sample[:3]]
    write_pages([*given, *weak], pages)
    write_pages(held, dev)
    settings = [each for setting in (*QUICK, "training.epochs=1") for each in ("--set", setting)]
    command = ("curve", pages, "--dev", dev, "--out", tmp_path / "curve", *settings)
    done = typed(*command, "--sizes", "1,30", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [point["pages"] for point in found["points"]] == [30]
    assert (found["without_tags"], found["not_reviewed_left_out"]) == ([{"pages": 1, "seed": 0}], 3)
    assert "1 page, seed 0: left out, no tag" in done.stderr
    assert "left out 3 pages that no person has reviewed" in done.stderr
    done = typed(*command, "--sizes", "1")
    assert (done.returncode, "no tag on the pages of any size. Ask for larger" in done.stderr) == (1, True)
