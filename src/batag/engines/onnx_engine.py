"""ONNX Runtime: runs the exported encoder without torch; it starts faster and has a lower latency for single pages."""

from __future__ import annotations

import os
from ctypes import py_object, pythonapi
from importlib import import_module
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from batag.bundles.bundle import Bundle
from batag.bundles.description import GRAPH
from batag.engines.engine import LayerEngine
from batag.engines.threads import check_threads, usable_threads
from batag.errors import BatagError, InputError, UsageError
from batag.features.batches import Floats

_NO_REPORTS = "ORT_DISABLE_TELEMETRY"
_AGAIN = "Export it again: batag export BUNDLE"
_SLOW_FUSION = "SkipLayerNormFusion"
"""The fused addition and norm takes seven times as long as the two apart, a fifth of a batch (onnxruntime 1.31)."""
_engines: WeakSet[OnnxEngine] = WeakSet()


class OnnxEngine(LayerEngine):
    """Runs the ONNX graph of a bundle, or the `graph` given, on the CPU."""

    name = "onnx"

    def __init__(self, bundle: Bundle, *, device: str = "auto", threads: int | None = None, graph: bytes | None = None) -> None:
        if device not in ("auto", "cpu"):
            raise UsageError(
                f"ONNX runs on the CPU, not on {device!r}",
                todo="Use --device cpu, or --engine torch",
                python='Use device="cpu", or engine="torch"',
            )
        super().__init__(bundle)
        self.threads = check_threads(threads)
        self._path, self._graph = bundle.folder / GRAPH, graph
        self._sessions: dict[int, Any] = {}
        self._width, self._labels = bundle.description.encoder.width, len(bundle.description.labels)
        self._check(self._session())
        _engines.add(self)

    def _session(self) -> Any:
        threads = usable_threads(self.threads)
        if threads not in self._sessions:
            self._sessions[threads] = self._open(threads)
        return self._sessions[threads]

    def _open(self, threads: int) -> Any:
        onnxruntime = import_runtime()
        chosen = onnxruntime.SessionOptions()
        chosen.intra_op_num_threads = threads
        chosen.inter_op_num_threads = 1
        chosen.log_severity_level = 3
        try:
            given = str(self._path) if self._graph is None else self._graph
            return onnxruntime.InferenceSession(
                given, chosen, providers=["CPUExecutionProvider"], disabled_optimizers=[_SLOW_FUSION]
            )
        except Exception as error:  # the library's own kinds have no common name
            raise InputError(f"cannot be run ({str(error)[:200]})", where=str(self._path), todo=_AGAIN) from error

    def leave_threads(self) -> None:
        """After a fork, abandon the session without closing it: closing would wait for threads that the child does not have."""
        for threads in self._sessions.keys() - {1}:
            pythonapi.Py_IncRef(py_object(self._sessions.pop(threads)))

    def _check(self, session: Any) -> None:
        """Raise an error unless the inputs and outputs of the graph have the expected names and shapes; dynamic sizes are
        accepted."""
        wanted = {
            "vectors": ("tensor(float)", (None, None, self._width)),
            "mask": ("tensor(bool)", (None, None)),
            "logits": ("tensor(float)", (None, None, self._labels)),
        }
        there = [*session.get_inputs(), *session.get_outputs()]
        fits = [each.name for each in there] == list(wanted) and all(
            each.type == kind and len(each.shape) == len(sizes) and all(map(_fits, each.shape, sizes))
            for each, (kind, sizes) in zip(there, wanted.values(), strict=True)
        )
        if not fits:
            signature = ", ".join(f"{each.name} {each.type}{each.shape}" for each in there)
            raise self._foreign(f"it has {signature[:200]}")

    def _foreign(self, why: str) -> InputError:
        what = f"is not the graph of this bundle ({why})"
        return InputError(what, where=str(self._path), todo=_AGAIN)

    def logits(self, vectors_BLD: Floats, mask_BL: NDArray[np.bool_]) -> Floats:
        try:
            found: Floats = self._session().run(["logits"], {"vectors": vectors_BLD, "mask": mask_BL})[0]
        except BatagError:
            raise
        except Exception as error:  # the library's own kinds have no common name
            raise self._foreign(str(error)[:200]) from error
        if found.shape != (*mask_BL.shape, self._labels) or not np.isfinite(found[mask_BL]).all():
            raise self._foreign(f"it answers {'x'.join(map(str, found.shape))} numbers, or some that are not finite")
        return found


def _fits(size: object, wanted: int | None) -> bool:
    return not isinstance(size, int) or size == wanted


def import_runtime() -> Any:
    """Import onnxruntime with telemetry switched off; its telemetry thread would block forked children at exit."""
    os.environ.setdefault(_NO_REPORTS, "1")
    return import_module("onnxruntime")


def _leave_threads() -> None:
    for engine in _engines:
        engine.leave_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_threads)
