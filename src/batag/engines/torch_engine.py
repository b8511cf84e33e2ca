"""PyTorch as it is: the reference that other engines are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from batag.bundles.bundle import Bundle
from batag.encoders.device import choose_device
from batag.encoders.prediction import Floats, in_batches, probabilities
from batag.engines.engine import Engine


class TorchEngine:
    """The classifier of a bundle in float32."""

    name = "torch"

    def __init__(self, bundle: Bundle, *, device: str = "auto") -> None:
        self.device = choose_device(device)
        self.model = bundle.model().to(self.device)

    def probabilities(self, sequences: Sequence[Sequence[str]]) -> list[Floats]:
        return in_batches(lambda batch: probabilities(self.model, batch, self.device), sequences)


def build(bundle: Bundle, *, device: str) -> Engine:
    return TorchEngine(bundle, device=device)
