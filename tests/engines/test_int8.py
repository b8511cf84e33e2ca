"""Linear layers in int8 beside those in float32."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from batag.encoders import build_encoder
from batag.engines import int8
from batag.engines.int8 import Int8Linear, input_ranges, int8_works, quantize


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
    return nn.ModuleDict({"encoder": encoder})


def batch_of(pages: int, length: int, share: float) -> tuple[Tensor, Tensor]:
    vectors, mask = torch.randn(pages, length, 32), torch.rand(pages, length) < share
    mask[:, 0] = True
    vectors[~mask] = torch.nan
    return vectors, mask


@settings(max_examples=20)
@given(st.integers(1, 24), st.integers(1, 24), st.integers(0, 10**6), st.booleans())
def test_pages_in_int8_are_near_float32_and_the_same_alone_and_together(
    pages: int, length: int, seed: int, padded: bool
) -> None:
    layers = layers_of(seed)
    given = batch_of(pages, length, 0.7 if padded else 1.1)
    made = deepcopy(layers)
    with torch.inference_mode():
        expected = layers["encoder"](*given)
        quantize(made, input_ranges(layers, lambda: layers["encoder"](*given)))
        found = made["encoder"](*given)
        one_by_one = torch.cat([made["encoder"](given[0][[page]], given[1][[page]]) for page in range(pages)])
    # Norms make every number about one; a step of rounding is a thirtieth.
    assert (found - expected).abs().mean() < 0.05
    assert (found - one_by_one).abs().mean() < 0.01
    assert not found[~given[1]].any()


def test_a_layer_without_a_range_is_left_in_float32() -> None:
    layers, given = layers_of(0), batch_of(16, 20, 0.7)
    ranges = input_ranges(layers, lambda: layers["encoder"](*given))
    quantize(layers, {name: own for name, own in ranges.items() if name != "encoder.layers.1.narrow"})
    last = layers["encoder"].layers[1]
    assert isinstance(last.narrow, nn.Linear)
    assert isinstance(last.out, Int8Linear)


def test_a_torch_without_the_int8_product_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert int8_works()
    monkeypatch.setattr(int8, "_PRODUCT", "linear_that_this_torch_does_not_have")
    assert not int8_works()
