"""Exported engines: like float32 torch or refused; all encoders, any shape; a bundle stays whole."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.tiny import catalogue, make_bundle, tiny_exported, tiny_run, typed

import batag
import batag.engines.export as exporting
from batag.bundles.bundle import Bundle, read_bundle
from batag.encoders import ENCODERS
from batag.engines import build_engine, choice
from batag.engines.export import export
from batag.engines.int8_bat import _FEW_TOKENS
from batag.engines.pair import Pair
from batag.engines.torch_engine import TorchEngine
from batag.errors import InputError, UsageError
from batag.training.examples import Example, label_words, make_examples

WORDS = [["running", "shoes"], ["new", "acme", "跑鞋", "ガーゼ", "x"], ["a"] * 40, ["one"]]
NOT_AS_A_GRAPH = frozenset({"informer", "switch"})


def examples_of(bundle: Bundle) -> list[Example]:
    words = label_words(catalogue(5, split="dev"), bundle.segmentation)
    return make_examples(words, bundle.scheme, window=bundle.description.window, overlap=bundle.description.overlap)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_encoder_is_written_as_a_graph_or_says_that_it_cannot(tmp_path: Path, name: str) -> None:
    encoder = {"name": name, "width": 8, "depth": 1, "heads": 2, "inner": 16}
    options = {"options": {"experts": 3}} if name == "switch" else {}
    bundle = read_bundle(make_bundle(tmp_path / "bundle", encoder=encoder | options))
    examples = [Example(str(number), words, [-1] * len(words)) for number, words in enumerate(WORDS)]
    if name in NOT_AS_A_GRAPH:
        with pytest.raises(UsageError, match=f"the encoder {name} cannot be written"):
            export(bundle, kind="onnx", int8=False, examples=examples)
        return
    made = export(bundle, kind="onnx", int8=False, examples=examples)
    assert made.refused == ""
    assert made.parity.largest < 1e-4
    read = read_bundle(bundle.folder)
    for one, other in zip(build_engine("onnx", read).probabilities(WORDS), TorchEngine(read).probabilities(WORDS), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_a_tagger_takes_the_fastest_engine_and_all_give_the_same_tags(tmp_path: Path) -> None:
    folder = tiny_exported()
    said = read_bundle(folder).description.engines
    assert set(said) == {"torch", "torch-int8", "onnx", "onnx-int8"}
    taggers = {name: batag.load(folder, engine=name, device="cpu") for name in said}
    fastest = max(said, key=lambda name: said[name].tokens_a_second)
    assert batag.load(folder).engine.name == fastest
    pages = catalogue(5, split="test")
    for name, tagger in taggers.items():
        assert tagger.engine.name == name
    expected = [[(tag.start, tag.label) for tag in tags] for tags in taggers["torch"].tag_many(pages)]
    assert [[(tag.start, tag.label) for tag in tags] for tags in taggers["onnx"].tag_many(pages)] == expected


def test_a_lone_page_goes_to_onnx_and_many_to_the_fastest_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "choose_engine", lambda *_, **__: "torch-int8")
    tagger = batag.load(tiny_exported())
    engine = tagger.engine
    assert isinstance(engine, Pair)
    assert (engine.name, engine.many.name, engine.few.name) == ("torch-int8", "torch-int8", "onnx")
    assert engine.few.table is engine.many.table
    asked: list[str] = []
    for each in (engine.many, engine.few):
        before = each.batch
        monkeypatch.setattr(each, "batch", lambda pages, name=each.name, before=before: asked.append(name) or before(pages))
    tagger.tag({"title": "new running shoes"})
    assert asked == ["onnx"]
    list(tagger.tag_many(catalogue(5, split="test")))
    assert set(asked[1:]) == {"torch-int8"}
    assert not isinstance(batag.load(tiny_exported(), engine="torch").engine, Pair)


def test_where_onnx_dies_a_lone_page_goes_to_torch_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "works", lambda _, name: name != "onnx")
    monkeypatch.setattr(choice, "choose_engine", lambda *_, **__: "torch")
    assert isinstance(batag.load(tiny_exported()).engine, TorchEngine)


def test_an_export_that_differs_is_refused_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_run() / "bundle", folder)
    bundle = read_bundle(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(exporting, "LARGEST_DIFFERENCE", -1.0)
    made = export(bundle, kind="onnx", int8=False, examples=examples_of(bundle))
    assert "differs by" in made.refused
    monkeypatch.setattr(exporting, "LARGEST_LOSS", -1.0)
    assert "macro F2 falls" in export(bundle, kind="torch", int8=True, examples=examples_of(bundle)).refused
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not export(bundle, kind="torch", int8=True, examples=examples_of(bundle), force=True).refused
    assert "torch-int8" in read_bundle(folder).description.engines


def test_int8_without_labelled_pages_is_refused(tmp_path: Path) -> None:
    bundle = read_bundle(make_bundle(tmp_path / "bundle"))
    examples = [replace(each, labels=[-1] * len(each.words)) for each in examples_of(bundle)]
    assert "nobody knows" in export(bundle, kind="torch", int8=True, examples=examples).refused


@pytest.mark.parametrize(("kind", "int8"), [("torch", False), ("openvino", False), ("", True)])
def test_what_cannot_be_exported_is_a_mistake_of_the_call(tmp_path: Path, kind: str, int8: bool) -> None:
    bundle = read_bundle(make_bundle(tmp_path / "bundle"))
    with pytest.raises(UsageError):
        export(bundle, kind=kind, int8=int8, examples=examples_of(bundle))
    with pytest.raises(InputError, match="no page"):
        export(bundle, kind="onnx", int8=False, examples=[])


def test_a_bundle_without_classes_is_refused_before_a_page_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_bundle(tmp_path / "words", classes=())
    with pytest.raises(InputError, match="knows words but no tags"):
        export(read_bundle(folder), kind="onnx", int8=False, examples=[Example("1", ["shoes"], [-1])])
    monkeypatch.setattr("batag.cli.export._examples", lambda *_, **__: pytest.fail("a page was read"))
    done = typed("export", folder)
    assert (done.returncode, "words: knows words but no tags. Learn from labelled pages first" in done.stderr) == (1, True)


def test_a_damaged_graph_is_one_clear_error(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_exported(), folder)
    graph = folder / "model.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="not the file that was written"):
        batag.load(folder, engine="onnx")


def test_torch_is_not_loaded_when_onnx_tags() -> None:
    code = (
        "import sys, batag\n"
        f"tagger = batag.load({str(tiny_exported())!r}, engine='onnx')\n"
        "assert tagger.tag({'title': 'new running shoes'}) is not None\n"
        "assert 'torch' not in sys.modules, 'torch'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_engine_that_dies_by_a_signal_is_never_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tiny_exported()
    tried = []
    real = subprocess.run

    def dies(command: list[str], **options: object) -> object:
        tried.append(command[-1])
        return real([sys.executable, "-c", "import os; os.kill(os.getpid(), 4)"], capture_output=True, check=False)

    monkeypatch.setattr(choice.subprocess, "run", dies)
    assert choice.choose_engine(folder, wanted="soonest") == "torch"
    assert set(tried) <= {"torch-int8", "onnx", "onnx-int8"}
    first = len(tried)
    assert choice.choose_engine(folder, wanted="soonest") == "torch"
    assert len(tried) == first
    found = json.loads((tmp_path / "batag" / "engines.json").read_text(encoding="utf-8"))
    assert set(found.values()) <= {"died by signal 4"}


def test_an_engine_is_tried_once_and_then_known_to_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert choice.choose_engine(tiny_exported(), wanted="soonest") in ("onnx", "onnx-int8")
    assert "works" in (tmp_path / "batag" / "engines.json").read_text(encoding="utf-8")
    monkeypatch.setattr(choice.subprocess, "run", lambda *_, **__: pytest.fail("tried again"))
    assert choice.choose_engine(tiny_exported(), wanted="soonest") in ("onnx", "onnx-int8")


def test_an_engine_is_tried_with_few_and_many_tokens() -> None:
    sizes = [len(words) for words in choice._TRIED]
    assert min(sizes) < _FEW_TOKENS < sum(sizes)


def test_rates_of_different_hours_are_compared_by_float32_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(tiny_run() / "bundle", tmp_path / "bundle")
    for slow, int8 in ((1.0, 2.0), (0.1, 0.3)):
        measured = {"torch": 1000 * slow, "torch-int8": 1000 * int8}
        monkeypatch.setattr(exporting, "compare_rates", lambda *_, measured=measured: measured)
        bundle = read_bundle(tmp_path / "bundle")
        export(bundle, kind="torch", int8=True, examples=examples_of(bundle), force=True)
        rates = {name: each.tokens_a_second for name, each in read_bundle(tmp_path / "bundle").description.engines.items()}
        assert rates == {"torch": 1000.0, "torch-int8": 1000 * round(int8 / slow, 6)}


@pytest.mark.parametrize(("name", "says"), [("onyx", "Did you mean 'onnx'"), ("onnx", "batag export BUNDLE --engine onnx")])
def test_an_engine_that_is_not_there_is_said_before_anything_is_loaded(name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        choice.choose_engine(tiny_run(), wanted=name)


def test_an_exported_bundle_keeps_what_is_known_of_its_words() -> None:
    bundle = read_bundle(tiny_exported())
    assert bundle.description.format == 5
    assert bundle.known is not None
    assert len(bundle.known["vectors"]) == len(bundle.vocabulary.words)
    words = [list(bundle.vocabulary.words[:9]), ["new", "words", bundle.vocabulary.words[0]]]
    before = replace(bundle, description=bundle.description.model_copy(update={"files": {}}))
    assert before.known is None
    for one, other in zip(*(TorchEngine(each).probabilities(words) for each in (bundle, before)), strict=True):
        np.testing.assert_array_equal(one, other)
