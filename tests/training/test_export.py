"""A training ends with the ONNX engine in its bundle, or says why it has none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.crash.nursery import Moment, Nursery, resumed, small_files
from tests.tiny import QUICK, as_dict, catalogue, typed

import batag
from batag.bundles.bundle import read_bundle
from batag.engines.choice import choose_engine
from batag.pages.formats import write_pages

EXPORT = "training.export=true"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with its ONNX engine."""
    folder = tmp_path_factory.mktemp("run")
    settings = [*QUICK, "training.epochs=2", EXPORT]
    tagger = batag.train(
        catalogue(10), dev=catalogue(4, split="dev"), out=folder / "run", settings=as_dict(*settings), device="cpu"
    )
    assert tagger.engine.name == "onnx"
    return folder / "run"


def test_a_fresh_bundle_has_an_onnx_engine_that_was_checked_on_dev(run: Path) -> None:
    bundle = read_bundle(run)
    engine = bundle.description.engines["onnx"]
    assert engine.largest_difference < 1e-4
    assert engine.checked["tokens"] > 100
    assert bundle.known is not None
    assert choose_engine(bundle.description) == "onnx"
    page = {"title": "NORDVIK running shoes"}
    one, other = ([(tag.start, tag.label) for tag in batag.load(run, engine=name).tag(page)] for name in ("onnx", "torch"))
    assert one == other


def test_another_dial_keeps_the_engine_as_it_is(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(run, tmp_path / "run")
    monkeypatch.setattr("batag.engines.export.export", lambda *_, **__: pytest.fail("it was exported again"))
    assert typed("train", "--resume", folder, "--set", "dial.rich=4").returncode == 0
    assert (folder / "bundle" / "model.onnx").read_bytes() == (run / "bundle" / "model.onnx").read_bytes()


@pytest.mark.long
def test_an_encoder_that_cannot_be_exported_ends_its_training_well_and_says_so(tmp_path: Path) -> None:
    write_pages(catalogue(5), tmp_path / "train.jsonl")
    settings = (*QUICK, "training.epochs=1", "encoder.name=informer", EXPORT)
    arguments = [part for setting in settings for part in ("--set", setting)]
    done = typed("train", tmp_path / "train.jsonl", "--dev", tmp_path / "train.jsonl", "--out", tmp_path / "run", *arguments)
    assert done.returncode == 0
    assert "the bundle has no ONNX engine and needs torch to tag: the encoder informer cannot be exported" in done.stdout
    assert batag.load(tmp_path / "run").engine.name == "torch"


@pytest.mark.long
@pytest.mark.parametrize("at", ["before", "after"])
def test_a_run_that_is_killed_while_it_exports_is_resumed(tmp_path: Path, at: str) -> None:
    files = small_files(tmp_path / "files")
    with Nursery() as nursery:
        assert nursery.train(tmp_path / "run", files, ["training.epochs=1", EXPORT], moment=Moment("model.onnx", at)).killed
    assert "onnx" not in read_bundle(tmp_path / "run").description.engines
    resumed(tmp_path / "run")
    bundle = read_bundle(tmp_path / "run")
    assert "onnx" in bundle.description.engines
    assert {path.name for path in bundle.folder.iterdir()} == {"bundle.json", *bundle.description.files}
