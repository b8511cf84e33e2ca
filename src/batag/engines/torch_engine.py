"""PyTorch in float32 (the reference for other engines), or with the encoder's linear layers in int8."""

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from batag.bundles.bundle import Bundle
from batag.encoders.device import choose_device
from batag.engines.engine import LayerEngine
from batag.engines.int8 import Ranges, int8_works, quantize
from batag.engines.threads import check_threads, torch_threads
from batag.errors import UsageError
from batag.features.batches import Floats
from batag.heads.prediction import probabilities


class TorchEngine(LayerEngine):
    """Runs the classifier of a bundle in float32 or, given the `ranges` of the layers' inputs, in int8."""

    def __init__(
        self, bundle: Bundle, *, device: str = "auto", ranges: Ranges | None = None, threads: int | None = None
    ) -> None:
        self.threads = check_threads(threads)
        with torch_threads(self.threads):
            self._load(bundle, device, ranges)

    def _load(self, bundle: Bundle, device: str, ranges: Ranges | None) -> None:
        self.name = "torch" if ranges is None else "torch-int8"
        self.device = choose_device("cpu" if ranges is not None and device == "auto" else device)
        self.model = bundle.model().to(self.device)
        super().__init__(bundle)
        # A backbone reads the page as a whole, so that a word has no vector of its own.
        self.whole = bundle.description.reads_pages
        self.layers = nn.ModuleDict({"encoder": self.model.encoder, "head": self.model.head})
        if ranges is not None:
            if self.device.type != "cpu":
                raise UsageError(
                    "int8 runs on the CPU only",
                    todo="Use --device cpu, or --engine torch",
                    python='Use device="cpu", or engine="torch"',
                )
            if not int8_works():
                raise UsageError(f"torch {torch.__version__} has no int8 product", todo="Use --engine torch, or another torch")
            self.layers = deepcopy(self.layers)
            quantize(self.layers, ranges)

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
