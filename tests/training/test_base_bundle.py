from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.strategies import by_machine
from tests.tiny import QUICK, catalogue, make_bundle, tiny_run, typed

import batag
from batag.bundles.bundle import read_bundle
from batag.errors import BatagError, UsageError
from batag.heads.torch_heads import MIXING_WEIGHT
from batag.objectives import build_objective
from batag.pages.formats import write_pages
from batag.pages.page import Page, Tag
from batag.pages.problems import Problems
from batag.training.base_bundle import recipe_of
from batag.training.data import DataFiles, read_data
from batag.training.examples import Example
from batag.training.prepared import PreparedRun
from batag.training.recipe import read_recipe
from batag.training.run import Run
from batag.training.targets import padded_labels, padded_weights, weighted_loss

pytestmark = pytest.mark.usefixtures("few_rounds")


def written(path: Path, pages: list[Page]) -> Path:
    write_pages(pages, path)
    return path


def page(number: int, text: str, label: str, **extra: object) -> Page:
    word = text.split()[0]
    return Page(str(number), {"title": text}, tags=(Tag("title", 0, len(word), label, word),), extra=extra)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    words = ["zorb", "quix", "vlam"]
    return written(tmp_path / "new.jsonl", [page(n, f"{words[n % 3]} from shop {n}", "gadget") for n in range(30)])


def begun(folder: Path, pages: Path, *settings: str, base: Path | None = None, old: Path | None = None) -> PreparedRun:
    recipe = read_recipe(None, settings=settings, base=None if base is None else recipe_of(base))
    files = DataFiles((pages,), (pages,))
    run = Run.create(folder, recipe, files if base is None else files.going_on_from(base, old=[old] if old else None))
    return run.prepare(device="cpu")


def test_words_classes_and_weights_of_the_base_bundle_are_kept_and_new_ones_added(
    tmp_path: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = read_bundle(tiny_run())
    monkeypatch.setattr(Run, "_fit", lambda *_, **__: (0.0, 0.0))
    run = begun(tmp_path / "run", new, base=tiny_run())
    assert run.data.scheme.classes == (*base.scheme.classes, "gadget")
    known = len(base.vocabulary.words)
    assert run.data.vocabulary.words[:known] == base.vocabulary.words
    assert {"zorb", "quix", "vlam"} <= set(run.data.vocabulary.words[known:])
    own = run.learner.model.state_dict()
    for name, value in base.weights.items():
        if name == MIXING_WEIGHT:
            assert own[name] == 0.5  # dev chooses it anew
        elif name.startswith(("input.words", "head.", "chain.", "window_crf.")):
            # Labels (and words) that were there keep their numbers; what follows what has them twice.
            kept = own[name][tuple(slice(size) for size in value.shape)]
            assert torch.equal(kept, value)
        else:
            assert torch.equal(own[name], value)
    assert own["chain.transitions"].shape == (4, 4)
    assert not own["chain.transitions"][3].any()
    assert base.weights["window_crf.weights"].any()
    assert not own["window_crf.weights"][:, 3].any()
    assert torch.equal(own["input.words.weight"][-1], base.weights["input.words.weight"][1])  # as an unknown word
    assert run.recipe.encoder == read_recipe(None, settings=QUICK).encoder


def test_old_pages_are_mixed_in_by_the_recipe(tmp_path: Path, new: Path) -> None:
    for replay, wanted in ((0.0, 30), (0.5, 45), (1.0, 60)):
        run = begun(tmp_path / f"run-{replay}", new, f"training.replay={replay}", base=tiny_run())
        assert run.data.statistics["train"]["pages"] == wanted
    chosen = written(tmp_path / "old.jsonl", catalogue(2))
    run = begun(tmp_path / "chosen", new, base=tiny_run(), old=chosen)
    assert run.data.statistics["train"]["pages"] == 36


def test_a_bundle_without_its_run_has_no_old_pages_to_mix_in(tmp_path: Path, new: Path) -> None:
    shutil.copytree(tiny_run() / "bundle", tmp_path / "alone")
    run = begun(tmp_path / "run", new, base=tmp_path / "alone")
    assert run.data.statistics["train"]["pages"] == 30


@pytest.mark.long
def test_training_from_a_bundle_begins_where_it_was(tmp_path: Path) -> None:
    test = catalogue(10, split="test")
    files = written(tmp_path / "more.jsonl", catalogue(20, seed=1)), written(tmp_path / "dev.jsonl", catalogue(10, split="dev"))
    done = typed("train", files[0], "--dev", files[1], "--from", tiny_run(), "--out", tmp_path / "run", "--json",
                 "--set", "training.epochs=1", "--set", "schedule.scale=0.1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, after = batag.load(tiny_run()), batag.load(tmp_path / "run")
    assert after.labels == before.labels
    found = []
    for tagger in (before, after):
        tags = zip(tagger.tag_many(test), test, strict=True)
        found.append(
            sum(
                len({(t.field, t.start, t.label) for t in one} & {(t.field, t.start, t.label) for t in two.tags})
                for one, two in tags
            )
        )
    assert found[1] > 0.7 * found[0] > 0


def test_old_pages_that_are_gone_or_changed_are_one_clear_error_that_can_be_avoided(tmp_path: Path, new: Path) -> None:
    old = written(tmp_path / "old.jsonl", catalogue(20))
    shutil.copytree(tiny_run(), tmp_path / "base")
    record = tmp_path / "base" / "data.json"
    data = json.loads(record.read_text())
    data["train"] = [{"file": str(old), "sha256": "0" * 64}]
    record.write_text(json.dumps(data))
    with pytest.raises(BatagError, match=r"has changed.*--replay.*training\.replay=0"):
        begun(tmp_path / "run", new, base=tmp_path / "base")
    for argument in (("--set", "training.replay=0"), ("--replay", old)):
        done = typed("train", new, "--dev", new, "--from", tmp_path / "base", "--out", tmp_path / argument[0], *argument,
                     "--set", "training.epochs=1")  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_dev_pages_are_new_ones_and_those_that_the_base_bundle_was_measured_by(tmp_path: Path) -> None:
    new = written(tmp_path / "new.jsonl", [replace(each, id=f"new-{each.id}") for each in catalogue(20, seed=5)])
    recipe = read_recipe(None, base=recipe_of(tiny_run()))
    begun = Run.create(tmp_path / "run", recipe, DataFiles((new,)).going_on_from(tiny_run()))
    run = begun.prepare(device="cpu")
    measured = {page.id for page in catalogue(10, split="dev")}
    old = {example.page for example in run.data.dev if not example.page.startswith("new-")}
    assert old == measured
    assert any(example.page.startswith("new-") for example in run.data.dev)
    assert any(not example.page.startswith("new-") for example in run.data.train)
    assert (run.data.statistics["train"]["replayed"], run.data.statistics["dev"]["replayed"]) == (60, 30)
    again = Run.open(tmp_path / "run")
    assert (again.files.replay, again.files.old_dev) == (begun.files.replay, begun.files.old_dev)
    shutil.copytree(tiny_run() / "bundle", tmp_path / "run" / "bundle")
    further = DataFiles((new,)).going_on_from(tmp_path / "run")
    assert [each.path for each in further.old_dev] == [each.path for each in begun.files.old_dev]
    assert [each.path for each in further.replay] == [new.resolve(), *(each.path for each in begun.files.replay)]
    assert not DataFiles((new,)).going_on_from(tmp_path / "run", old=[new]).old_dev
    without = read_recipe(None, settings=["training.replay=0"], base=recipe_of(tiny_run()))
    assert read_data(begun.files, without, problems=Problems()).statistics["dev"]["replayed"] == 0


def test_what_dev_is_too_small_to_tell_is_as_the_base_bundle_had_it(tmp_path: Path) -> None:
    pages = written(tmp_path / "new.jsonl", catalogue(2, seed=7))
    bundle = tmp_path / "alone"
    points = [
        {"richness": r, "beta": b, "offsets": {"goods": own, "brand": 2 * own, "feature": 0.0}}
        for r, b, own in ((0.0, 0.5, -1.0), (0.5, 1.0, 0.0), (1.0, 2.0, 0.5))
    ]
    line = {"method": "temperature", "raw": [0.0, 1.0], "probability": [0.1, 0.8], "errors": {}}
    make_bundle(bundle, dial=points, calibration=line)
    run = begun(tmp_path / "run", pages, "training.epochs=1", base=bundle)
    finished = run.finish()
    described = read_bundle(tmp_path / "run").description
    scheme = run.data.scheme
    shown = Counter(name for example in run.data.dev for _, _, name in scheme.decode([max(0, each) for each in example.labels]))
    few = [name for name in scheme.classes if shown[name] < 10]
    assert "brand" in few
    assert "feature" in few
    kept = [point.model_dump() for point in described.dial]
    assert all(one["offsets"][name] == other["offsets"][name] for one, other in zip(kept, points, strict=True) for name in few)
    assert described.calibration.method == "temperature"
    assert finished.dial.calibrated


def test_the_run_around_a_bundle_is_found_from_inside(new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiny_run() / "bundle")
    assert DataFiles((new,)).going_on_from(Path()).replay


def test_what_the_base_bundle_carries_itself_is_used(tmp_path: Path, new: Path) -> None:
    bundle = make_bundle(tmp_path / "alone", dictionary=["from shop"], recipe={"objective": {"name": "WCE"}})
    run = begun(tmp_path / "run", new, base=bundle)
    assert run.data.segmentation.dictionary is not None
    assert "from shop" in run.data.train[0].words
    assert run.recipe.objective.name == "WCE"
    assert run.recipe.encoder.width == 8
    with pytest.raises(UsageError, match=r"pages\.rules"):
        begun(tmp_path / "other", new, "pages.rules=html", base=bundle)


def test_a_base_bundle_that_means_something_else_is_one_clear_error(tmp_path: Path, new: Path) -> None:
    for setting in ("encoder.width=64", "encoder.name=transformer", "input.ngram_buckets=400", "encoder.depth=2",
                    "input.max_ngram=3",
                    "encoder.position=none", "input.kind=word", "head.chain=false"):  # fmt: skip
        with pytest.raises(UsageError, match=r"does not fit"):
            begun(tmp_path / "run", new, setting, base=tiny_run())
        assert not (tmp_path / "run").exists()


def test_the_scheme_of_the_base_bundle_is_kept_unless_another_is_asked_for(
    tmp_path: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "_fit", lambda *_, **__: (0.0, 0.0))
    base = {scheme: read_bundle(tiny_run(scheme)) for scheme in ("flat", "bio")}
    for scheme in base:
        assert begun(tmp_path / scheme, new, base=tiny_run(scheme)).data.scheme.name == scheme
    run = begun(tmp_path / "to-bio", new, "pages.scheme=bio", base=tiny_run("flat"))
    own, was = run.learner.model.state_dict(), base["flat"].weights
    # Both labels of a class start as the one that the base bundle had; what no page has starts low.
    for number in (1, 2):
        for label in (2 * number - 1, 2 * number):
            assert torch.equal(own["head.weight"][label], was["head.weight"][number])
            assert torch.equal(own["window_crf.weights"][:, label], was["window_crf.weights"][:, number])
    for chain in ("chain", "window_crf.chain"):
        assert own[f"{chain}.transitions"][[0, 3, 4], 2].tolist() == [-10.0] * 3
        assert own[f"{chain}.starts"][[2, 4]].tolist() == [-10.0] * 2
    assert torch.equal(own["chain.transitions"][0, [0, 1, 3]], was["chain.transitions"][0, [0, 1, 2]])
    run = begun(tmp_path / "to-flat", new, "pages.scheme=flat", base=tiny_run("bio"))
    own, was = run.learner.model.state_dict(), base["bio"].weights
    assert torch.equal(own["head.weight"][:3], was["head.weight"][[0, 1, 3]])


@pytest.mark.long
def test_a_run_from_a_bundle_is_resumed_to_the_same_numbers(tmp_path: Path, new: Path) -> None:
    settings = ("training.epochs=2", "training.checkpoint_steps=3")
    whole = begun(tmp_path / "whole", new, *settings, base=tiny_run())
    whole.finish()
    left = begun(tmp_path / "left", new, *settings, base=tiny_run())
    steps = left.train()
    for _ in range(4):
        next(steps)
    steps.close()
    again = Run.open(tmp_path / "left")
    again = again.prepare(device="cpu")
    again.finish()
    one, other = (read_bundle(tmp_path / name).weights for name in ("whole", "left"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_base_bundle_that_has_changed_since_is_an_error(tmp_path: Path, new: Path) -> None:
    shutil.copytree(tiny_run(), tmp_path / "base")
    begun(tmp_path / "run", new, base=tmp_path / "base")
    description = tmp_path / "base" / "bundle" / "bundle.json"
    description.write_text(json.dumps(json.loads(description.read_text()) | {"name": "other"}))
    with pytest.raises(BatagError, match="has changed"):
        Run.open(tmp_path / "run")


# Labels by machines


def test_pages_by_machines_are_learnt_from_but_never_measured_by(tmp_path: Path) -> None:
    people = catalogue(20)
    weak = [by_machine(replace(page, id=f"weak-{page.id}")) for page in catalogue(20, seed=2)]
    pages = written(tmp_path / "all.jsonl", people + weak)
    data = read_data(DataFiles((pages,)), read_recipe(None), problems=Problems())
    train, dev = data.statistics["train"], data.statistics["dev"]
    assert train["pages"] - train["reviewed"] + train["left_out"] == 60
    assert train["sources"]["terms"]["weight"] == 0.3
    assert train["left_out"] < 6  # twins of dev pages alone
    assert dev["pages"] == 6
    assert dev["sources"].keys() == {"person"}
    assert data.statistics["measured_by"] == "person"
    assert dev["pages"] + train["pages"] + train["left_out"] == 120
    named = read_data(DataFiles((pages,), (pages,)), read_recipe(None), problems=Problems())
    assert (named.statistics["dev"]["pages"], named.statistics["dev"]["not_reviewed"]) == (60, 60)


def test_among_many_pages_by_machines_a_tenth_of_the_few_by_people_is_held_out_and_only_twins_are_left_out(
    tmp_path: Path,
) -> None:
    people = catalogue(200)[:20]
    weak = [by_machine(replace(page, id=f"weak-{page.id}")) for page in catalogue(200)[20:]]
    twins = [by_machine(replace(page, id=f"twin-{page.id}")) for page in people]
    pages = written(tmp_path / "all.jsonl", people + weak + twins)
    data = read_data(DataFiles((pages,)), read_recipe(None), problems=Problems())
    train, held = ({example.page for example in part} for part in (data.train, data.dev))
    assert len(held) == 2
    assert held < {page.id for page in people}
    assert {page.id for page in people} - held < train
    assert {f"twin-{id}" for id in held}.isdisjoint(train)
    assert data.statistics["train"]["left_out"] < 20


def test_pages_by_machines_that_count_nothing_are_left_out_and_counted(tmp_path: Path) -> None:
    people, weak = catalogue(4), [by_machine(replace(page, id=f"w{page.id}")) for page in catalogue(4, seed=3)]
    pages = written(tmp_path / "all.jsonl", people + weak)
    recipe = read_recipe(None, settings=["sources.terms=0"])
    data = read_data(DataFiles((pages,), (pages,)), recipe, problems=Problems())
    assert (
        data.statistics["train"]["pages"],
        data.statistics["train"]["not_labelled"],
        data.statistics["train"]["reviewed"],
    ) == (12, 12, 12)


@pytest.mark.parametrize("light", [1, 8])
def test_tokens_count_their_weight_also_where_there_are_no_others(light: int) -> None:
    torch.manual_seed(0)
    objective, logits = build_objective("CE", [5, 5]), torch.randn(8, 3, 2)
    batch = [Example("", ["a", "b"], [0, 1], [0.25, 0.25] if number < light else None) for number in range(8)]
    targets = padded_labels(batch, 3)
    found = weighted_loss(objective, logits, targets, padded_weights(batch, targets))
    losses = [objective(logits[n], targets[n]) * (0.25 if n < light else 1.0) for n in range(8)]
    torch.testing.assert_close(found, torch.stack(losses).mean())


def test_a_page_by_a_machine_counts_as_much_as_the_recipe_says(tmp_path: Path) -> None:
    """With a weight of 0 such pages change nothing; with 1 they are pages like others."""
    people = [page(n, f"boot {n % 7} red", "goods") for n in range(12)]
    weak = [page(100 + n, f"boot {n % 5} red", "brand") for n in range(48)]
    dev = written(tmp_path / "dev.jsonl", people)
    scores = {}
    for share in (0.0, 1.0):
        marked = list(map(by_machine, weak))
        pages = written(tmp_path / f"{share}.jsonl", people + marked)
        recipe = read_recipe(None, settings=[*QUICK, f"sources.terms={share}", "training.epochs=12", "training.batch=24"])
        run = Run.create(tmp_path / f"run{share}", recipe, DataFiles((pages,), (dev,)))
        scores[share] = run.prepare(device="cpu").finish().scores["tokens"]["classes"]["goods"]["recall"]
    assert scores[0.0] == 1.0
    assert scores[1.0] < 1.0


def test_a_base_bundle_without_a_window_crf_stays_without_or_gets_a_whole_one(tmp_path: Path, new: Path) -> None:
    old = make_bundle(tmp_path / "bundle", head={"chain": True})
    assert recipe_of(old)["head"] == {"chain": True, "window_crf": 0}
    assert (
        read_recipe(None, settings=["head.window_crf=2"], base=recipe_of(old)).head.window_crf_buckets
        == read_recipe(None).head.window_crf_buckets
    )


@pytest.mark.parametrize("setting", ["head.window_crf=1", "head.window_crf=0", "head.window_crf_buckets=100"])
def test_a_base_bundle_with_a_window_crf_wants_the_same(tmp_path: Path, new: Path, setting: str) -> None:
    with pytest.raises(UsageError, match=setting.partition("=")[0]):
        begun(tmp_path / "run", new, setting, base=tiny_run())


def test_a_base_bundle_with_a_chain_wants_one(tmp_path: Path, new: Path) -> None:
    with pytest.raises(UsageError, match=r"head\.chain"):
        begun(tmp_path / "run", new, "head.chain=false", base=tiny_run())


def test_fewer_epochs_than_are_done_already_is_one_clear_error(tmp_path: Path, new: Path) -> None:
    run = begun(tmp_path / "run", new, "training.epochs=2")
    run.finish()
    again = Run.open(tmp_path / "run", settings=["training.epochs=1"])
    with pytest.raises(UsageError, match="2 epochs are done already"):
        again = again.prepare(device="cpu")
    assert read_recipe(tmp_path / "run" / "recipe.toml").training.epochs == 2
