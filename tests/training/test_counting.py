"""One way of counting: what training says of its dev pages, evaluation says of them too; stop words; old and new pages."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tiny import QUICK, ScriptedEngine, describe, scripted_tagger, typed

import batag
from batag.bundles.bundle import read_bundle
from batag.cli.evaluate import evaluate
from batag.evaluation.tokens import TokenScores
from batag.labels.scheme import Scheme
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.tagging.assessment import assess
from batag.tagging.tagger import Tagger
from batag.training.base_bundle import recipe_of
from batag.training.data import DataFiles
from batag.training.loop import EpochDone
from batag.training.prepared import FinishedRun, PreparedRun
from batag.training.recipe import read_recipe
from batag.training.run import Run

pytestmark = pytest.mark.usefixtures("few_rounds")

PACKS = ("12 oz", "Pack of 6", "One A Day", "8 oz")


def labelled(id: str, title: str, *tags: tuple[str, str], **more: Any) -> Page:
    """A page whose tags are these texts, each where it stands first after the one before."""
    page, done, found = Page(id, {"title": title}, language="en", **more), 0, []
    for text, label in tags:
        done = title.index(text, done)
        found.append(page.cut("title", done, done + len(text), label))
        done += len(text)
    return replace(page, tags=tuple(found), labelled=True)


def packs(count: int, *, name: str = "p") -> list[Page]:
    """Pages with tags that touch, tags of stop words, and one that no token can give."""
    pages = []
    for number in range(count):
        pack = PACKS[number % len(PACKS)]
        title = f"zorb quix shampoo{number} {pack}"
        shampoo = ("shamp", "feature") if number % 3 == 0 else (f"shampoo{number}", "feature")
        pages.append(labelled(f"{name}{number}", title, ("zorb", "goods"), ("quix", "goods"), shampoo, (pack, "pack")))
    return pages


def trained(
    folder: Path, pages: list[Page], *settings: str, dev: list[Page] | None = None, base: Path | None = None
) -> FinishedRun:
    folder.mkdir(parents=True)
    files = {"train": pages} | ({} if dev is None else {"dev": dev})
    for name, own in files.items():
        write_pages(own, folder / f"{name}.jsonl")
    chosen = DataFiles((folder / "train.jsonl",), () if dev is None else (folder / "dev.jsonl",))
    # Labels that a scripted engine may give to each word by itself.
    flat = ("pages.scheme=flat", *settings) if base is None else settings
    recipe = read_recipe(None, settings=flat, base=None if base is None else recipe_of(base))
    run = Run.create(folder / "run", recipe, chosen if base is None else chosen.going_on_from(base))
    return run.prepare(device="cpu").finish()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    folder = tmp_path_factory.mktemp("packs") / "first"
    return trained(folder, packs(48), *QUICK, "training.epochs=4", dev=packs(40, name="d"))


def words(tagger: Tagger, **labels: str) -> Tagger:
    """The same bundle with an engine that is told what to say."""
    return Tagger(tagger.bundle, engine=ScriptedEngine(tagger.scheme, lambda word: labels.get(word.lower())))


# Training and evaluation


def test_training_and_evaluation_say_the_same_of_the_same_pages(run: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    dev = run.folder.parent / "dev.jsonl"
    evaluate(run.folder, [dev], as_json=True)
    report = json.loads(capsys.readouterr().out)
    shipped = describe(run.folder / "bundle")["metrics"]["dev"]
    for key in ("tokens", "tags", "stop_words", "pages_all_right"):
        assert report[key] == shipped[key] == json.loads(json.dumps(run.scores[key])), key
    # What people set: two goods that touch are two, and what no token can give is missed.
    assert shipped["tags"]["classes"]["goods"]["true"] == 80
    assert shipped["tags"]["classes"]["feature"]["true"] == 40
    assert shipped["tags"]["micro"]["true"] == 160


# Stop words


def test_a_text_that_training_pages_tag_is_never_forbidden(run: FinishedRun) -> None:
    bundle = read_bundle(run.folder)
    tagger = Tagger(bundle, engine=ScriptedEngine(bundle.scheme, lambda word: None if word == "zorb" else "pack"))
    for text in ("12 oz", "8.5 OZ", "pack of 24", "Pack of 6", "one a day", "One  A Day", "１２ oz"):
        assert [tag.text for tag in tagger.tag({"title": f"zorb {text} zorb", "language": "en"})] == [text]
    for text in ("the", "6", "of", "12 %", "a day"):
        assert tagger.tag({"title": f"zorb {text} zorb", "language": "en"}) == []


def test_a_user_s_own_stop_words_are_stronger_than_what_training_pages_tag(run: FinishedRun) -> None:
    bundle = read_bundle(run.folder)
    scripted = ScriptedEngine(bundle.scheme, lambda word: None if word == "zorb" else "pack")
    tagger = Tagger(bundle, engine=scripted, stop_words=["OZ"])
    assert tagger.tag({"title": "zorb 12 oz", "language": "en"}) == []
    assert [tag.text for tag in tagger.tag({"title": "zorb Pack of 6", "language": "en"})] == ["Pack of 6"]


def test_what_is_kept_of_the_tags_of_training_pages_is_small_and_handed_on(run: FinishedRun, tmp_path: Path) -> None:
    description = describe(run.folder / "bundle")
    assert description["tagged_stop_words"] == ["0 oz", "one a day", "pack of 0"]
    assert description["trained_on"]["tags_of_stop_words"] == 48
    more = [labelled(f"m{n}", f"zorb vlam{n} The One", ("zorb", "goods"), ("The One", "pack")) for n in range(12)]
    further = trained(tmp_path / "more", more, "training.epochs=1", dev=more, base=run.folder)
    assert describe(further.folder / "bundle")["tagged_stop_words"] == ["0 oz", "one a day", "pack of 0", "the one"]
    write_pages(packs(60, name="u"), tmp_path / "pages.jsonl")
    quick = [part for each in ("training.epochs=1", "encoder.width=8", "encoder.inner=8") for part in ("--set", each)]
    done = typed("distil", run.folder, tmp_path / "pages.jsonl", "--out", tmp_path / "swift", *quick)
    assert done.returncode == 0, done.stderr
    assert describe(tmp_path / "swift")["tagged_stop_words"] == description["tagged_stop_words"]


@pytest.mark.parametrize("written", ["12&nbsp;oz", "12 <b>oz</b>", "12 oz"])
def test_markup_in_a_tag_does_not_hide_what_it_says(tmp_path: Path, written: str) -> None:
    pages = [labelled(f"p{n}", f"zorb shampoo{n} {written}", ("zorb", "goods"), (written, "pack")) for n in range(12)]
    run = trained(tmp_path / "marked", pages, *QUICK, "training.epochs=1", dev=pages)
    bundle = read_bundle(run.folder)
    tagger = Tagger(bundle, engine=ScriptedEngine(bundle.scheme, lambda word: "pack" if word in ("12", "oz") else None))
    assert "".join(tag.normal for tag in tagger.tag(pages[0])).replace(" ", "") == "12oz"


def test_evaluation_says_what_the_rule_for_stop_words_touches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tagger = scripted_tagger(lambda word: "goods" if word.lower() in ("the", "12", "oz", "shoes") else None)
    pages = [
        labelled("1", "red shoes 12 oz", ("shoes", "goods")),
        labelled("2", "red shoes, 12 oz", ("shoes", "goods"), ("12 oz", "goods")),
        labelled("3", "the red Pack of 6", ("Pack of 6", "brand")),
    ]
    report = assess(tagger, pages).report()
    # Page 1: one tag with shoes in it; page 2: 12 oz is right and removed; page 3: `the` is removed, Pack of 6 not found.
    assert report["stop_words"] == {"removed": 2, "removed_right": 1, "forbidden": 2}
    allowed = scripted_tagger(tagger.engine.label, tagged_stop_words=["0 oz"])
    assert assess(allowed, pages).report()["stop_words"] == {"removed": 1, "removed_right": 0, "forbidden": 1}


def test_the_commands_say_what_the_rule_for_stop_words_touches(run: FinishedRun, tmp_path: Path) -> None:
    pages = [labelled(f"t{n}", f"zorb quix vlam{n} set of 3", ("zorb", "goods"), ("set of 3", "pack")) for n in range(4)]
    write_pages(pages, tmp_path / "test.jsonl")
    message = " ".join(typed("evaluate", run.folder, tmp_path / "test.jsonl").stdout.split())
    assert "stop words:" in message
    assert "4 of 8 gold tags cannot be found" in message
    done = typed("train", "--resume", run.folder, "--set", "dial.rich=2.0")
    assert "train: tags of stop words and small numbers only: 48 of 192" in done.stderr
    assert "stop words:" not in done.stdout


# Old and new pages


def epochs_of(run: PreparedRun) -> Iterator[EpochDone]:
    yield from (done for done in run.train() if isinstance(done, EpochDone))


def test_the_best_epoch_is_chosen_by_new_pages_and_old_ones_are_scored_apart(run: FinishedRun, tmp_path: Path) -> None:
    new = [labelled(f"n{n}", f"blim{n} from zorb 6 oz", (f"blim{n}", "goods"), ("zorb", "brand")) for n in range(14)]
    for name, own in (("new", new[:7]), ("dev", new[7:])):
        write_pages(own, tmp_path / f"{name}.jsonl")
    files = DataFiles((tmp_path / "new.jsonl",), (tmp_path / "dev.jsonl",)).going_on_from(run.folder)
    recipe = read_recipe(None, settings=["training.epochs=3"], base=recipe_of(run.folder))
    further = Run.create(tmp_path / "run", recipe, files).prepare(device="cpu")
    epochs = list(epochs_of(further))
    values = []
    for done in epochs:
        assert done.scores.tokens.confusion.sum() == 7 * 5
        assert done.old is not None
        assert done.old.tokens.confusion.sum() == sum(len(each.words) for each in further.data.old_dev.examples)
        values.append(done.scores.summary()["tag_f2"])
    assert describe(tmp_path / "run/bundle")["metrics"]["dev"]["epoch"] == 1 + int(np.argmax(values))
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text("utf-8").splitlines()]
    of_epochs = [line for line in lines if line["kind"] == "epoch"]
    assert [line["selected"] for line in of_epochs] == values
    assert [line["old"] for line in of_epochs] == [done.old.summary() for done in epochs if done.old is not None]
    shipped = describe(tmp_path / "run/bundle")
    tagger = batag.load(tmp_path / "run", device="cpu")
    for scores, own in ((shipped["metrics"]["dev"], new[7:]), (shipped["metrics"]["dev"]["old"], packs(40, name="d"))):
        report = json.loads(json.dumps(assess(tagger, own).report()))
        assert {key: scores[key] for key in ("tokens", "tags", "pages")} == {
            key: report[key] for key in ("tokens", "tags", "pages")
        }
    assert (shipped["trained_on"]["dev_pages"], shipped["trained_on"]["old_dev_pages"]) == (7, 40)


def test_training_says_how_old_and_new_pages_score_and_that_few_pages_are_chance(run: FinishedRun, tmp_path: Path) -> None:
    new = [labelled(f"n{n}", f"blim{n} from zorb 6 oz", (f"blim{n}", "goods"), ("zorb", "brand")) for n in range(14)]
    for name, own in (("new", new[:7]), ("dev", new[7:])):
        write_pages(own, tmp_path / f"{name}.jsonl")
    start = ["--from", run.folder, "--dev", tmp_path / "dev.jsonl", "--set", "training.epochs=1"]
    done = typed("train", tmp_path / "new.jsonl", *start, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    message = " ".join(done.stdout.split())
    assert "dev: the best epoch is chosen on 7 new pages; 40 old pages scored separately" in " ".join(done.stderr.split())
    assert "(old pages: tag F1" in " ".join(done.stderr.split())
    assert "on 7 new dev pages" in message
    assert "separately, on 40 old dev pages: macro F1" in message
    assert "mostly chance: dev has only 7 pages" in message
    assert "chosen on old and new dev pages together" in message
    assert "separately, on 40 old dev pages" in " ".join(typed("show", tmp_path / "run").stdout.split())


def test_without_a_new_page_to_measure_by_old_ones_choose_and_it_is_said(run: FinishedRun, tmp_path: Path) -> None:
    new = [labelled(f"n{n}", f"blim{n} from zorb", (f"blim{n}", "goods")) for n in range(2)]
    write_pages(new, tmp_path / "new.jsonl")
    start = ["--from", run.folder, "--set", "training.epochs=1"]
    done = typed("train", tmp_path / "new.jsonl", *start, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "dev: no new page; the best epoch is chosen on 40 old pages" in " ".join(done.stderr.split())
    assert "on 40 dev pages" in " ".join(done.stdout.split())
    assert "old and new dev pages together" not in " ".join(done.stdout.split())


def test_enough_dev_pages_are_not_called_chance(run: FinishedRun) -> None:
    message = typed("train", "--resume", run.folder).stdout
    assert "chance" not in message
    assert "old" not in message


# Groups


def test_a_class_that_a_shop_does_not_have_is_not_in_its_macro() -> None:
    tagger = scripted_tagger(lambda word: {"shoes": "goods", "acme": "brand", "red": "feature"}.get(word.lower()))
    pages = [
        labelled("1", "ACME shoes here", ("ACME", "brand"), ("shoes", "goods"), shop="a"),
        labelled("2", "some shoes here", ("shoes", "goods"), shop="b"),
        labelled("3", "some shoes red", ("shoes", "goods"), shop="c"),
        labelled("4", "red ACME", ("red", "feature"), ("ACME", "brand"), shop="d"),
    ]
    by = assess(tagger, pages).report()["by"]["shop"]
    for shop in "abd":
        for level in ("macro_f1", "macro_f2", "macro_f1_without_none"):
            assert by[shop]["tokens"][level] == 1, shop
        assert by[shop]["tags"]["macro"]["f1"] == 1
    # What was said of a class that the shop does not have shows in what those tokens are, and in the precision of all tags.
    assert by["c"]["tokens"]["macro_f1_without_none"] == 1
    assert by["c"]["tokens"]["macro_f1"] == pytest.approx((1 + 2 / 3) / 2)
    assert by["c"]["tags"]["micro"]["precision"] == 0.5
    assert by["c"]["tokens"]["classes"]["feature"]["predicted"] == 1


def test_a_shop_by_itself_scores_as_it_does_among_others() -> None:
    tagger = scripted_tagger(lambda word: {"shoes": "goods", "acme": "brand"}.get(word.lower()))
    pages = [labelled(str(n), "ACME shoes", ("shoes", "goods"), shop="ab"[n % 2]) for n in range(4)]
    alone = assess(tagger, [page for page in pages if page.shop == "a"]).report()
    assert alone["tokens"] == assess(tagger, pages).report()["by"]["shop"]["a"]["tokens"]


def test_scores_without_any_gold_are_zero() -> None:
    scores = TokenScores(Scheme("flat", ("goods",)))
    assert set(scores.summary().values()) == {0.0}


# Benchmarks


def benchmark() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "accuracy.py"))


def test_the_benchmark_chooses_points_as_training_does(run: FinishedRun) -> None:
    tagger = batag.load(run.folder, device="cpu")
    found = list(tagger.predict(packs(40, name="d")))
    scores = benchmark()["score_tokens"]({"dev": found, "test": found}, tagger.scheme)
    assert {key: scores[key] for key in ("macro_f1", "macro_f2")} == pytest.approx(run.scores["tokens_alone"])


def test_the_benchmark_counts_as_evaluation_does(run: FinishedRun) -> None:
    tagger, pages = batag.load(run.folder, device="cpu"), packs(20, name="t")
    accuracy = benchmark()
    found = list(tagger.predict(pages))
    for point in ("balanced", "rich"):
        scores = accuracy["score_tags"](found, tagger.decoding, point)
        report = assess(tagger, pages, richness=point).report()
        assert {key: scores[key] for key in ("micro", "macro", "classes")} == report["tags"]
        counts = np.sum(scores["pages"], axis=0).tolist()
        assert counts == [report["tags"]["micro"][key] for key in ("found", "predicted", "true")]
