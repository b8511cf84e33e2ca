"""The linear layers of an encoder in int8: weights by their rows, inputs by ranges that were measured on pages.

The ranges are fixed, not taken from each batch, so that a page's tags do not depend on what else is in the batch. Weights have
7 bits: processors without int8 instructions add two products in 16 bits, which 8 would overflow.
"""

import warnings
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

Ranges = Mapping[str, tuple[float, float]]
HEAD = "head"
_LARGEST = 64
_TINY = 1e-12
_PRODUCT = "linear_with_input_q_dq_qweight_dq_output_fp32"


def int8_works() -> bool:
    """Whether this torch has the int8 product; it is no public function of torch."""
    try:
        Int8Linear(nn.Linear(8, 8), -1.0, 1.0)(torch.zeros(1, 8))
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return True


def input_ranges(layers: nn.Module, run: Callable[[], object]) -> dict[str, tuple[float, float]]:
    """The lowest and highest number that goes into each linear layer while `run` runs."""
    found: dict[str, tuple[float, float]] = {}

    def watch(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def look(_: nn.Module, given: tuple[Tensor, ...]) -> None:
            low, high = (value.item() for value in given[0].aminmax())
            before = found.get(name, (0.0, 0.0))
            found[name] = min(before[0], low), max(before[1], high)

        return look

    hooks = [layer.register_forward_pre_hook(watch(name)) for name, layer in _linear_layers(layers)]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return found


def quantize(layers: nn.Module, ranges: Ranges) -> None:
    """Replace every linear layer that has a range by its int8 form; the last one, the head, stays in float32."""
    for name, layer in _linear_layers(layers):
        if name in ranges:
            layers.set_submodule(name, Int8Linear(layer, *ranges[name]))


def _linear_layers(layers: nn.Module) -> list[tuple[str, nn.Linear]]:
    return [(name, layer) for name, layer in layers.named_modules() if isinstance(layer, nn.Linear) and name != HEAD]


class Int8Linear(nn.Module):
    """A linear layer of float32 numbers by one product in int8; a number outside the range counts as its border."""

    def __init__(self, linear: nn.Linear, low: float, high: float) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scales = (weight.abs().amax(1) / _LARGEST).clamp(min=_TINY)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*")
            rows = torch.quantize_per_channel(
                weight, scales.double(), torch.zeros(len(scales), dtype=torch.long), 0, torch.qint8
            )
        self.packed = torch.ops.quantized.linear_prepack(rows, linear.bias)
        self.scale = max(high - low, _TINY) / 255
        self.zero = round(-low / self.scale)
        self.product = getattr(torch.ops.quantized, _PRODUCT).default

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.product(x, self.scale, self.zero, self.packed)
        return found
