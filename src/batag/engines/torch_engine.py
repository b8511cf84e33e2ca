"""PyTorch as it is, the reference that other engines are compared with; and with its products in int8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from batag.bundles.bundle import Bundle
from batag.encoders.device import choose_device
from batag.engines.engine import Engine, LayerEngine
from batag.engines.int8 import in_int8
from batag.engines.lean_bat import lean
from batag.engines.threads import check_threads, torch_threads
from batag.errors import UsageError
from batag.features.batches import Floats
from batag.heads.prediction import probabilities


class TorchEngine(LayerEngine):
    """The classifier of a bundle in float32, or with the ranges of its layers' inputs, in int8."""

    def __init__(
        self,
        bundle: Bundle,
        *,
        device: str = "auto",
        ranges: Mapping[str, tuple[float, float]] | None = None,
        threads: int | None = None,
    ) -> None:
        self.threads = check_threads(threads)
        with torch_threads(self.threads):
            self._load(bundle, device, ranges)

    def _load(self, bundle: Bundle, device: str, ranges: Mapping[str, tuple[float, float]] | None) -> None:
        super().__init__(bundle)
        self.name = "torch" if ranges is None else "torch-int8"
        self.device = choose_device("cpu" if ranges is not None and device == "auto" else device)
        if ranges is not None and self.device.type != "cpu":
            raise UsageError("int8 runs on the CPU only", todo="Use --device cpu, or --engine torch")
        self.model = bundle.model().to(self.device)
        # A backbone reads the page as a whole, so that there is no row a word.
        self.whole = bundle.description.reads_pages
        encoder = self.model.encoder if self.whole else lean(deepcopy(self.model.encoder))
        self.layers = nn.ModuleDict({"encoder": encoder, "head": self.model.head})
        if ranges is not None:
            in_int8(self.layers, ranges)

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        with torch_threads(self.threads):
            return super().probabilities(sequences)

    def batch(self, pages: Sequence[Sequence[str]]) -> Floats:
        if self.whole:
            return probabilities(self.model, pages, self.device)
        return super().batch(pages)

    @torch.inference_mode()
    def logits(self, vectors_BLD: Floats, mask_BL: NDArray[np.bool_]) -> Floats:
        vectors, mask = (torch.from_numpy(each).to(self.device) for each in (vectors_BLD, mask_BL))
        found: Floats = self.layers["head"](self.layers["encoder"](vectors, mask)).cpu().numpy()
        return found


def build(bundle: Bundle, *, device: str, int8: bool, threads: int | None) -> Engine:
    ranges = bundle.description.engines["torch-int8"].ranges if int8 else None
    return TorchEngine(bundle, device=device, ranges=ranges, threads=threads)
