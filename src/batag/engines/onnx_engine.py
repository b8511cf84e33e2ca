"""ONNX Runtime: the exported encoder without torch, for machines and starts where torch is too much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batag.bundles.bundle import Bundle
from batag.encoders.batches import Floats
from batag.engines.engine import Engine, LayerEngine
from batag.errors import InputError, UsageError
from batag.settings import settings

GRAPHS = {"onnx": "model.onnx", "onnx-int8": "model.int8.onnx"}


class OnnxEngine(LayerEngine):
    """The graph of a bundle in float32 or int8, on the CPU."""

    def __init__(self, bundle: Bundle, *, name: str) -> None:
        import onnxruntime

        super().__init__(bundle)
        self.name = name
        path = bundle.folder / GRAPHS[name]
        chosen = onnxruntime.SessionOptions()
        chosen.intra_op_num_threads = settings.threads
        chosen.inter_op_num_threads = 1
        chosen.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(path), chosen, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library's own kinds have no common name
            todo = "Export it again: batag export BUNDLE"
            raise InputError(f"cannot be run ({str(error)[:200]})", where=str(path), todo=todo) from error

    def logits(self, vectors_BLD: Floats, mask_BL: NDArray[np.bool_]) -> Floats:
        found: Floats = self._session.run(None, {"vectors": vectors_BLD, "mask": mask_BL})[0]
        return found


def build(bundle: Bundle, *, device: str, int8: bool) -> Engine:
    if device not in ("auto", "cpu"):
        raise UsageError(f"ONNX runs on the CPU, not on {device!r}", todo="Use --device cpu, or --engine torch")
    return OnnxEngine(bundle, name="onnx-int8" if int8 else "onnx")
