"""Exported engines: like float32 torch or refused; all encoders, any shape; a bundle stays whole."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save
from tests.conftest import mostly_long
from tests.strategies import by_machine
from tests.tiny import catalogue, describe, exchange, make_bundle, redescribe, tiny_exported, tiny_run, typed

import batag
import batag.engines.export as exporting
from batag.bundles.bundle import Bundle, read_bundle
from batag.encoders import ENCODERS
from batag.engines import build_engine
from batag.engines.export import export
from batag.engines.parity import LabelledWords
from batag.engines.torch_engine import TorchEngine
from batag.errors import InputError, UsageError
from batag.pages.formats import write_pages
from batag.training.examples import label_words, make_examples

WORDS = [["running", "shoes"], ["new", "acme", "跑鞋", "ガーゼ", "x"], ["a"] * 40, ["one"]]
NOT_AS_A_GRAPH = frozenset({"informer", "switch"})
WRONG_AS_A_GRAPH = frozenset({"muse"})
"""The exporter takes the lengths of its example for those of all pages; the check finds it."""


def pages_of(bundle: Bundle) -> list[LabelledWords]:
    words = label_words(catalogue(5, split="dev"), bundle.segmentation)
    examples = make_examples(words, bundle.scheme, window=bundle.description.window, overlap=bundle.description.overlap)
    return [(each.words, each.labels) for each in examples]


@pytest.mark.parametrize("name", mostly_long(ENCODERS, "bat"))
def test_every_encoder_is_written_as_a_graph_or_says_that_it_cannot(tmp_path: Path, name: str) -> None:
    encoder = {"name": name, "width": 8, "depth": 1, "heads": 2, "inner": 16}
    options = {"options": {"experts": 3}} if name == "switch" else {}
    bundle = read_bundle(make_bundle(tmp_path / "bundle", encoder=encoder | options))
    pages = [(words, [-1] * len(words)) for words in WORDS]
    if name in NOT_AS_A_GRAPH:
        with pytest.raises(UsageError, match=f"the encoder {name} cannot be exported"):
            export(bundle, engine="onnx", pages=pages)
        return
    if name in WRONG_AS_A_GRAPH:
        with suppress(InputError):  # it may not even run
            assert "a probability differs" in export(bundle, engine="onnx", pages=pages).refused
        return
    made = export(bundle, engine="onnx", pages=pages)
    assert made.refused == ""
    assert made.parity.largest < 1e-4
    read = read_bundle(bundle.folder)
    for one, other in zip(build_engine("onnx", read).probabilities(WORDS), TorchEngine(read).probabilities(WORDS), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_all_engines_of_a_bundle_give_the_same_tags() -> None:
    folder = tiny_exported()
    names = read_bundle(folder).description.engines
    assert set(names) == {"torch", "torch-int8", "onnx"}
    taggers = {name: batag.load(folder, engine=name, device="cpu") for name in names}
    pages = catalogue(5, split="test")
    for name, tagger in taggers.items():
        assert tagger.engine.name == name
    expected = [[(tag.start, tag.label) for tag in tags] for tags in taggers["torch"].tag_many(pages)]
    assert [[(tag.start, tag.label) for tag in tags] for tags in taggers["onnx"].tag_many(pages)] == expected


def test_an_export_that_differs_is_refused_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_run() / "bundle", folder)
    bundle = read_bundle(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(exporting, "LARGEST_DIFFERENCE", -1.0)
    made = export(bundle, engine="onnx", pages=pages_of(bundle))
    assert "differs by" in made.refused
    monkeypatch.setattr(exporting, "LARGEST_LOSS", -1.0)
    assert "F2 falls" in export(bundle, engine="torch-int8", pages=pages_of(bundle)).refused
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not export(bundle, engine="torch-int8", pages=pages_of(bundle), force=True).refused
    assert "torch-int8" in read_bundle(folder).description.engines


def test_int8_without_labelled_pages_is_refused(tmp_path: Path) -> None:
    bundle = read_bundle(make_bundle(tmp_path / "bundle"))
    pages = [(words, [-1] * len(words)) for words, _ in pages_of(bundle)]
    assert "is unknown" in export(bundle, engine="torch-int8", pages=pages).refused


@pytest.mark.parametrize("engine", ["torch", "openvino", ""])
def test_what_cannot_be_exported_is_a_mistake_of_the_call(tmp_path: Path, engine: str) -> None:
    bundle = read_bundle(make_bundle(tmp_path / "bundle"))
    with pytest.raises(UsageError):
        export(bundle, engine=engine, pages=pages_of(bundle))
    with pytest.raises(InputError, match="no page"):
        export(bundle, engine="onnx", pages=[])


@pytest.mark.parametrize("missing", [["onnx"], ["onnxscript"], ["onnx", "onnxscript"]])
def test_libraries_that_an_export_lacks_are_said_before_a_page_is_read_with_the_command_that_installs_them(
    missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = exporting.find_spec
    monkeypatch.setattr(exporting, "find_spec", lambda name: None if name in missing else real(name))
    monkeypatch.setattr("batag.cli.export._labelled_words", lambda *_, **__: pytest.fail("a page was read"))
    done = typed("export", tiny_run())
    assert done.returncode == 2
    assert f"exporting needs {' and '.join(missing)}. pip install 'batag[train]'" in done.stderr
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
    redescribe(folder, lambda description: description["head"].update(chain=not description["head"].get("chain")))
    kept = describe(folder)["head"]["chain"]
    if not kept:
        redescribe(folder, lambda description: description["head"].update(chain=True))
        weights = {
            name: value for name, value in load_file(folder / "model.safetensors").items() if not name.startswith("chain.")
        }
        exchange(folder, "model.safetensors", save(weights))
    with pytest.raises(InputError, match=r"does not fit bundle\.json: chain\.transitions"):
        batag.load(folder, engine="onnx")


def test_one_flipped_bit_in_any_file_of_an_exported_bundle_is_refused_by_the_name_of_the_file(tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_exported(), tmp_path / "bundle")
    chance = random.Random(0)
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 5
    for name in names:
        data = (folder / name).read_bytes()
        for _ in range(12):
            spoilt = bytearray(data)
            spoilt[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            (folder / name).write_bytes(spoilt)
            with pytest.raises(InputError, match=re.escape(name)):
                read_bundle(folder)
        (folder / name).write_bytes(data)
    assert read_bundle(folder).description == read_bundle(tiny_exported()).description


def test_a_damaged_graph_is_one_clear_error(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_exported(), folder)
    graph = folder / "model.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="not the original file"):
        batag.load(folder, engine="onnx")


def test_torch_is_not_loaded_when_onnx_tags() -> None:
    code = (
        "import sys, batag\n"
        f"tagger = batag.load({str(tiny_exported())!r}, engine='onnx')\n"
        "assert tagger.tag({'title': 'new running shoes'}) is not None\n"
        "assert 'torch' not in sys.modules, 'torch'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rates_of_different_hours_are_compared_by_float32_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(tiny_run() / "bundle", tmp_path / "bundle")
    for slow, int8 in ((1.0, 2.0), (0.1, 0.3)):
        measured = {"torch": 1000 * slow, "torch-int8": 1000 * int8}
        monkeypatch.setattr(exporting, "compare_rates", lambda *_, measured=measured: measured)
        bundle = read_bundle(tmp_path / "bundle")
        export(bundle, engine="torch-int8", pages=pages_of(bundle), force=True)
        rates = {name: each.tokens_per_second for name, each in read_bundle(tmp_path / "bundle").description.engines.items()}
        assert rates == {"torch": 1000.0, "torch-int8": 1000 * round(int8 / slow, 6)}


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
        done = typed("export", bundle, "--engine", "torch-int8", "--force", "--json", *pages)
        assert json.loads(done.stdout)["measured_by"] == by
        assert ("NO PERSON HAS REVIEWED ANY OF THESE PAGES" in " ".join(done.stderr.split())) == (by != "person")


def test_a_graph_names_no_file_of_the_machine_that_made_it() -> None:
    for bundle in (tiny_exported(), Path(__file__).parents[1] / "bundles" / "format-1"):
        graph = (bundle / "model.onnx").read_bytes()
        assert b".py" not in graph
        assert b"batag" not in graph
