"""Int8 quantization of an encoder's linear layers: weights per row, inputs by ranges that were measured on pages.

The ranges are fixed instead of taken from each batch, so that a page's tags do not depend on the rest of the batch. Weights
have 7 bits, because processors without int8 instructions add two products in 16 bits, which would overflow with 8.
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
    """Whether this version of torch has the int8 matrix product, which is not a public function."""
    try:
        Int8Linear(nn.Linear(8, 8), -1.0, 1.0)(torch.zeros(1, 8))
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return True


def input_ranges(layers: nn.Module, run: Callable[[], object]) -> dict[str, tuple[float, float]]:
    """The minimum and maximum of the input of each linear layer while `run` is called."""
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
    """Replace every linear layer that has a range by an int8 layer; the head stays in float32."""
    for name, layer in _linear_layers(layers):
        if name in ranges:
            layers.set_submodule(name, Int8Linear(layer, *ranges[name]))


def _linear_layers(layers: nn.Module) -> list[tuple[str, nn.Linear]]:
    return [(name, layer) for name, layer in layers.named_modules() if isinstance(layer, nn.Linear) and name != HEAD]


class Int8Linear(nn.Module):
    """A linear layer that multiplies in int8; inputs outside the range are clipped."""

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
