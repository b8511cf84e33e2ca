"""Term lists as features: the same in training and in engines, hidden in training, kept by bundles and later trainings."""

from __future__ import annotations

import shutil
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.crash.nursery import differing, finished, new_run, outcome, resumed, small_files

import batag
from batag.bundles.bundle import read_bundle
from batag.encoders.input import tensors
from batag.engines.word_table import WordTable
from batag.errors import InputError, UsageError
from batag.features.term_lists import Hiding
from batag.training.base_bundle import recipe_of
from batag.training.data import DataFiles
from batag.training.loop import StepDone
from batag.training.prepared import FinishedRun
from batag.training.recipe import read_recipe
from batag.training.run import Run

PAGES = [["Hitachi", "refrigerator", "new"], ["日立", "三門", "冰箱"], ["and", "because"], ["zorbex", "shoes"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "names.tsv").write_text("Zorbex\tbrand\n", encoding="utf-8")
    return small_files(folder)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Any]) -> FinishedRun:
    folder = tmp_path_factory.mktemp("runs") / "run"
    run: FinishedRun = finished(new_run(folder, files, *settings(files)))
    return run


def settings(files: dict[str, Any]) -> tuple[str, ...]:
    names = files["train"][0].with_name("names.tsv")
    return (f"input.terms=lexicon,{names}", "training.epochs=2", "input.part_of_speech_buckets=50", "input.term_dropout=0.5")


def test_engines_have_the_features_of_training(done: FinishedRun) -> None:
    bundle = read_bundle(done.folder)
    model = bundle.model()
    batch = tensors(model.featurizer.batch(PAGES), torch.device("cpu"))
    table = WordTable(bundle.featurizer, bundle.arrays, description=bundle.description)
    vectors, mask, _ = table.look_up(PAGES)
    np.testing.assert_allclose(vectors[mask], model.input(batch).numpy()[mask], atol=1e-5)
    hidden = tensors(model.featurizer.batch(PAGES, hiding=Hiding(0.999, "")), torch.device("cpu"))
    apart = np.abs(model.input(hidden).numpy() - vectors)[mask].max(1) > 1e-3
    changed = dict(zip(chain.from_iterable(PAGES), apart.tolist(), strict=True))
    assert all(changed[word] for word in ("Hitachi", "refrigerator", "日立", "冰箱", "zorbex", "shoes"))
    assert not changed["and"]
    assert not changed["because"]
    probabilities = batag.load(done.folder, engine="torch").engine.probabilities(PAGES)
    assert all(len(each) == len(page) for each, page in zip(probabilities, PAGES, strict=True))


def test_a_word_has_other_features_inside_a_name_than_alone(done: FinishedRun) -> None:
    featurizer = read_bundle(done.folder).featurizer
    assert featurizer.keys(["and", "because"]) == ["and", "because"]
    (key,) = featurizer.keys(["Zorbex"])
    assert key == ("Zorbex", "Zorbex", "", "S-brand")
    assert featurizer.features(key) != featurizer.features("Zorbex")
    assert featurizer.features(key).ngrams == featurizer.features("Zorbex").ngrams


def test_a_run_that_was_left_ends_with_the_same_bits(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    run = new_run(tmp_path / "run", files, *settings(files)).prepare(device="cpu")
    for event in run.train():
        if isinstance(event, StepDone) and event.step == 9:
            copy = Path(shutil.copytree(run.folder, tmp_path / "copy"))
    assert differing(outcome(run.folder), outcome(done.folder)) == []
    resumed(copy)
    assert differing(outcome(copy), outcome(done.folder)) == []


def test_hiding_more_names_is_another_training(tmp_path: Path, files: dict[str, Any], done: FinishedRun) -> None:
    other = finished(new_run(tmp_path / "run", files, *settings(files), "input.term_dropout=0.1"))
    assert "bundle" in differing(outcome(other.folder), outcome(done.folder))


def test_a_bundle_keeps_its_names_and_says_which_lexicon_it_learnt_with(done: FinishedRun) -> None:
    bundle = read_bundle(done.folder)
    assert bundle.description.terms.own == 1
    assert len(bundle.description.terms.lexicon) == 32
    assert (done.folder / "bundle" / "terms.tsv").read_text(encoding="utf-8") == "Zorbex\tbrand\n"
    assert bundle.terms is not None
    assert bundle.terms.lexicon


def test_a_damaged_list_is_refused(tmp_path: Path, done: FinishedRun) -> None:
    folder = Path(shutil.copytree(done.folder / "bundle", tmp_path / "bundle"))
    (folder / "terms.tsv").write_text("Zorbey\tbrand\n", encoding="utf-8")
    with pytest.raises(InputError, match="SHA-256"):
        batag.load(folder)


def test_what_goes_on_from_a_bundle_keeps_its_names_and_may_add_a_file(
    tmp_path: Path, files: dict[str, Any], done: FinishedRun
) -> None:
    more = tmp_path / "more.tsv"
    more.write_text("Quvexa\tbrand\n", encoding="utf-8")
    recipe = recipe_of(done.folder)
    assert recipe["input"]["terms"] == "lexicon"
    chosen = read_recipe(None, base=recipe, changes={"input": {"terms": f"lexicon,{more}"}, "training": {"epochs": 1}})
    data = DataFiles(**files).going_on_from(done.folder, replay=False)
    run = finished(Run.create(tmp_path / "run", chosen, data))
    terms = read_bundle(run.folder).terms
    assert terms is not None
    assert (terms.lexicon, terms.own) == (True, (("Quvexa", "brand"), ("Zorbex", "brand")))


def test_lists_need_features_to_be_written_to() -> None:
    for setting in ("input.kind=word", "input.part_of_speech_buckets=0"):
        with pytest.raises(UsageError, match=r"input\.terms needs"):
            read_recipe(None, settings=["input.terms=lexicon", setting])


def test_a_list_that_is_not_there_is_one_error_and_leaves_no_run(tmp_path: Path, files: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"names\.txt"):
        new_run(tmp_path / "run", files, f"input.terms={tmp_path / 'names.txt'}").prepare(device="cpu")
    assert not (tmp_path / "run").exists()
