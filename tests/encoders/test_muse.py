"""MUSE: the sheet's numbers, the dynamic convolution, and its kernels as an option."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from tests.contract.test_encoders import INPUT, norms_and_biases_start_plain, run, starts_within
from tests.encoders import reference
from tests.encoders.filling import fill, fill_linear, fill_norm, pages
from tests.encoders.reference import Layer
from tests.encoders.reference_muse import muse_drawn, muse_made_up, muse_page
from torch import Tensor
from torch.nn import functional as F

from batag.encoders import build_encoder
from batag.encoders.muse import BLOCK, Muse, convolved
from batag.errors import UsageError

# T5 of the sheet.
OUT_OFFICIAL = [
    [-1.2490418613554153, 0.8498624114749141, 0.8869853784522265, -0.8259773767005354],
    [1.7106268409568304, -0.10527535645936727, -0.9743704876159065, -0.678434187932059],
    [-1.7182323615341228, -0.21051047584907875, 0.690802994484215, 0.7154102162133861],
    [1.4856623422542907, 0.3173687625579996, -0.6909808448503263, -1.1416591761608486],
]
OUT_MASKED = [
    [-1.2420869099822849, 0.8533126124015967, 0.8849199894188078, -0.8329841862922666],
    [1.7099131224655975, -0.10227080402935067, -0.9727969547455487, -0.6820521082180406],
    [-1.727340957744791, -0.18902306157152038, 0.7040507783425185, 0.6910053166508485],
    [1.474885386818672, 0.3298964059073983, -0.6805343825043415, -1.153882291159158],
]
SHEET = muse_made_up([0.5, 0.2], kernels=(3, 15), width=4, inner=8, heads=2)


def muse_of(layers: Sequence[Layer], *, kernels: Sequence[int], **shape: Any) -> Muse:
    encoder = build_encoder("muse", depth=len(layers), kernels=",".join(map(str, kernels)), **shape).double().eval()
    assert isinstance(encoder, Muse)
    for module, p in zip(encoder.layers, layers, strict=True):
        layer: Any = module
        fill_linear(layer.query_key_value_widen, [p[f"W{each}"] for each in "qkv1"], [p["bq"], p["bk"], p["bv"], p["bf1"]])
        fill_linear(layer.out, [p["Wo"]], [p["bo"]])
        fill_linear(layer.narrow, [p["W2"]], [p["bf2"]])
        fill_norm(layer.norm, p["g1"], p["b1"])
        if kernels:
            fill(layer.filters.weight, *(p[f"D{place}"].T for place in range(len(kernels))))
            fill(layer.gate, p["gate"])
    return encoder


def test_the_independent_muse_equals_the_authors_code() -> None:
    """T5, both readings: the convolution sees the padded token, and it does not."""
    for seen, expected in ((True, OUT_OFFICIAL), (False, OUT_MASKED)):
        out = muse_page(INPUT, [SHEET], kernels=(3, 15), heads=2, keys=3, seen=seen)
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)


def test_muse_gives_the_sheets_numbers() -> None:
    encoder = muse_of([SHEET], kernels=(3, 15), width=4, heads=2, inner=8, position="none")
    np.testing.assert_allclose(run(encoder)[:3], OUT_MASKED[:3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("position", ["none", "sinusoid"])
@pytest.mark.parametrize("kernels", [(3, 15), (15, 3), (), (1,), (5,), (7, 1, 3)], ids=str)
@pytest.mark.parametrize(
    ("width", "heads", "inner", "lengths"),
    [(4, 1, 8, (3,)), (8, 2, 16, (5, 1, 3)), (6, 6, 5, (4, 4)), (9, 3, 7, (2, 40))],
)
def test_it_equals_an_independent_numpy_page_by_page(
    width: int, heads: int, inner: int, lengths: tuple[int, ...], kernels: tuple[int, ...], position: str
) -> None:
    vectors, mask = pages(*lengths, width=width)
    vectors = 2 * vectors.double() + 0.5
    shape: dict[str, Any] = {"width": width, "heads": heads, "inner": inner}
    layers = [muse_drawn(seed, kernels=kernels, **shape) for seed in range(2)]
    with torch.no_grad():
        out = muse_of(layers, kernels=kernels, position=position, **shape)(vectors, mask).numpy()
    for place, length in enumerate(lengths):
        x = vectors[place, :length].numpy()
        if position == "sinusoid":
            x = x + reference.sinusoid(length, width)
        np.testing.assert_allclose(out[place, :length], muse_page(x, layers, kernels=kernels, heads=heads), rtol=0, atol=1e-9)
        assert (out[place, length:] == 0).all()


def tap_by_tap(v: Tensor, w: Tensor) -> Tensor:
    length, heads, taps = w.shape[1:]
    padded = F.pad(v, (0, 0, taps // 2, taps // 2)).unflatten(2, (heads, -1))
    return torch.stack([padded[:, tap : tap + length] * w[..., tap, None] for tap in range(taps)]).sum(0).flatten(2)


def filtered(length: int, *, taps: int, heads: int = 2) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(length)
    v = torch.randn(2, length, 6, generator=generator, dtype=torch.float64)
    w = torch.randn(2, length, heads, taps, generator=generator, dtype=torch.float64)
    return v.requires_grad_(), w.requires_grad_()


@pytest.mark.parametrize("taps", [1, 3, 15, 41])
@pytest.mark.parametrize("length", [1, 2, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, 100])
def test_a_convolution_in_blocks_is_the_sum_over_its_taps(length: int, taps: int) -> None:
    v, w = filtered(length, taps=taps)
    out, expected = convolved(v, w), tap_by_tap(v, w)
    torch.testing.assert_close(out, expected, rtol=0, atol=1e-12)
    upstream = torch.linspace(-1, 2, out.numel(), dtype=torch.float64).reshape(out.shape)
    for one, other in zip(
        torch.autograd.grad(out, (v, w), upstream), torch.autograd.grad(expected, (v, w), upstream), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-11)


def test_the_memory_of_a_convolution_grows_with_the_page_and_not_with_its_square() -> None:
    largest = []
    for length in (10 * BLOCK, 40 * BLOCK):
        kept = [0]
        with torch.autograd.graph.saved_tensors_hooks(lambda x, kept=kept: kept.append(x.numel()) or x, lambda x: x):
            convolved(*filtered(length, taps=15))
        largest.append(max(kept))
    assert largest[0] > 0
    assert largest[1] <= 4 * largest[0]


def test_the_gate_weighs_the_kernels_and_starts_even() -> None:
    torch.manual_seed(0)
    encoder = build_encoder("muse", width=8, depth=2, heads=2, inner=16)
    for module in encoder.layers:
        layer: Any = module
        assert layer.gate.tolist() == [0.5, 0.5]
    only = {kernel: dict(layer) for kernel, layer in ((0, SHEET), (1, SHEET))}
    for kernel, layer in only.items():
        layer["gate"] = np.array([50.0, 0.0] if kernel == 0 else [0.0, 50.0])
        both = muse_of([layer], kernels=(3, 15), width=4, heads=2, inner=8)
        alone = {**layer, "D0": layer[f"D{kernel}"], "gate": np.array([0.3])}
        one = muse_of([alone], kernels=[(3, 15)[kernel]], width=4, heads=2, inner=8)
        np.testing.assert_allclose(run(both), run(one), rtol=0, atol=1e-12)


def test_without_kernels_it_is_muse_simple() -> None:
    encoder = build_encoder("muse", kernels="")
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 792_064
    assert not [name for name, _ in encoder.named_parameters() if "gate" in name or "filters" in name]


@pytest.mark.parametrize(
    ("given", "widths"), [("3,15", [3, 15]), (" 5 , 1", [5, 1]), ("7", [7]), (7, [7]), ("", []), (" ", []), ("3,3", [3, 3])]
)
def test_kernels_are_numbers_between_commas(given: Any, widths: list[int]) -> None:
    encoder = build_encoder("muse", width=4, depth=1, heads=2, inner=8, kernels=given)
    layer: Any = encoder.layers[0]
    assert layer.kernels == widths
    assert encoder(*pages(5, 2, width=4)).isfinite().all()


@pytest.mark.parametrize("wrong", ["4", "3,14", "0", "-3", "3,-1", "three", "3;15", "3,", ",", "3,,5", "3.0", 2])
def test_other_kernels_are_the_users_mistake(wrong: Any) -> None:
    with pytest.raises(UsageError, match="is not a list of kernels") as caught:
        build_encoder("muse", width=4, depth=1, heads=2, inner=8, kernels=wrong)
    assert repr(wrong) in str(caught.value)
    assert "'3,15'" in caught.value.todo


@pytest.mark.parametrize("kernels", ["3,15", ""])
def test_the_smallest_is_built_without_memory(kernels: str) -> None:
    with torch.device("meta"):
        encoder = build_encoder("muse", width=2, depth=1, heads=1, inner=2, kernels=kernels)
    assert all(value.is_meta for value in encoder.state_dict().values())


def test_dropout_reaches_the_filters_when_it_is_given() -> None:
    torch.manual_seed(0)
    encoder = build_encoder("muse", width=8, depth=1, heads=2, inner=16, dropout=0.5).train()
    layer: Any = encoder.layers[0]
    v = torch.randn(1, 6, 8)
    dropped = layer._filters(v)
    assert (dropped == 0).any()
    assert (layer.eval()._filters(v) > 0).all()
    torch.testing.assert_close(layer._filters(v).sum(-1), torch.ones(1, 6, 2))


def test_everything_starts_within_the_authors_limits() -> None:
    torch.manual_seed(0)
    encoder = build_encoder("muse", depth=2)
    norms_and_biases_start_plain(encoder)
    for module in encoder.layers:
        layer: Any = module
        in_projection, widen = layer.query_key_value_widen.weight.split([384, 512])
        for weight in (in_projection, widen, layer.filters.weight):
            starts_within(weight, 0.08839)
        starts_within(layer.out.weight, 0.10825)
        starts_within(layer.narrow.weight, 0.04419)
    simple: Any = build_encoder("muse", depth=1, kernels="").layers[0]
    starts_within(simple.out.weight, math.sqrt(3 / 128))
