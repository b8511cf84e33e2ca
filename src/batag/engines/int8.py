"""The products of an encoder in int8: weights by their rows, inputs by ranges that were seen on pages.

The ranges are fixed, not taken from each batch, so that a page's answer does not depend on what else is asked with it.
What is far below the rounding is left out: BAT's norms do not add their 1e-4 to the deviation, which torch has no one call for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from batag.encoders.blocks import DeviationNorm
from batag.engines.int8_bat import BytesLayer, inward_scales, takes_bytes
from batag.engines.lean_bat import LeanLayer, RectifiedLinear
from batag.engines.rounding import Rounding, rounded_rows, row_scales

Ranges = Mapping[str, tuple[float, float]]
HEAD = "head"
_TINY = 1e-8


def seen_ranges(layers: nn.Module, run: Callable[[], object]) -> dict[str, tuple[float, float]]:
    """The least and greatest number that goes into each product while `run` runs."""
    found: dict[str, tuple[float, float]] = {}

    def watch(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def look(_: nn.Module, given: tuple[Tensor, ...]) -> None:
            least, most = (value.item() for value in given[0].aminmax())
            before = found.get(name, (0.0, 0.0))
            found[name] = min(before[0], least), max(before[1], most)

        return look

    hooks = [layer.register_forward_pre_hook(watch(name)) for name, layer in _products(layers)]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return found


def in_int8(layers: nn.Module, ranges: Ranges) -> None:
    """Put an int8 product in the place of every linear map that has a range; the last one stays as it is."""
    lean = {name: layer for name, layer in layers.named_modules() if isinstance(layer, LeanLayer)}
    many = _for_many(lean, ranges) if takes_bytes() else {}
    scales = {f"{name}.inward": inward_scales(layer) for name, layer in lean.items()}
    for name, layer in _products(layers):
        if name in ranges:
            layers.set_submodule(name, Int8Linear(layer, *ranges[name], scales=scales.get(name)))
    for name, norm in list(layers.named_modules()):
        if isinstance(norm, DeviationNorm):
            layers.set_submodule(name, _plain(norm))
    for name, bytes_layer in many.items():
        layers.set_submodule(name, bytes_layer)


def _for_many(lean: Mapping[str, LeanLayer], ranges: Ranges) -> dict[str, BytesLayer]:
    """Lean layers as bytes, by their names; only of those whose ranges are all known."""
    found = {}
    for name, layer in lean.items():
        own = {each: ranges[f"{name}.{each}"] for each in BytesLayer.ROUNDED if f"{name}.{each}" in ranges}
        if len(own) == len(BytesLayer.ROUNDED):
            found[name] = BytesLayer(layer, own)
    return found


def _plain(norm: DeviationNorm) -> nn.LayerNorm:
    made = nn.LayerNorm(len(norm.weight), eps=_TINY)
    made.weight, made.bias = norm.weight, norm.bias
    return made


def _products(layers: nn.Module) -> list[tuple[str, nn.Linear]]:
    return [(name, layer) for name, layer in layers.named_modules() if isinstance(layer, nn.Linear) and name != HEAD]


class Int8Linear(nn.Module):
    """A linear map (and ReLU, if it has one) of float32 numbers by one product in int8; a number outside the range counts as
    its border. Scales other than those of the rows by themselves may be given."""

    def __init__(self, linear: nn.Linear, least: float, most: float, *, scales: Tensor | None = None) -> None:
        super().__init__()
        weight = linear.weight.detach()
        rows = rounded_rows(weight, row_scales(weight) if scales is None else scales)
        self.packed = torch.ops.quantized.linear_prepack(rows, linear.bias)
        self.given = Rounding(least, most)
        plain, rectified = (
            getattr(torch.ops.quantized, f"linear_with_input_q_dq_qweight_dq{relu}_output_fp32") for relu in ("", "_relu")
        )
        self.product = (rectified if isinstance(linear, RectifiedLinear) else plain).default

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.product(x, self.given.scale, self.given.zero, self.packed)
        return found
