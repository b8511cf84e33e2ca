"""Word vectors that come with batag, through training, distillation and tagging."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.conftest import mostly_long
from tests.tiny import QUICK, as_dict, tiny_backbone

import batag
from batag.bundles.bundle import Bundle, read_bundle
from batag.bundles.description import Description
from batag.encoders.input import tensors
from batag.engines import build_engine
from batag.engines.engine import LayerEngine
from batag.features.word_vectors import WordVectors
from batag.heads.prediction import probabilities
from batag.pages.formats import write_pages
from batag.pages.page import Page
from batag.sample import sample_pages
from batag.training.data import DataFiles
from batag.training.distillation import Distillation, DistillationEpoch, student_recipe
from batag.training.recipe import read_recipe
from batag.training.run import Run

pytestmark = pytest.mark.usefixtures("few_rounds")
AUTO = [each for each in QUICK if not each.startswith("input.vectors")] + ["training.epochs=1"]
SMALL = (
    "encoder.width=16",
    "encoder.depth=1",
    "encoder.inner=32",
    "schedule.warmup=40",
    "training.epochs=1",
    "training.export=false",
)
WORDS = [["新しい", "ソニー", "の", "りんご"], ["zzz", "防水"]]


def pages_in(language: str, split: str = "train") -> list[Page]:
    return list(sample_pages(language, pages=40, split=split, seed=0, style="paper"))


def trained(folder: Path, *pages: Page, settings: list[str] | None = None) -> Path:
    write_pages(pages, folder / "train.jsonl")
    dev = pages_in(str(pages[0].language), "dev")
    batag.train(folder / "train.jsonl", dev=dev, out=folder / "run", settings=as_dict(*(settings or AUTO)), device="cpu")
    return folder / "run"


@pytest.fixture(scope="module")
def japanese(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return read_bundle(trained(tmp_path_factory.mktemp("vectors"), *pages_in("ja")))


def languages_of(description: Description) -> list[str | None]:
    """The languages of its pretrained features."""
    return [each.language for each in description.features]


def same(bundle: Bundle, *, engine: str = "torch") -> None:
    """Whether an engine says what the classifier says."""
    model, built = bundle.model(), build_engine(engine, bundle, device="cpu")
    for asked, values in zip(WORDS, built.probabilities(WORDS), strict=True):
        np.testing.assert_allclose(values, probabilities(model, [asked], torch.device("cpu"))[0], atol=1e-5)


def test_japanese_pages_are_learnt_with_vectors_that_travel_in_the_bundle(japanese: Bundle) -> None:
    described = japanese.description
    assert (languages_of(described), described.pretrained_width, described.recipe["input"]["vectors"]) == (["ja"], 128, "auto")
    same(japanese)
    assert batag.load(japanese.folder).tag({"title": "ソニー イヤホン"}) is not None


@pytest.mark.parametrize(
    ("languages", "known", "width"),
    mostly_long(
        [
            (["zh-Hant"], ["zh"], 128),
            (["ja", "zh-Hant"], ["ja", "zh"], 256),
            (["en"], ["en"], 100),
            (["en", "ja", "zh-Hant"], ["ja", "en", "zh"], 356),
        ],
        ["zh-Hant"],
    ),
)
def test_what_is_known_of_words_travels_in_the_bundle(
    tmp_path: Path, languages: list[str], known: list[str], width: int
) -> None:
    bundle = read_bundle(trained(tmp_path, *(page for language in languages for page in pages_in(language))))
    described = bundle.description
    assert (languages_of(described), described.pretrained_width) == (known, width)
    same(bundle)
    student = Distillation(bundle, student_recipe(bundle, settings=SMALL))
    assert student.pretrained is not None
    assert [part.language for part in student.pretrained.parts] == known


def test_a_row_of_the_table_depends_on_its_word_alone(tmp_path: Path) -> None:
    bundle = read_bundle(trained(tmp_path, *pages_in("zh-Hant"), *pages_in("ja")))
    words = [f"{one}{other}" for one in "防水跑鞋新款ソニ" for other in "牌子鞋靴a1"]
    engines = [build_engine("torch", bundle, device="cpu") for _ in range(2)]
    alone, together = (engine.table for engine in engines if isinstance(engine, LayerEngine))
    for word in words:
        alone.look_up([[word]])
    for left, right in zip(alone.look_up([words]), together.look_up([words]), strict=True):
        np.testing.assert_array_equal(left, right)


def test_an_empty_setting_has_none(tmp_path: Path) -> None:
    assert read_bundle(trained(tmp_path, *pages_in("ja"), settings=[*AUTO, "input.vectors="])).description.features == []


def test_the_clusters_of_english_words_reach_the_window_crf(tmp_path: Path) -> None:
    bundle = read_bundle(trained(tmp_path, *pages_in("en")))
    answers = [build_engine("torch", bundle, device="cpu").probabilities([["by", "Sony"]])[0]]
    assert bundle.pretrained is not None
    assert isinstance(bundle.pretrained.words, WordVectors)
    bundle.pretrained.words._clusters = None
    answers.append(build_engine("torch", bundle, device="cpu").probabilities([["by", "Sony"]])[0])
    assert np.abs(answers[0] - answers[1]).max() > 1e-4


def test_the_paper_s_input_has_none(tmp_path: Path) -> None:
    settings = [*AUTO, "input.kind=word"]
    assert read_bundle(trained(tmp_path, *pages_in("ja"), settings=settings)).description.features == []


def test_a_new_word_that_the_vectors_know_is_not_like_any_other_new_word(japanese: Bundle) -> None:
    model = japanese.model()
    words = [["任天堂"], ["虔謦"]]
    with torch.no_grad():
        known, unknown = (
            model.input.of_pretrained(tensors(model.featurizer.batch([each]), torch.device("cpu"))) for each in words
        )
    assert isinstance(known, torch.Tensor)
    assert isinstance(unknown, torch.Tensor)
    assert (known - unknown).abs().max() > 0.01


def test_what_goes_on_from_a_bundle_keeps_its_vectors(japanese: Bundle, tmp_path: Path) -> None:
    write_pages(pages_in("ja"), tmp_path / "train.jsonl")
    files = DataFiles((tmp_path / "train.jsonl",), (tmp_path / "train.jsonl",)).going_on_from(japanese.folder)
    run = Run.create(tmp_path / "run", read_recipe(None, settings=AUTO), files)
    run = run.prepare(device="cpu")
    run.finish()
    more = read_bundle(tmp_path / "run")
    assert languages_of(more.description) == ["ja"]
    same(more)


def test_a_student_has_its_teacher_s_vectors(japanese: Bundle, tmp_path: Path) -> None:
    run = Distillation(japanese, student_recipe(japanese, settings=SMALL), device="cpu").read(pages_in("ja"))
    *_, last = run.train()
    assert isinstance(last, DistillationEpoch)
    run.ship(tmp_path / "swift", last)
    swift = read_bundle(tmp_path / "swift")
    assert languages_of(swift.description) == ["ja"]
    same(swift)


@pytest.mark.long
def test_a_backbone_is_joined_by_what_is_known_of_words_and_a_student_has_the_words_alone(tmp_path: Path) -> None:
    settings = [*AUTO, f"input.backbone={tiny_backbone(tmp_path / 'bert')}"]
    bundle = read_bundle(trained(tmp_path, *pages_in("en"), settings=settings))
    described = bundle.description
    assert (languages_of(described), described.pretrained_width, described.reads_pages) == ([None, "en"], 116, True)
    same(bundle)
    assert batag.load(bundle.folder).tag({"title": "Sony boots"}) is not None
    run = Distillation(bundle, student_recipe(bundle, settings=SMALL), device="cpu").read(pages_in("en"))
    *_, last = run.train()
    assert isinstance(last, DistillationEpoch)
    run.ship(tmp_path / "swift", last)
    swift = read_bundle(tmp_path / "swift")
    assert (languages_of(swift.description), swift.description.pretrained_width) == (["en"], 100)
    same(swift)


def test_a_backbone_is_alone_if_it_is_to_be(tmp_path: Path) -> None:
    write_pages(pages_in("ja"), tmp_path / "train.jsonl")
    settings = [*AUTO, f"input.backbone={tiny_backbone(tmp_path / 'bert')}", "input.vectors="]
    files = DataFiles((tmp_path / "train.jsonl",), (tmp_path / "train.jsonl",))
    run = Run.create(tmp_path / "run", read_recipe(None, settings=settings), files)
    run = run.prepare(device="cpu")
    assert run.learner.model.featurizer.pretrained is not None
    assert [part.kind for part in run.learner.model.featurizer.pretrained.parts] == ["backbone"]
