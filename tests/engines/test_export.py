"""Exported engines: like float32 torch or refused; all encoders, any shape; a bundle stays whole."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from safetensors.numpy import load_file, save
from tests.conftest import mostly_long
from tests.strategies import by_machine
from tests.tiny import catalogue, describe, exchange, make_bundle, redescribe, tiny_exported, tiny_run, typed

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
from batag.pages.formats import write_pages
from batag.training.examples import Example, label_words, make_examples

WORDS = [["running", "shoes"], ["new", "acme", "跑鞋", "ガーゼ", "x"], ["a"] * 40, ["one"]]
NOT_AS_A_GRAPH = frozenset({"informer", "switch"})


def examples_of(bundle: Bundle) -> list[Example]:
    words = label_words(catalogue(5, split="dev"), bundle.segmentation)
    return make_examples(words, bundle.scheme, window=bundle.description.window, overlap=bundle.description.overlap)


@pytest.mark.parametrize("name", mostly_long(ENCODERS, "bat", "informer"))
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


@pytest.mark.parametrize("missing", [["onnx"], ["onnxscript"], ["onnx", "onnxscript"]])
def test_libraries_that_an_export_lacks_are_said_before_a_page_is_read_with_the_command_that_installs_them(
    missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = exporting.find_spec
    monkeypatch.setattr(exporting, "find_spec", lambda name: None if name in missing else real(name))
    monkeypatch.setattr("batag.cli.export._examples", lambda *_, **__: pytest.fail("a page was read"))
    done = typed("export", tiny_run())
    assert done.returncode == 2
    assert f"{sys.executable} -m pip install {' '.join(missing)}" in done.stderr.replace("\n", " ").replace("  ", " ")
    assert "Traceback" not in done.stderr


def _graph(inputs: dict[str, list[Any]], outputs: dict[str, list[Any]], *, op: str = "Identity", kind: int = 1) -> bytes:
    """A graph of another model: its first input is its output."""
    from onnx import helper

    types = {"mask": 9}
    nodes = [helper.make_node(op, [next(iter(inputs))], [next(iter(outputs))])]
    made = [
        [helper.make_tensor_value_info(name, types.get(name, kind), shape) for name, shape in each.items()]
        for each in (inputs, outputs)
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "foreign", *made), opset_imports=[helper.make_opsetid("", 20)], ir_version=10
    )
    found: bytes = model.SerializeToString()
    return found


OURS: dict[str, list[Any]] = {"vectors": ["p", "l", 32], "mask": ["p", "l"]}
FOREIGN: dict[str, bytes] = {
    "other names": _graph({"x": ["p", "l", 32], "y": ["p", "l"]}, {"logits": ["p", "l", 4]}),
    "one input": _graph({"vectors": ["p", "l", 32]}, {"logits": ["p", "l", 4]}),
    "another width": _graph({"vectors": ["p", "l", 4], "mask": ["p", "l"]}, {"logits": ["p", "l", 4]}),
    "other labels": _graph(OURS, {"logits": ["p", "l", 32]}),
    "open sizes": _graph({"vectors": ["p", "l", "d"], "mask": ["p", "l"]}, {"logits": ["p", "l", "c"]}),
    "other ranks": _graph({"vectors": ["p"], "mask": ["p", "l"]}, {"logits": ["p"]}),
    "whole numbers": _graph(OURS, {"logits": ["p", "l", 32]}, kind=7),
    "another output": _graph(OURS, {"scores": ["p", "l", 32]}),
    "not finite": _graph({"vectors": ["p", "l", "d"], "mask": ["p", "l"]}, {"logits": ["p", "l", "c"]}, op="Log"),
    "nothing": b"",
    "no graph": b"PK\x03\x04 zip",
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN.keys())
def test_the_graph_of_another_model_is_one_clear_error(tmp_path: Path, data: bytes) -> None:
    folder = exchange(shutil.copytree(tiny_exported(), tmp_path / "bundle"), "model.onnx", data)
    with pytest.raises(InputError, match=r"model\.onnx: (is not the graph of this bundle|cannot be run)"):
        batag.load(folder, engine="onnx").tag({"title": "new running shoes"})
    done = typed("tag", folder, "new running shoes", "--engine", "onnx")
    assert done.returncode == 1
    assert "batag export" in done.stderr


def test_weights_that_a_graph_does_not_bring_are_missed_without_torch_too(tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_exported(), tmp_path / "bundle")
    redescribe(folder, lambda said: said["head"].update(chain=not said["head"].get("chain")))
    kept = describe(folder)["head"]["chain"]
    if not kept:
        redescribe(folder, lambda said: said["head"].update(chain=True))
        weights = {
            name: value for name, value in load_file(folder / "model.safetensors").items() if not name.startswith("chain.")
        }
        exchange(folder, "model.safetensors", save(weights))
    with pytest.raises(InputError, match=r"does not fit bundle\.json: chain\.follows"):
        batag.load(folder, engine="onnx")


def test_one_flipped_bit_in_any_file_of_an_exported_bundle_is_refused_by_the_name_of_the_file(tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_exported(), tmp_path / "bundle")
    chance = random.Random(0)
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 6
    for name in names:
        data = (folder / name).read_bytes()
        for _ in range(12):
            spoilt = bytearray(data)
            spoilt[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            (folder / name).write_bytes(spoilt)
            with pytest.raises(InputError, match=re.escape(name)):
                read_bundle(folder, layers=False)
        (folder / name).write_bytes(data)
    assert read_bundle(folder).description == read_bundle(tiny_exported()).description


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


def test_an_engine_that_died_for_one_bundle_is_tried_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    other = shutil.copytree(tiny_exported(), tmp_path / "other")
    graph = onnx.load(other / "model.onnx")
    graph.producer_name = "another export"
    exchange(other, "model.onnx", graph.SerializeToString())
    ends = iter([-4, 0])
    monkeypatch.setattr(choice.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], next(ends)))
    assert not choice.works(tiny_exported(), "onnx")
    assert choice.works(other, "onnx")
    assert not choice.works(tiny_exported(), "onnx")  # and both are remembered
    assert choice.works(other, "onnx")


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
    assert bundle.known is not None
    assert len(bundle.known["vectors"]) == len(bundle.vocabulary.words)
    words = [list(bundle.vocabulary.words[:9]), ["new", "words", bundle.vocabulary.words[0]]]
    before = replace(bundle, description=bundle.description.model_copy(update={"files": {}}))
    assert before.known is None
    for one, other in zip(*(TorchEngine(each).probabilities(words) for each in (bundle, before)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_export_that_is_compared_on_pages_that_no_person_has_seen_says_so_loudly(tmp_path: Path) -> None:
    write_pages(map(by_machine, catalogue(4)), tmp_path / "tagged.jsonl")
    bundle = shutil.copytree(tiny_run() / "bundle", tmp_path / "bundle")
    for pages, by in ((["--pages", tmp_path / "tagged.jsonl"], "terms"), ([], "person")):
        done = typed("export", bundle, "--engine", "torch", "--int8", "--force", "--json", *pages)
        assert json.loads(done.stdout)["measured_by"] == by
        assert ("NO PERSON HAS SEEN ANY OF THESE PAGES" in " ".join(done.stderr.split())) == (by != "person")
