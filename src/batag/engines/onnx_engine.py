"""ONNX Runtime: the exported encoder without torch, for machines and starts where torch is too much."""

from __future__ import annotations

import os
from ctypes import py_object, pythonapi
from importlib import import_module
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from batag.bundles.bundle import Bundle
from batag.encoders.batches import Floats
from batag.engines.engine import Engine, LayerEngine
from batag.engines.threads import check_threads, usable_threads
from batag.errors import InputError, UsageError

GRAPHS = {"onnx": "model.onnx", "onnx-int8": "model.int8.onnx"}
_NO_REPORTS = "ORT_DISABLE_TELEMETRY"
_engines: WeakSet[OnnxEngine] = WeakSet()


class OnnxEngine(LayerEngine):
    """The graph of a bundle in float32 or int8, on the CPU."""

    def __init__(self, bundle: Bundle, *, name: str, threads: int | None = None) -> None:
        super().__init__(bundle)
        self.name, self.threads = name, check_threads(threads)
        self._path = bundle.folder / GRAPHS[name]
        self._sessions: dict[int, Any] = {}
        self._session()
        _engines.add(self)

    def _session(self) -> Any:
        threads = usable_threads(self.threads)
        if threads not in self._sessions:
            self._sessions[threads] = _open(str(self._path), threads)
        return self._sessions[threads]

    def leave_threads(self) -> None:
        """In a forked child: a session with threads, which are not there, is neither used nor ever ended, as that waits for
        them."""
        for threads in self._sessions.keys() - {1}:
            pythonapi.Py_IncRef(py_object(self._sessions.pop(threads)))

    def logits(self, vectors_BLD: Floats, mask_BL: NDArray[np.bool_]) -> Floats:
        found: Floats = self._session().run(None, {"vectors": vectors_BLD, "mask": mask_BL})[0]
        return found


def import_runtime() -> Any:
    """The library, which reports nothing to its makers: it does so by a thread that a forked child waits for when it ends."""
    os.environ.setdefault(_NO_REPORTS, "1")
    return import_module("onnxruntime")


def _open(path: str, threads: int) -> Any:
    onnxruntime = import_runtime()
    chosen = onnxruntime.SessionOptions()
    chosen.intra_op_num_threads = threads
    chosen.inter_op_num_threads = 1
    chosen.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(path, chosen, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own kinds have no common name
        todo = "Export it again: batag export BUNDLE"
        raise InputError(f"cannot be run ({str(error)[:200]})", where=path, todo=todo) from error


def _leave_threads() -> None:
    for engine in _engines:
        engine.leave_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_threads)


def build(bundle: Bundle, *, device: str, int8: bool, threads: int | None) -> Engine:
    if device not in ("auto", "cpu"):
        raise UsageError(f"ONNX runs on the CPU, not on {device!r}", todo="Use --device cpu, or --engine torch")
    return OnnxEngine(bundle, name="onnx-int8" if int8 else "onnx", threads=threads)
