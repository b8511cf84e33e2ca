"""Checkpoints: all that a step changes comes back bit by bit; whatever is wrong with the file is one clear error."""

from __future__ import annotations

import errno
import json
import os
import struct
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save as save_tensors
from tests.conftest import mostly_long
from tests.crash.nursery import new_run, small_files
from torch import Tensor

from batag.errors import InputError
from batag.training.checkpoint import load_checkpoint, load_weights_file, save_checkpoint, save_weights
from batag.training.prepared import PreparedRun

pytestmark = pytest.mark.usefixtures("few_rounds")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return small_files(tmp_path_factory.mktemp("pages"), train=12, dev=4)


@pytest.fixture
def prepared(tmp_path: Path, files: dict[str, Any]) -> Callable[..., PreparedRun]:
    """A run at its start; it writes no checkpoint of its own."""
    made: list[PreparedRun] = []

    def make(*settings: str) -> PreparedRun:
        run = new_run(tmp_path / f"run{len(made)}", files, "training.checkpoint_steps=1000", "training.epochs=9", *settings)
        run = run.prepare(device="cpu")
        made.append(run)
        return run

    return make


Prepared = Callable[..., PreparedRun]


def state(run: PreparedRun) -> dict[str, Any]:
    """All that a step changes."""
    learner = run.learner
    found: dict[str, Tensor] = {f"model.{name}": value for name, value in learner.model.named_parameters()}
    found |= {f"average.{name}": value for name, value in learner.average.items()}
    for name, parameter in learner.model.named_parameters():
        found |= {f"adam.{name}.{key}": value for key, value in learner.optimizer.state.get(parameter, {}).items()}
    bits = {name: (value.dtype, value.detach().numpy().tobytes()) for name, value in found.items()}
    return bits | {"numbers": (learner.step, learner.epochs, learner.loss_sum)}


def losses(run: PreparedRun, steps: int) -> list[float]:
    """The losses of so many more steps and epochs."""
    return [done.loss for done in islice(run.train(), steps)]


@pytest.mark.parametrize("average", mostly_long([0, 0.9], 0.9))
@pytest.mark.parametrize("kind", mostly_long(["word", "rich"], "rich"))
@pytest.mark.parametrize("done", [0, 4, 6])
def test_a_learner_comes_back_bit_by_bit_and_goes_on_the_same(
    tmp_path: Path, prepared: Prepared, average: float, kind: str, done: int
) -> None:
    settings = (f"training.average={average}", f"input.kind={kind}")
    one, other = prepared(*settings), prepared(*settings)
    losses(one, done)
    save_checkpoint(tmp_path / "a.safetensors", one.learner, {"best_epoch": 3, "say": "ü"})
    metadata = load_checkpoint(tmp_path / "a.safetensors", other.learner)
    assert (metadata["best_epoch"], metadata["say"]) == (3, "ü")
    assert state(other) == state(one)
    assert list(other.learner.average) == list(one.learner.average)
    assert losses(other, 5) == losses(one, 5)
    assert state(other) == state(one)


def test_what_was_loaded_is_not_tied_to_the_file(tmp_path: Path, prepared: Prepared) -> None:
    one, other = prepared(), prepared()
    losses(one, 2)
    path = tmp_path / "a.safetensors"
    save_checkpoint(path, one.learner, {})
    before = path.read_bytes()
    load_checkpoint(path, other.learner)
    losses(other, 2)
    assert path.read_bytes() == before


def test_saving_changes_nothing_and_the_same_learner_gives_the_same_bytes(tmp_path: Path, prepared: Prepared) -> None:
    one = prepared()
    losses(one, 3)
    before = state(one)
    for name in ("a", "b"):
        save_checkpoint(tmp_path / name, one.learner, {"x": 1})
    assert state(one) == before
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["a", "b"]


def test_tensors_and_metadata_of_any_kind_come_back(tmp_path: Path) -> None:
    tensors = {
        "whole": torch.arange(6).reshape(2, 3),
        "turned": torch.randn(4, 3).T,
        "one": torch.tensor(2.5, dtype=torch.float64),
        "none": torch.zeros(0, 3),
        "字": torch.tensor([True, False]),
    }
    metadata = {"dev": {"classes": {"商品": {"f1": 0.1 + 0.2}}}, "none": None, "list": [1, "a\u2028b"]}
    save_weights(tmp_path / "a", tensors, metadata)
    found, read_metadata = load_weights_file(tmp_path / "a")
    assert read_metadata == metadata
    assert found.keys() == tensors.keys()
    for name, value in tensors.items():
        assert found[name].dtype == value.dtype
        assert torch.equal(found[name], value)


def test_a_parameter_that_needs_a_gradient_can_be_saved(tmp_path: Path) -> None:
    save_weights(tmp_path / "a", {"w": torch.nn.Parameter(torch.ones(2))}, {})
    assert torch.equal(load_weights_file(tmp_path / "a")[0]["w"], torch.ones(2))


# What is wrong


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path, prepared: Prepared) -> None:
    one = prepared()
    path = tmp_path / "a.safetensors"
    save_checkpoint(path, one.learner, {})
    for settings in (["encoder.width=32"], ["encoder.depth=2"], ["input.kind=word"], ["encoder.name=transformer"]):
        other = prepared(*settings)
        before = state(other)
        with pytest.raises(InputError, match="another model than the recipe's") as caught:
            load_checkpoint(path, other.learner)
        assert str(path) in str(caught.value)
        assert state(other) == before


def test_the_weights_of_the_best_epoch_are_no_checkpoint(tmp_path: Path, prepared: Prepared) -> None:
    one = prepared()
    save_weights(tmp_path / "best.safetensors", one.learner.weights(), {"epoch": 1})
    with pytest.raises(InputError, match=r"best\.safetensors"):
        load_checkpoint(tmp_path / "best.safetensors", one.learner)


def test_a_checkpoint_that_lacks_a_fact_is_damaged(tmp_path: Path, prepared: Prepared) -> None:
    one = prepared()
    tensors = {f"model.{name}": value for name, value in one.learner.model.named_parameters()}
    save_weights(tmp_path / "a.safetensors", tensors, {"epochs": 1})
    with pytest.raises(InputError, match=r"a\.safetensors"):
        load_checkpoint(tmp_path / "a.safetensors", one.learner)


def whole() -> bytes:
    return save_tensors({"a": torch.ones(3, 4), "b": torch.zeros(5)}, {"metadata": json.dumps({"step": 1})})


def with_header(header: object) -> bytes:
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(data)) + data + b"\0" * 16


TENSOR = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
DAMAGED = {
    "empty": b"",
    "short": b"\x01\x02",
    "text": b"this is no checkpoint at all, but a text",
    "a huge header": struct.pack("<Q", 2**63) + b"{}",
    "no header": struct.pack("<Q", 0),
    "header that is not JSON": with_header(b"{" * 40),
    "header that is no object": with_header([1, 2]),
    "no metadata": with_header({"a": TENSOR}),
    "metadata that is not JSON": with_header({"a": TENSOR, "__metadata__": {"metadata": "{"}}),
    "other metadata only": with_header({"a": TENSOR, "__metadata__": {"other": "{}"}}),
    "a tensor beyond the end": with_header(
        {"a": TENSOR | {"data_offsets": [0, 99], "shape": [24]}, "__metadata__": {"metadata": "{}"}}
    ),
    "an unknown type": with_header({"a": TENSOR | {"dtype": "F99"}, "__metadata__": {"metadata": "{}"}}),
    "a negative shape": with_header({"a": TENSOR | {"shape": [-4]}, "__metadata__": {"metadata": "{}"}}),
    "too long": whole() + b"\0",
}


@pytest.mark.parametrize("what", list(DAMAGED))
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, what: str) -> None:
    path = tmp_path / "last.safetensors"
    path.write_bytes(DAMAGED[what])
    with pytest.raises(InputError, match="is damaged") as caught:
        load_weights_file(path)
    assert str(path) in str(caught.value)


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_was_cut_off_anywhere_is_damaged(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.safetensors"
    data = whole()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(InputError, match="is damaged"):
        load_weights_file(path)


def test_a_file_that_is_missing_or_a_folder_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a: cannot be opened \(No such file"):
        load_weights_file(tmp_path / "a")
    with pytest.raises(InputError, match=r"cannot be opened \(Is a directory"):
        load_weights_file(tmp_path)


@pytest.mark.parametrize(
    ("code", "word"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "quota"), (errno.EROFS, "read-only"), (errno.EIO, "Input/output")],
)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_write_that_fails_keeps_the_old_file_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, word: str, call: str
) -> None:
    path = tmp_path / "last.safetensors"
    save_weights(path, {"a": torch.ones(2)}, {"step": 1})

    def fails(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as broken:
        broken.setattr(os, call, fails)
        with pytest.raises(InputError) as caught:
            save_weights(path, {"a": torch.zeros(2)}, {"step": 2})
        with pytest.raises(InputError, match="there is none yet"):
            save_weights(tmp_path / "new.safetensors", {"a": torch.zeros(2)}, {"step": 2})
    message = str(caught.value)
    assert word in message
    assert str(path) in message
    assert "the last good one is kept" in message
    assert f"batag train --resume {tmp_path}" in message
    assert load_weights_file(path)[1] == {"step": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["last.safetensors"]


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        save_weights(tmp_path / "gone" / "last.safetensors", {"a": torch.ones(1)}, {})
    assert str(tmp_path / "gone" / "last.safetensors") in str(caught.value)
    assert "No such file" in str(caught.value)
