"""BAT's options (the paper's ablations) against NumPy that was written from their description."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from tests.contract.test_encoders import PARAMETERS
from tests.encoders.filling import fill, fill_linear, fill_norm, pages
from tests.encoders.reference import (
    BAT_LAYER,
    NORM,
    Floats,
    attention,
    convolution,
    deviation_norm,
    drawn,
    feed_forward,
    relu,
)

from batag.encoders import build_encoder
from batag.errors import UsageError

WIDTH, INNER, HEADS = 8, 20, 2


def numpy_page(x: Floats, layers: list[dict[str, Floats]], last: dict[str, Floats], options: dict[str, str]) -> Floats:
    """One page with any choice of branches, residual and place of norms."""
    branches = options.get("branches", "attention,conv1,conv3").split(",")
    pre = options.get("norm") == "pre"
    z = x if pre else deviation_norm(x, last["ge"], last["be"])
    for layer in layers:
        given = deviation_norm(z, layer["g2"], layer["b2"]) if pre else z
        mixed = np.zeros_like(z)
        if "attention" in branches:
            mixed = mixed + attention(given, layer, heads=HEADS, scale=1 / math.sqrt(WIDTH), keys=len(z))
        if "conv1" in branches:
            mixed = mixed + relu(convolution(given, layer["K1"], layer["bK1"]))
        if "conv3" in branches:
            mixed = mixed + relu(convolution(given, layer["K3"], layer["bK3"]))
        u = deviation_norm(mixed, layer["g1"], layer["b1"]) + z
        u = u if pre else deviation_norm(u, layer["g2"], layer["b2"])
        given = deviation_norm(u, layer["g3"], layer["b3"]) if pre else u
        kept = u if options.get("residual") == "identity" else relu(convolution(given, layer["Kr"], layer["bKr"]))
        z = feed_forward(given, layer) + kept
        z = z if pre else deviation_norm(z, layer["g3"], layer["b3"])
    return deviation_norm(z, last["ge"], last["be"]) if pre else z


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"norm": "pre"},
        {"residual": "identity"},
        {"norm": "pre", "residual": "identity"},
        {"branches": "conv1,conv3"},
        {"branches": "attention,conv3"},
        {"branches": "attention,conv1"},
        {"branches": "conv3"},
        {"branches": "attention", "norm": "pre"},
        {"branches": "conv1", "residual": "identity"},
    ],
    ids=str,
)
def test_every_ablation_is_what_its_name_says(options: dict[str, str]) -> None:
    layers = [drawn(BAT_LAYER, width=WIDTH, inner=INNER, seed=seed) for seed in range(2)]
    norm = drawn(NORM, width=WIDTH, inner=INNER, seed=9)
    encoder: Any = build_encoder("bat", width=WIDTH, depth=2, heads=HEADS, inner=INNER, position="none", **options)
    encoder.double().eval()
    fill_norm(encoder.norm, norm["ge"], norm["be"])
    branches = options.get("branches", "attention,conv1,conv3")
    for layer, p in zip(encoder.layers, layers, strict=True):
        parts = [*("qkv" if "attention" in branches else ""), *(["1"] if "conv1" in branches else [])]
        if parts:
            weights = [p["K1"][0] if part == "1" else p[f"W{part}"] for part in parts]
            biases = [p["bK1"] if part == "1" else p[f"b{part}"] for part in parts]
            fill_linear(layer.query_key_value_conv1, weights, biases)
        if "attention" in branches:
            fill_linear(layer.out, [p["Wo"]], [p["bo"]])
        if "conv3" in branches:
            fill(layer.conv3.weight, *(tap.T for tap in p["K3"]), dim=1)
            fill(layer.conv3.bias, p["bK3"])
        weighted = options.get("residual") != "identity"
        fill_linear(
            layer.widen_and_residual,
            [p["W1"], *([p["Kr"][0]] if weighted else [])],
            [p["bf1"], *([p["bKr"]] if weighted else [])],
        )
        fill_linear(layer.narrow, [p["W2"]], [p["bf2"]])
        for place, each in enumerate((layer.mixed_norm, layer.attention_norm, layer.feed_forward_norm), 1):
            fill_norm(each, p[f"g{place}"], p[f"b{place}"])
    lengths = (6, 1, 4)
    vectors, mask = pages(*lengths, width=WIDTH)
    with torch.no_grad():
        out = encoder(vectors.double(), mask).numpy()
    for place, length in enumerate(lengths):
        expected = numpy_page(vectors[place, :length].double().numpy(), layers, norm, options)
        np.testing.assert_allclose(out[place, :length], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "fewer"),
    [
        ({"norm": "pre"}, 0),
        ({"attention_scale": "head"}, 0),
        ({"residual": "identity"}, 4 * 16_512),
        ({"branches": "conv1,conv3"}, 4 * 66_048),
        ({"branches": "attention,conv3"}, 4 * 16_512),
        ({"branches": "attention, conv1"}, 4 * 49_280),
    ],
    ids=str,
)
def test_what_is_left_out_has_no_parameters(options: dict[str, str], fewer: int) -> None:
    count = sum(parameter.numel() for parameter in build_encoder("bat", **options).parameters())
    assert count == PARAMETERS["bat"] - fewer


@pytest.mark.parametrize("options", [{"norm": "pre"}, {"residual": "identity"}, {"branches": "conv3"}], ids=str)
def test_every_parameter_of_an_ablation_is_trained(options: dict[str, str]) -> None:
    torch.manual_seed(0)
    encoder = build_encoder("bat", width=8, depth=2, heads=2, inner=16, **options).double()
    vectors, mask = pages(7, 4, width=8)
    out = encoder(vectors.double(), mask)
    (out * torch.randn_like(out)).sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": "middle"}, "'middle' is not a place of norms. There are post, pre"),
        ({"residual": "none"}, "'none' is not a residual. There are weighted, identity"),
        ({"branches": "attention,conv5"}, "'conv5' is not a branch. Did you mean 'conv3'? There are attention, conv1, conv3"),
        ({"branches": ""}, "'' is not a branch"),
    ],
)
def test_misspelt_options_say_what_there_is(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        build_encoder("bat", **options)
    assert message in str(caught.value)
