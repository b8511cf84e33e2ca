"""Performer: FAVOR+ by the sheet's numbers and by an independent version, its draws, and memory linear in the length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from tests.encoders import reference, reference_performer
from tests.encoders.filling import Largest, fill, fill_linear, fill_norm, pages
from tests.encoders.reference import Floats, Layer, drawn
from tests.encoders.reference_performer import PERFORMER_LAYER
from torch import Tensor

from batag.encoders import build_encoder
from batag.encoders.performer import Performer, favor, orthogonal_features, relu_features, softmax_features
from batag.errors import UsageError

# T6 of the sheet.
Q = [[1, 0], [0.5, -0.5], [-1, 2]]
K = [[0, 1], [1, 1], [-0.5, 0.5]]
V = [[1, 0], [0, 1], [2, -1]]
OMEGA = torch.tensor([[1, 0.5], [-0.5, 1]], dtype=torch.float64)
PHI_Q = [[0.496523, 0.140652], [0.592533, 0.255574], [0.014750, 0.120714]]
PHI_K = [[0.214163, 0.326093], [0.348653, 0.150383], [0.136025, 0.315366]]
SOFTMAX = [[0.820298, 0.179702], [0.864025, 0.135975], [1.158457, -0.158457]]
LAST_KEY_PADDED = [[0.439297, 0.560703], [0.461799, 0.538201], [0.646060, 0.353940]]
RELU = [[0.004974, 0.995026], [0.006942, 0.993058], [0.800080, 0.199920]]
RELU_PROJECTED = [[0.252950, 0.747050], [0.256990, 0.743010], [1.110470, -0.110470]]


def built(*, seed: int = 0, **options: Any) -> Performer:
    torch.manual_seed(seed)
    encoder = build_encoder("performer", **{"width": 16, "depth": 2, "heads": 4, "inner": 32} | options)
    assert isinstance(encoder, Performer)
    return encoder


def sheet(values: list[list[float]]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)[None, None]


def performer_of(layers: list[dict[str, Floats]], **options: Any) -> Performer:
    encoder = built(depth=len(layers), **options).double().eval()
    for module, p in zip(encoder.layers, layers, strict=True):
        layer: Any = module
        fill(layer.query_key_value.weight, p["Wq"].T, p["Wk"].T, p["Wv"].T)
        fill(layer.out.weight, p["Wo"].T)
        fill_linear(layer.widen, [p["W1"]], [p["bf1"]])
        fill_linear(layer.narrow, [p["W2"]], [p["bf2"]])
        fill_norm(layer.attention_norm, p["g1"], p["b1"])
        fill_norm(layer.feed_forward_norm, p["g2"], p["b2"])
    return encoder


def test_the_features_are_the_sheets() -> None:
    q_k = torch.stack((sheet(Q), sheet(K)))
    phi = softmax_features(q_k, torch.ones(1, 3, dtype=torch.bool), OMEGA) / math.sqrt(2)
    np.testing.assert_allclose(phi[0, 0, 0], PHI_Q, rtol=0, atol=1e-6)
    np.testing.assert_allclose(phi[1, 0, 0], PHI_K, rtol=0, atol=1e-6)
    for u, expected, largest in ((Q, PHI_Q, "row"), (K, PHI_K, "all")):
        ours = reference_performer.features(np.array(u), OMEGA.numpy(), kernel="softmax", largest=largest)
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "omega", "keys", "expected"),
    [
        ("softmax", OMEGA, 3, SOFTMAX),
        ("softmax", OMEGA, 2, LAST_KEY_PADDED),
        ("relu", None, 3, RELU),
        ("relu", OMEGA, 3, RELU_PROJECTED),
    ],
)
def test_attention_gives_the_sheets_numbers(kernel: str, omega: Tensor | None, keys: int, expected: list[list[float]]) -> None:
    mask = torch.arange(3)[None] < keys
    out = favor(torch.stack((sheet(Q), sheet(K))), sheet(V), mask, omega, kernel=kernel)
    np.testing.assert_allclose(out[0], expected, rtol=0, atol=1e-6)


def test_a_large_padded_key_does_not_take_part_in_the_largest_value() -> None:
    """Which would leave only the 1e-6 of the others."""
    k = sheet(K)
    mask = torch.tensor([[True, True, False]])
    plain = favor(torch.stack((sheet(Q), k)), sheet(V), mask, OMEGA, kernel="softmax")
    k[..., 2, :] = 300.0
    assert torch.equal(favor(torch.stack((sheet(Q), k)), sheet(V), mask, OMEGA, kernel="softmax"), plain)


@pytest.mark.parametrize("options", [{}, {"features": 5}, {"kernel": "relu"}, {"kernel": "relu", "features": 0}], ids=str)
@pytest.mark.parametrize(
    ("width", "heads", "inner", "lengths"),
    [(8, 2, 16, (5, 1, 3)), (9, 3, 4, (7, 2)), (5, 1, 6, (4, 4)), (128, 4, 512, (9, 14))],
)
def test_it_equals_an_independent_numpy_page_by_page(
    width: int, heads: int, inner: int, lengths: tuple[int, ...], options: dict[str, Any]
) -> None:
    vectors, mask = pages(*lengths, width=width)
    vectors = 2 * vectors.double() + 0.5
    layers = [drawn(PERFORMER_LAYER, width=width, inner=inner, seed=seed) for seed in range(2)]
    encoder = performer_of(layers, width=width, heads=heads, inner=inner, **options)
    omegas: list[Floats | None] = [None, None]
    if encoder.projections is not None:
        omegas = list(encoder.projections.numpy())
    with torch.no_grad():
        out = encoder(vectors, mask).numpy()
    for place, length in enumerate(lengths):
        x = vectors[place, :length].numpy() + reference.sinusoid(length, width)
        plain: list[Layer] = list(layers)
        expected = reference_performer.performer_page(x, plain, omegas, heads=heads, kernel=options.get("kernel", "softmax"))
        np.testing.assert_allclose(out[place, :length], expected, rtol=0, atol=1e-9)
        assert (out[place, length:] == 0).all()


@pytest.mark.parametrize(("features", "distance"), [(128, 0.06), (1024, 0.02)])
def test_small_vectors_have_nearly_the_weights_of_softmax_attention(features: int, distance: float) -> None:
    torch.manual_seed(0)
    distances = []
    for _ in range(20):
        q_k = 0.3 * torch.randn(2, 1, 1, 47, 32)
        omega = orthogonal_features(1, features, 32)[0]
        weights = favor(q_k, torch.eye(47)[None, None], torch.ones(1, 47, dtype=torch.bool), omega, kernel="softmax")
        exact = (q_k[0] @ q_k[1].transpose(-2, -1) / math.sqrt(32)).softmax(-1)
        distances.append(float((weights - exact[:, 0]).abs().sum(-1).mean()))
    assert abs(np.mean(distances) - distance) < 0.01


def test_many_draws_come_near_softmax_attention_on_average() -> None:
    """The estimate is that of an expectation over all directions: a draw that prefers some would stay away from it."""
    torch.manual_seed(0)
    q_k = 0.7 * torch.randn(2, 1, 1, 9, 4)
    exact = (q_k[0] @ q_k[1].transpose(-2, -1) / 2).softmax(-1)[:, 0]
    omega = orthogonal_features(1, 40_000, 4)[0]
    weights = favor(q_k, torch.eye(9)[None, None], torch.ones(1, 9, dtype=torch.bool), omega, kernel="softmax")
    assert float((weights - exact).abs().sum(-1).max()) < 0.03


def test_draws_are_orthogonal_in_blocks_and_as_long_as_gaussian_rows() -> None:
    torch.manual_seed(0)
    draws = orthogonal_features(3, 80, 32).double()
    assert draws.shape == (3, 80, 32)
    lengths = draws.norm(dim=-1)
    directions = draws / lengths.unsqueeze(-1)
    for start in (0, 32, 64):
        block = directions[:, start : start + 32]
        torch.testing.assert_close(block @ block.mT, torch.eye(block.shape[1]).double().expand(3, -1, -1), rtol=0, atol=1e-5)
    assert float((directions[:, :32] @ directions[:, 32:64].mT).abs().max()) > 0.1
    assert not torch.allclose(draws[0], draws[1])
    many = orthogonal_features(50, 128, 32).norm(dim=-1).square()
    assert abs(float(many.mean()) - 32) < 0.5
    assert abs(float(many.std()) - 8) < 0.5


def test_draws_prefer_no_direction() -> None:
    torch.manual_seed(0)
    rows = orthogonal_features(2000, 3, 3)
    assert float(rows.mean(0).abs().max()) < 0.1
    for row in rows.unbind(1):
        torch.testing.assert_close(row.T @ row / len(row), torch.eye(3), rtol=0, atol=0.15)


def test_training_draws_by_the_seed_and_evaluation_keeps_its_draw() -> None:
    encoder = built()
    vectors, mask = pages(8, 5)
    fixed = encoder.eval()(vectors, mask)
    encoder.train()
    outs = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        outs.append(encoder(vectors, mask))
    assert torch.equal(outs[0], outs[1])
    assert float((outs[0] - outs[2]).detach().abs().max()) > 1e-3
    assert torch.equal(encoder.eval()(vectors, mask), fixed)


def test_evaluation_takes_nothing_from_the_generator() -> None:
    encoder = built().eval()
    before = torch.get_rng_state()
    encoder(*pages(8, 5))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_kept_draw_is_saved_with_the_weights_and_differs_by_layer() -> None:
    encoder = built().eval()
    state = encoder.state_dict()
    assert state["projections"].shape == (2, 128, 4)
    assert not torch.equal(state["projections"][0], state["projections"][1])
    other = built(seed=1).eval()
    other.load_state_dict(state)
    batch = pages(8, 5)
    assert torch.equal(other(*batch), encoder(*batch))
    assert "projections" not in built(kernel="relu", features=0).state_dict()


def test_no_tensor_grows_with_the_square_of_the_length() -> None:
    with Largest() as seen:
        torch.ones(512, 1) @ torch.ones(1, 512)
    assert seen.elements == 512 * 512
    for options in ({"features": 32}, {"kernel": "relu", "features": 0}):
        largest = []
        for length in (512, 1024):
            encoder = built(heads=1, **options)
            with Largest() as seen:
                encoder(*pages(length)).square().sum().backward()
            largest.append(seen.elements)
        assert largest[0] < 512 * 512
        assert largest[1] <= 2 * largest[0]


def test_the_relu_features_are_never_zero() -> None:
    q_k = -torch.ones(2, 1, 1, 3, 2)
    assert torch.allclose(relu_features(q_k, None), torch.tensor(1e-3))


def test_a_page_without_tokens_gives_finite_gradients_in_training_too() -> None:
    for options in ({}, {"kernel": "relu"}):
        encoder = built(**options).train()
        vectors, mask = pages(5, 3)
        mask[1] = False
        encoder(vectors, mask).square().sum().backward()
        for parameter in encoder.parameters():
            assert parameter.grad is not None
            assert parameter.grad.isfinite().all()


def test_every_matrix_has_its_own_glorot_start_and_attention_no_bias() -> None:
    encoder = built(width=128, heads=4, inner=512)
    for module in encoder.layers:
        layer: Any = module
        assert layer.query_key_value.bias is None
        assert layer.out.bias is None
        square = [*layer.query_key_value.weight.split(128), layer.out.weight]
        for weight, limit in [(each, 0.15309) for each in square] + [
            (layer.widen.weight, 0.09682),
            (layer.narrow.weight, 0.09682),
        ]:
            assert limit * 0.995 < weight.abs().max() < limit * 1.0001
            assert abs(weight.std().item() * math.sqrt(3) / limit - 1) < 0.02
        assert not layer.widen.bias.any()
        assert not layer.narrow.bias.any()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"kernel": "sofmax"}, "'sofmax' is not a kernel"),
        ({"features": 0}, "0 random features"),
        ({"features": -1, "kernel": "relu"}, "-1 random features"),
    ],
    ids=str,
)
def test_values_that_make_no_performer_are_the_users_mistake(options: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        built(**options)
    assert caught.value.todo


@pytest.mark.parametrize("options", [{}, {"features": 1}, {"kernel": "relu", "features": 0}], ids=str)
def test_it_can_be_built_without_memory(options: dict[str, Any]) -> None:
    with torch.device("meta"):
        encoder = built(width=2, depth=1, heads=1, inner=2, **options)
    assert all(tensor.is_meta for tensor in encoder.state_dict().values())
