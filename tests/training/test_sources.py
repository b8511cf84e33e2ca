"""Whose labels are learnt from and measured by: weights a source and token, and that only people measure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.strategies import by_machine
from tests.tiny import QUICK, catalogue, tiny_run, tiny_tagger, typed

import batag
from batag.labels.provenance import MADE_UP, Measuring, SourceCounts, in_words, measured_by
from batag.pages.formats import read_pages, write_pages
from batag.pages.page import SOURCES, Page, Tag
from batag.pages.problems import Problems
from batag.segmentation.segmentation import Segmentation
from batag.training.data import Data, DataFiles, OldPages, read_data
from batag.training.examples import Example, choose_scheme, label_words, make_examples
from batag.training.recipe import read_recipe

pytestmark = pytest.mark.usefixtures("few_rounds")

WEIGHTS = {"person": 1.0, "column": 0.5, "terms": 0.25, "model": 0.125, "llm": 0.75}
TITLE = "acme red shoes"
SETTINGS = [part for setting in (*QUICK, "training.epochs=2") for part in ("--set", setting)]


def tag(text: str, source: str, label: str = "brand") -> Tag:
    start = TITLE.index(text)
    return Tag("title", start, start + len(text), label, text, source=source)


def page(*tags: Tag, reviewed: bool | None = None, id: str = "1") -> Page:
    return Page(id, {"title": TITLE}, language="en", tags=tags, labelled=True, reviewed=reviewed)


def learnt(*pages: Page, weights: Mapping[str, float] = WEIGHTS) -> list[Example]:
    known = page(tag("acme", "person"), id="known")
    found = label_words([*pages, known], Segmentation(), weights=weights)
    scheme = choose_scheme("flat", found, known=("brand",), where="pages")
    return make_examples(found, scheme, window=256, overlap=64)[:-1]


def read(tmp_path: Path, pages: Sequence[Page], *, dev: Sequence[Page] = ()) -> Data:
    write_pages(pages, tmp_path / "train.jsonl")
    write_pages(dev, tmp_path / "dev.jsonl")
    files = DataFiles((tmp_path / "train.jsonl",), (tmp_path / "dev.jsonl",) if dev else ())
    return read_data(files, read_recipe(None), problems=Problems())


def test_what_people_have_seen_counts_whole_and_is_trained_as_ever() -> None:
    by_people, empty = learnt(page(tag("acme", "person")), page(id="2"))
    assert (by_people.weights, by_people.reviewed, empty.weights, empty.reviewed) == (None, True, None, True)


@pytest.mark.parametrize("source", SOURCES[1:])
def test_a_page_that_a_machine_tagged_counts_as_that_machine(source: str) -> None:
    (example,) = learnt(page(tag("acme", source)))
    assert example.weights == [WEIGHTS[source]] * 3
    assert not example.reviewed


def test_a_token_counts_as_who_set_its_tag_and_one_without_as_the_least_trusted_machine_on_the_page() -> None:
    tags = (tag("acme", "person"), tag("red", "column", "colour"))
    assert learnt(page(*tags))[0].weights == [1.0, 0.5, 0.5]
    tags = (tag("acme", "llm"), tag("shoes", "terms", "goods"))
    assert learnt(page(*tags))[0].weights == [0.75, 0.25, 0.25]


def test_on_a_page_that_no_person_has_seen_nothing_is_none_by_a_person() -> None:
    nothing_found, unfinished = learnt(page(reviewed=False), page(tag("acme", "person"), reviewed=False, id="2"))
    assert nothing_found.weights == [0.125] * 3
    assert unfinished.weights == [1.0, 0.125, 0.125]


def test_a_weight_of_0_leaves_tags_and_what_is_around_them_out() -> None:
    silent = WEIGHTS | {"model": 0.0}
    tags = (tag("acme", "person"), tag("shoes", "model", "goods"))
    found = label_words([page(*tags)], Segmentation(), weights=silent)
    assert found.class_tags == {"brand": 1}
    assert found.class_tokens == {"brand": 1, "none": 0}
    (example,) = learnt(page(*tags), weights=silent)
    assert example.labels == [1, -1, -1]


def test_texts_of_tags_that_count_0_stay_stop_words() -> None:
    page = Page("1", {"title": "acme tape pack of 6"}, language="en", tags=(Tag("title", 0, 4, "brand", "acme"),))
    pack = Tag("title", 10, 19, "pack", "pack of 6", source="model")
    both = replace(page, tags=(*page.tags, pack), reviewed=False)
    assert label_words([both], Segmentation(), weights=WEIGHTS).allowed
    assert not label_words([both], Segmentation(), weights=WEIGHTS | {"model": 0.0}).allowed


def test_a_weight_of_people_other_than_1_counts_too() -> None:
    assert learnt(page(tag("acme", "person")), weights=WEIGHTS | {"person": 0.5})[0].weights == [0.5] * 3


def test_weights_follow_their_tokens_into_windows_and_fields() -> None:
    fields = {"title": TITLE, "description": TITLE}
    long = Page("1", fields, language="en", tags=(tag("red", "llm"), replace(tag("acme", "person"), field="description")))
    found = label_words([long], Segmentation(), weights=WEIGHTS)
    scheme = choose_scheme("flat", found, where="pages")
    for window in (256, 4):
        examples = make_examples(found, scheme, window=window, overlap=2)
        assert len(examples) == 1 or window == 4
        tagged = [
            (word, weight)
            for each in examples
            for word, weight, label in zip(each.words, each.weights or (), each.labels, strict=True)
            if label == 1
        ]
        assert tagged == [("red", 0.75), ("acme", 1.0)]


def test_a_training_counts_pages_and_tags_of_each_source(tmp_path: Path) -> None:
    people, machines = catalogue(4), [by_machine(replace(each, id=f"m{each.id}"), "model") for each in catalogue(4, seed=2)]
    counted = read(tmp_path, [*people, *machines], dev=people).statistics
    tags = {name: sum(len(each.tags) for each in pages) for name, pages in (("person", people), ("model", machines))}
    assert counted["train"]["sources"] == {
        "person": {"pages": 12, "tags": tags["person"], "weight": 1.0},
        "model": {"pages": 12, "tags": tags["model"], "weight": 0.3},
    }
    assert counted["train"]["reviewed"] == 12


def test_one_page_and_one_tag_are_said_in_the_singular() -> None:
    assert in_words({"person": {"pages": 1, "tags": 1}, "model": {"pages": 2, "tags": 0}}) == (
        "person: 1 page, 1 tag; model: 2 pages, 0 tags"
    )


def test_only_people_measure_if_there_is_a_single_page_of_theirs(tmp_path: Path) -> None:
    people = catalogue(2)
    machines = [by_machine(replace(each, id=f"m{each.id}"), "model") for each in catalogue(4, seed=2)]
    data = read(tmp_path, people, dev=[*machines, people[0]])
    assert [each.id for each in data.new_dev.pages] == [people[0].id]
    assert (data.statistics["measured_by"], data.statistics["dev"]["not_reviewed"]) == ("person", 12)


def test_without_a_page_by_people_machines_measure_and_it_is_said(tmp_path: Path) -> None:
    machines = [by_machine(each, "model") for each in catalogue(8)]
    assert read(tmp_path, machines).statistics["measured_by"] == "model"
    both = [*machines[:4], *(by_machine(each) for each in machines[4:])]
    data = read(tmp_path, machines, dev=both)
    assert data.statistics["measured_by"] == "terms, model"
    assert len(data.new_dev.pages) == len(both)


def old_dev_by_people(tmp_path: Path, *, dev: Sequence[Page] = ()) -> Data:
    """New pages by machines beside old dev pages that people have seen."""
    machines = [by_machine(replace(each, id=f"m{each.id}"), "model") for each in catalogue(8, seed=2)]
    for name, pages in (("train", machines), ("dev", dev), ("old", catalogue(4))):
        write_pages(pages, tmp_path / f"{name}.jsonl")
    old = OldPages(tmp_path / "old.jsonl", {})
    files = DataFiles((tmp_path / "train.jsonl",), (tmp_path / "dev.jsonl",) if dev else (), old_dev=(old,))
    return read_data(files, read_recipe(None), problems=Problems())


def test_new_dev_pages_by_machines_are_left_out_and_counted_where_people_have_seen_old_ones(tmp_path: Path) -> None:
    dev = [by_machine(replace(each, id=f"d{each.id}"), "model") for each in catalogue(2, seed=3)]
    data = old_dev_by_people(tmp_path, dev=dev)
    assert (data.new_dev.pages, len(data.old_dev.pages)) == ([], 12)
    assert (data.statistics["measured_by"], data.statistics["dev"]["not_reviewed"]) == ("person", len(dev))


def test_no_page_by_a_machine_is_held_out_where_people_have_seen_old_dev_pages(tmp_path: Path) -> None:
    data = old_dev_by_people(tmp_path)
    assert (len(data.train), data.statistics["train"]["left_out"], data.new_dev.pages) == (24, 0, [])
    assert (data.statistics["measured_by"], data.statistics["dev"]["not_reviewed"]) == ("person", 0)


def test_pages_to_measure_by_are_told_as_they_come() -> None:
    machine, person, nobody = page(tag("acme", "llm")), page(tag("acme", "person")), Page("3", {"title": TITLE})
    for pages in ([machine, nobody, person, machine], [person, machine, nobody, machine]):
        measuring = Measuring(pages)
        assert list(measuring) == [person]
        assert (measuring.by, measuring.not_reviewed, measuring.not_labelled) == ("person", 2, 1)
    measuring = Measuring([machine, nobody])
    assert (list(measuring), measuring.by, measuring.not_reviewed) == ([machine], "llm", 0)


def test_training_on_what_a_model_tagged_says_loudly_that_no_person_has_seen_any_of_it(tmp_path: Path) -> None:
    tagger = tiny_tagger()
    pages = [replace(each, tags=tuple(tagger.tag(each)), reviewed=False) for each in catalogue(12)]
    write_pages(pages, tmp_path / "tagged.jsonl")
    done = typed("train", tmp_path / "tagged.jsonl", "--out", tmp_path / "run", *SETTINGS)
    assert done.returncode == 0, done.stderr
    message = " ".join(done.stderr.split())
    assert "NO PERSON HAS REVIEWED ANY OF THESE PAGES" in message
    assert "tags of the source model" in message
    assert "no person has reviewed any of the training pages" in message
    assert "weight 0.3" in message
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_bytes().splitlines()]
    assert {line["measured_by"] for line in lines if line["kind"] == "epoch"} == {"model"}
    bundle = json.loads((tmp_path / "run" / "bundle" / "bundle.json").read_bytes())
    assert bundle["metrics"]["dev"]["measured_by"] == "model"
    assert bundle["trained_on"]["sources"].keys() == {"model"}
    shown = " ".join(typed("show", tmp_path / "run").stdout.split())
    assert "NO PERSON HAS REVIEWED ANY OF THESE PAGES" in shown
    assert "labelled by model:" in shown
    done = typed("evaluate", tmp_path / "run", tmp_path / "tagged.jsonl", "--json")
    assert json.loads(done.stdout)["measured_by"] == "model"
    assert "NO PERSON HAS REVIEWED ANY OF THESE PAGES" in " ".join(done.stderr.split())


def test_a_training_on_pages_by_people_says_so_and_nothing_is_loud(tmp_path: Path) -> None:
    write_pages(catalogue(12), tmp_path / "train.jsonl")
    done = typed("train", tmp_path / "train.jsonl", "--out", tmp_path / "run", *SETTINGS)
    assert "NO PERSON" not in done.stderr
    assert "train: labels by person: 3" in done.stderr
    assert "NO PERSON" not in typed("show", tmp_path / "run").stdout


def test_a_tagger_from_python_gives_tags_by_model_and_files_keep_it(tmp_path: Path) -> None:
    title = catalogue(1)[0]["title"]
    tags = batag.load(tiny_run()).tag({"title": title})
    assert {each.source for each in tags} == {"model"}
    one = Page("1", {"title": title}, tags=tuple(tags))
    write_pages([one], tmp_path / "a.jsonl")
    assert list(read_pages(tmp_path / "a.jsonl")) == [one]


def test_an_inspection_shows_whose_labels_a_file_has(tmp_path: Path) -> None:
    write_pages([*catalogue(1), *(by_machine(replace(each, id=f"m{each.id}")) for each in catalogue(2))], tmp_path / "a.jsonl")
    report = json.loads(typed("inspect", tmp_path / "a.jsonl", "--json").stdout)["splits"]["train"]
    assert (report["reviewed_pages"], report["labelled_pages"]) == (3, 9)
    assert {name: counts["pages"] for name, counts in report["sources"].items()} == {"person": 3, "terms": 6}
    shown = " ".join(typed("inspect", tmp_path / "a.jsonl").stdout.split())
    assert "person: 3 pages" in shown
    assert "reviewed by people 3 of the labelled pages" in shown


def test_made_up_pages_are_counted_apart_from_those_of_people() -> None:
    counts = SourceCounts()
    counts.add(page(tag("acme", "person")))
    for number in range(2):
        counts.add(replace(page(tag("acme", "person"), id=str(number)), extra={MADE_UP: True}))
    assert counts.report() == {"person": {"pages": 3, "tags": 3, "made_up_pages": 2, "made_up_tags": 2}}
    assert in_words(counts.report()) == "person: 1 page, 1 tag; made-up pages: 2 pages, 2 tags"
    made_up = [replace(page(), extra={MADE_UP: True})]
    assert measured_by(made_up, otherwise="person") == MADE_UP
    assert measured_by([*made_up, page()], otherwise="person") == measured_by([], otherwise="person") == "person"
