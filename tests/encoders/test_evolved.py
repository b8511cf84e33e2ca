"""The Evolved Transformer: its equations, its narrow branches and how it starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from tests.contract.test_encoders import FEED_FORWARD, SQUARE, norms_and_biases_start_plain, starts_within
from tests.encoders import reference
from tests.encoders.filling import fill, fill_linear, fill_norm, pages
from tests.encoders.reference import NORM, Layer, drawn
from tests.encoders.reference_evolved import evolved_drawn, evolved_page
from torch.nn import functional as F

from batag.encoders import build_encoder
from batag.encoders.evolved import Evolved, depthwise


def evolved_of(layers: Sequence[Layer], norm: Layer, **shape: Any) -> Evolved:
    encoder = build_encoder("evolved", depth=len(layers), **shape).double().eval()
    assert isinstance(encoder, Evolved)
    fill_norm(encoder.norm, norm["ge"], norm["be"])
    for module, p in zip(encoder.layers, layers, strict=True):
        layer: Any = module
        norms = (layer.gate_norm, layer.branch_norm, layer.mixed_norm, layer.attention_norm, layer.feed_forward_norm)
        for place, each in enumerate(norms, 1):
            fill_norm(each, p[f"g{place}"], p[f"b{place}"])
        fill_linear(layer.value_gate, [p["Wvalue"], p["Wgate"]], [p["bvalue"], p["bgate"]])
        fill_linear(layer.left, [p["Wleft"]], [p["bleft"]])
        fill(layer.right.weight, *(tap.T for tap in p["Kright"]), dim=1)
        fill(layer.right.bias, p["bright"])
        fill(layer.depthwise, p["Kdepth"].T[:, None, None, :])
        fill_linear(layer.pointwise, [p["Kpoint"]], [p["bpoint"]])
        fill(layer.query_key_value.weight, p["Wq"].T, p["Wk"].T, p["Wv"].T)
        fill(layer.out.weight, p["Wo"].T)
        fill_linear(layer.widen, [p["W1"]], [p["bf1"]])
        fill_linear(layer.narrow, [p["W2"]], [p["bf2"]])
    return encoder


@pytest.mark.parametrize("position", ["none", "sinusoid"])
@pytest.mark.parametrize(
    ("width", "heads", "inner", "lengths"),
    [
        (4, 1, 8, (3,)),
        (8, 2, 16, (5, 1, 3)),
        (6, 6, 5, (4, 4)),
        (7, 1, 3, (2, 14)),
        (12, 2, 3, (4, 2)),
        (2, 1, 2, (5, 4)),
        (3, 1, 1, (5, 4)),
        (32, 4, 64, (9, 14)),
    ],
)
def test_it_equals_an_independent_numpy_page_by_page(
    width: int, heads: int, inner: int, lengths: tuple[int, ...], position: str
) -> None:
    vectors, mask = pages(*lengths, width=width)
    vectors = 2 * vectors.double() + 0.5
    layers = [evolved_drawn(seed, width=width, inner=inner) for seed in range(2)]
    norm = drawn(NORM, width=width, inner=inner, seed=99)
    encoder = evolved_of(layers, norm, width=width, heads=heads, inner=inner, position=position)
    with torch.no_grad():
        out = encoder(vectors, mask).numpy()
    for place, length in enumerate(lengths):
        x = vectors[place, :length].numpy()
        if position == "sinusoid":
            x = x + reference.sinusoid(length, width)
        np.testing.assert_allclose(out[place, :length], evolved_page(x, layers, norm, heads=heads), rtol=0, atol=1e-9)
        assert (out[place, length:] == 0).all()


def test_the_depthwise_convolution_is_torchs_own_in_one_dimension() -> None:
    generator = torch.Generator().manual_seed(3)
    s, kernel = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((2, 13, 6), (6, 1, 1, 9)))
    for length in (1, 4, 13):
        part = s[:, :length]
        expected = F.conv1d(part.transpose(1, 2), kernel.squeeze(2), padding=4, groups=6).transpose(1, 2)
        torch.testing.assert_close(depthwise(part, kernel), expected, rtol=0, atol=1e-12)


def test_the_convolutions_reach_five_tokens_to_both_sides() -> None:
    """Three taps, then nine: one layer without its attention."""
    torch.manual_seed(0)
    encoder = build_encoder("evolved", width=8, depth=1, heads=2, inner=16).double().eval()
    layer: Any = encoder.layers[0]
    torch.nn.init.zeros_(layer.out.weight)
    vectors, mask = pages(20, width=8)
    before = encoder(vectors.double(), mask)
    vectors[0, 10] *= -1
    moved = (encoder(vectors.double(), mask) - before).abs().amax(-1)[0] > 1e-12
    assert moved.nonzero().flatten().tolist() == list(range(5, 16))


def test_attention_has_no_biases() -> None:
    encoder = build_encoder("evolved", width=8, depth=1, heads=2, inner=16)
    layer: Any = encoder.layers[0]
    assert layer.query_key_value.bias is None
    assert layer.out.bias is None


@pytest.mark.parametrize(("width", "inner", "right", "point"), [(128, 512, 64, 64), (2, 2, 1, 1), (1, 1, 1, 1), (16, 3, 3, 8)])
def test_the_narrow_branches_are_half_as_wide_as_the_encoder_and_never_empty(
    width: int, inner: int, right: int, point: int
) -> None:
    with torch.device("meta"):
        encoder = build_encoder("evolved", width=width, depth=1, heads=1, inner=inner)
    assert all(value.is_meta for value in encoder.state_dict().values())
    layer: Any = encoder.layers[0]
    assert layer.right.out_features == right
    assert layer.pointwise.out_features == point


def test_every_matrix_has_its_own_glorot_start_and_kernels_count_their_taps() -> None:
    torch.manual_seed(0)
    encoder = build_encoder("evolved", depth=2)
    norms_and_biases_start_plain(encoder)
    for module in encoder.layers:
        layer: Any = module
        for part in (*layer.value_gate.weight.split(128), *layer.query_key_value.weight.split(128), layer.out.weight):
            starts_within(part, SQUARE)
        for part in (layer.left.weight, layer.widen.weight, layer.narrow.weight):
            starts_within(part, FEED_FORWARD)
        starts_within(layer.right.weight, math.sqrt(6 / (3 * (128 + 64))))
        starts_within(layer.depthwise, math.sqrt(6 / (9 * (512 + 1))))
        starts_within(layer.pointwise.weight, math.sqrt(6 / (512 + 64)))
