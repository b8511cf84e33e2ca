"""Which engine a bundle runs with: chosen once, by what the bundle has and what is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tiny import catalogue, make_bundle, tiny_exported, typed

import batag
from batag.bundles.bundle import read_bundle
from batag.bundles.description import Description, EngineOf
from batag.engines import choice
from batag.engines.choice import choose_engine
from batag.errors import UsageError
from batag.pages.formats import write_pages

RATES = {"torch": 100.0, "torch-int8": 150.0, "onnx": 80.0}


def bundle_with(*engines: str) -> Description:
    """The description of a bundle with these engines, each as fast as it usually is."""
    own = {name: EngineOf(tokens_per_second=RATES[name]) for name in engines}
    return read_bundle(tiny_exported()).description.model_copy(update={"engines": own})


def without(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda name: None if name in libraries else object())


@pytest.mark.parametrize(
    ("engines", "large", "expected"),
    [
        (("torch", "torch-int8", "onnx"), False, "onnx"),
        (("torch", "torch-int8", "onnx"), True, "torch-int8"),
        (("torch", "onnx"), True, "torch"),
        (("torch", "torch-int8"), False, "torch"),
        ((), False, "torch"),
        ((), True, "torch"),
    ],
)
def test_small_inputs_go_to_onnx_and_large_ones_to_the_fastest(engines: tuple[str, ...], large: bool, expected: str) -> None:
    assert choose_engine(bundle_with(*engines), large=large) == expected


@pytest.mark.parametrize("large", [False, True])
def test_without_torch_it_is_onnx(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "torch")
    assert choose_engine(bundle_with("torch", "torch-int8", "onnx"), large=large) == "onnx"


def test_without_torch_a_bundle_that_needs_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "torch")
    for wanted, engines in (("auto", ()), ("torch", ("onnx",)), ("torch-int8", ("torch-int8", "onnx"))):
        with pytest.raises(UsageError, match=r"pip install 'batag\[train\]'"):
            choose_engine(bundle_with(*engines), wanted=wanted)
    with pytest.raises(UsageError, match="the engine torch needs torch"):
        choose_engine(bundle_with("onnx"), device="cuda")


def test_int8_that_this_torch_does_not_have_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batag.engines.int8.int8_works", lambda: False)
    assert choose_engine(bundle_with("torch", "torch-int8"), large=True) == "torch"
    monkeypatch.setattr("batag.engines.torch_engine.int8_works", lambda: False)
    with pytest.raises(UsageError, match="has no int8 product"):
        batag.load(tiny_exported(), engine="torch-int8")


@pytest.mark.parametrize(("name", "hint"), [("onyx", "Did you mean 'onnx'"), ("onnx", "batag export BUNDLE --engine onnx")])
def test_an_engine_that_is_not_there_is_a_mistake_of_the_call(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        choose_engine(bundle_with("torch"), wanted=name)


def test_a_bundle_is_loaded_with_onnx_and_no_other_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batag.engines.torch_engine.TorchEngine", lambda *_, **__: pytest.fail("torch was loaded too"))
    tagger = batag.load(tiny_exported())
    assert tagger.engine.name == "onnx"
    assert tagger.tag({"title": "new running shoes"}) is not None


def test_a_device_goes_through_the_same_job_with_torch(tmp_path: Path) -> None:
    write_pages(catalogue(3), tmp_path / "pages.jsonl")
    call = ("tag", tiny_exported(), tmp_path / "pages.jsonl", "--json")
    done = typed(*call, "-o", f"{tmp_path}/tagged/", "--device", "cpu:0", "--workers", 2)
    assert '"engine": "torch"' in done.stdout
    assert json.loads((tmp_path / "tagged" / "_batag" / "job.json").read_bytes())["device"] == "cpu:0"
    done = typed(*call, "-o", f"{tmp_path}/other/", "--device", "cpu:0", "--engine", "onnx")
    assert (done.returncode, "ONNX runs on the CPU, not on 'cpu:0'" in done.stderr) == (2, True)


def test_a_catalogue_job_takes_the_engine_by_the_size_of_its_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pages(catalogue(3), tmp_path / "pages.jsonl")
    done = typed("tag", tiny_exported(), tmp_path / "pages.jsonl", "-o", tmp_path / "small.jsonl", "--json")
    assert '"engine": "onnx"' in done.stdout
    monkeypatch.setattr("batag.cli.cataloguing.LARGE_BYTES", 10)
    done = typed("tag", make_bundle(tmp_path / "bundle"), tmp_path / "pages.jsonl", "-o", tmp_path / "large.jsonl", "--json")
    assert '"engine": "torch"' in done.stdout
