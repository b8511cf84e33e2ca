"""Products in int8 beside those in float32, one by one and in BAT's layers."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import batag.engines.int8 as int8
from batag.encoders import build_encoder
from batag.engines.int8 import Int8Linear, in_int8, seen_ranges
from batag.engines.int8_bat import BytesLayer, takes_bytes
from batag.engines.lean_bat import LeanLayer, lean


def test_int8_is_near_and_a_number_outside_the_range_counts_as_its_border() -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(16, 4).requires_grad_(False)
    x = torch.rand(50, 16) * 4 - 1
    made = Int8Linear(linear, -1.0, 3.0)
    torch.testing.assert_close(made(x), linear(x), atol=0.05, rtol=0)
    torch.testing.assert_close(made(x * 100), made((x * 100).clamp(-1, 3)), atol=1e-5, rtol=0)


def test_int8_does_not_overflow_on_any_processor() -> None:
    """Largest weights and inputs side by side: their sum goes over 16 bits where weights have 8."""
    linear = torch.nn.Linear(64, 2).requires_grad_(False)
    linear.weight.copy_(torch.tensor([[1.0], [-1.0]]).expand(2, 64))
    x = torch.full((3, 64), 2.0)
    torch.testing.assert_close(Int8Linear(linear, 0.0, 2.0)(x), linear(x), atol=0.01, rtol=0)


def layers_of(seed: int) -> nn.ModuleDict:
    torch.manual_seed(seed)
    encoder = build_encoder("bat", width=32, depth=2, heads=2, inner=64).eval().requires_grad_(False)
    for parameter in encoder.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    return nn.ModuleDict({"encoder": lean(encoder)})


def batch_of(pages: int, length: int, share: float) -> tuple[Tensor, Tensor]:
    vectors, mask = torch.randn(pages, length, 32), torch.rand(pages, length) < share
    mask[:, 0] = True
    vectors[~mask] = torch.nan
    return vectors, mask


@settings(max_examples=20)
@given(st.integers(16, 24), st.integers(16, 24), st.integers(0, 10**6), st.booleans())
def test_many_tokens_in_int8_are_near_float32_and_like_few(pages: int, length: int, seed: int, padded: bool) -> None:
    layers = layers_of(seed)
    given = batch_of(pages, length, 0.7 if padded else 1.1)
    made = deepcopy(layers)
    with torch.inference_mode():
        expected = layers["encoder"](*given)
        in_int8(made, seen_ranges(layers, lambda: layers["encoder"](*given)))
        found = made["encoder"](*given)
        one_by_one = torch.cat([made["encoder"](given[0][[page]], given[1][[page]]) for page in range(pages)])
    # Norms make every number about one; a step of rounding is a thirtieth.
    assert (found - expected).abs().mean() < 0.03
    assert (found - one_by_one).abs().mean() < 0.001
    assert not found[~given[1]].any()


def test_many_tokens_are_bytes_where_that_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    given, found = batch_of(16, 20, 0.7), []
    for bytes_are_fast in (takes_bytes(), False):
        monkeypatch.setattr(int8, "takes_bytes", lambda answer=bytes_are_fast: answer)
        layers = layers_of(0)
        in_int8(layers, seen_ranges(layers, lambda layers=layers: layers["encoder"](*given)))
        kinds = {type(layer) for layer in layers["encoder"].layers}
        assert kinds == {BytesLayer if bytes_are_fast else LeanLayer}
        with torch.inference_mode():
            found.append(layers["encoder"](*given))
    # Whatever the processor, a page has the same tags but for a number that falls on a border of two steps.
    assert (found[0] - found[1]).abs().mean() < 0.001


def test_a_layer_with_a_range_that_nobody_saw_is_left_in_float32() -> None:
    layers, given = layers_of(0), batch_of(16, 20, 0.7)
    ranges = seen_ranges(layers, lambda: layers["encoder"](*given))
    in_int8(layers, {name: own for name, own in ranges.items() if name != "encoder.layers.1.narrow"})
    last = layers["encoder"].layers[1]
    assert isinstance(last, LeanLayer)
    assert isinstance(last.narrow, nn.Linear)
    assert isinstance(last.widen, Int8Linear)
