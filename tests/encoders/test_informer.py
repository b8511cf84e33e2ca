"""Informer: ProbSparse attention by the sheet's numbers and by an independent version, its samples, and what they cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from tests.encoders import reference, reference_informer
from tests.encoders.filling import Largest, fill_layer, fill_norm, pages
from tests.encoders.reference import NORM, TRANSFORMER_LAYER, Floats, drawn, made_up, shape_of, waves
from torch import Tensor

from batag.encoders import build_encoder
from batag.encoders.blocks import attend
from batag.encoders.informer import Informer, active_queries, exact_length, prob_sparse, sparsity
from batag.errors import UsageError

# T7 of the sheet: six tokens, width 4, two heads, inner 8, factor 1.
TABLE = torch.tensor([[0, 1], [2, 3], [4, 5], [1, 4], [0, 5], [3, 2]])
MEASURE = [
    [0.015706916612130313, 0.05904700744395645],
    [0.015721259593392545, 0.06067186468098991],
    [0.023704861923527734, 0.24188890188615159],
    [0.030683444980621186, 0.12785699569179482],
    [0.06259411134715438, 0.22901420232826367],
    [0.040414219843015124, 0.08017334460747268],
]
LAYER_OUT = [
    [-1.51163873898998, 0.6622621530667184, 0.957346752035908, -0.5024342771016859],
    [1.6879959011302546, -0.03445096036553333, -0.9689102151454604, -0.7283386074540581],
    [-1.6948002967536993, -0.2626904894794499, 0.6889510257920265, 0.744365206600158],
    [1.4507316323663693, 0.3691882287100995, -0.6889568419015506, -1.1607209282903188],
    [-1.43769078042498, -0.6078391804885097, 0.4206512859527206, 1.0960319773569234],
    [1.1564623866875363, 0.6245636903978488, -0.437302754537498, -1.3840252720131594],
]
OUT = [
    [-1.376285023976172, 0.6895411634361689, 1.0813705138953318, -0.3266938371234977],
    [1.4026337295100766, -0.03547259085886427, -0.8295220224681081, -0.6125806782948784],
    [-1.5062584910027788, -0.1360346164306708, 0.8465129756468645, 1.0032780572764164],
    [1.2326783161211372, 0.32470713388979255, -0.5945463598571362, -1.0777994365900716],
    [-1.294616739853994, -0.46160864605375873, 0.5988682804463015, 1.395781639281631],
    [1.0018894779907832, 0.5741853856144843, -0.3651145967475722, -1.343269268979265],
]


def built(*, seed: int = 0, **options: Any) -> Informer:
    torch.manual_seed(seed)
    encoder = build_encoder("informer", **{"width": 16, "depth": 2, "heads": 4, "inner": 32} | options)
    assert isinstance(encoder, Informer)
    return encoder


def informer_of(layers: list[dict[str, Floats]], norm: dict[str, Floats], **options: Any) -> Informer:
    encoder = built(depth=len(layers), **options).double().eval()
    fill_norm(encoder.norm, norm["ge"], norm["be"])
    for module, p in zip(encoder.layers, layers, strict=True):
        fill_layer(module, p)
    return encoder


def sheets() -> tuple[dict[str, Floats], dict[str, Floats]]:
    layer = {
        name: made_up(name, shape_of(letters, width=4, inner=8), start)
        for start, (name, letters) in enumerate(TRANSFORMER_LAYER.items(), 1)
    }
    return layer, {"ge": made_up("g", (4,), 17), "be": made_up("b", (4,), 18)}


def test_it_gives_the_sheets_numbers_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, norm = sheets()
    encoder = informer_of([layer], norm, width=4, heads=2, inner=8, position="none", factor=1)
    monkeypatch.setattr(encoder, "_sampled_keys", lambda mask, *, samples: TABLE[None, None])
    seen: list[Tensor] = []
    encoder.layers[0].register_forward_hook(lambda module, given, out: seen.append(out))
    x = torch.from_numpy(waves((6, 4), 0.3, 1))[None]
    mask = torch.ones(1, 6, dtype=torch.bool)
    with torch.no_grad():
        out = encoder(x, mask)
        q, k, _ = encoder.layers[0].query_key_value(x).chunk(3, -1)  # type: ignore[operator, union-attr]
    measure = sparsity(q, k, mask, TABLE[None], torch.ones(1, 2, dtype=torch.bool), heads=2)
    np.testing.assert_allclose(measure[0], MEASURE, rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen[0][0], LAYER_OUT, rtol=0, atol=1e-12)
    np.testing.assert_allclose(out[0], OUT, rtol=0, atol=1e-12)
    independent = reference_informer.informer_page(x[0].numpy(), [layer], norm, [TABLE.numpy()], heads=2, factor=1)
    np.testing.assert_allclose(independent, OUT, rtol=0, atol=1e-12)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    ("width", "heads", "inner", "lengths", "options"),
    [
        (8, 2, 16, (30, 1, 16, 12, 55, 20), {}),
        (8, 2, 16, (9, 2, 7), {}),
        (9, 3, 5, (12, 1, 2, 7, 8), {"factor": 1}),
        (6, 2, 5, (9, 7, 8, 6), {"factor": 3, "activation": "relu"}),
        (128, 4, 512, (17, 40), {}),
    ],
)
def test_it_equals_an_independent_numpy_page_by_page(
    width: int,
    heads: int,
    inner: int,
    lengths: tuple[int, ...],
    options: dict[str, Any],
    training: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors, mask = pages(*lengths, width=width)
    vectors = 2 * vectors.double() + 0.5
    layers = [drawn(TRANSFORMER_LAYER, width=width, inner=inner, seed=seed) for seed in range(2)]
    norm = drawn(NORM, width=width, inner=inner, seed=99)
    encoder = informer_of(layers, norm, width=width, heads=heads, inner=inner, **options).train(training)
    seen: list[Tensor] = []
    sampled = encoder._sampled_keys
    monkeypatch.setattr(encoder, "_sampled_keys", lambda *a, **b: seen.append(sampled(*a, **b)) or seen[0])
    with torch.no_grad():
        out = encoder(vectors, mask).numpy()
    factor = options.get("factor", 5)
    for place, length in enumerate(lengths):
        samples = reference_informer.budget(length, factor)
        if seen:
            tables = list(seen[0][:, place, :length, :samples].numpy())
        else:
            assert max(lengths) <= 15
            tables = [np.zeros((length, samples), dtype=np.int64)] * 2
        x = vectors[place, :length].numpy() + reference.sinusoid(length, width)
        expected = reference_informer.informer_page(
            x, layers, norm, tables, heads=heads, factor=factor, activation=options.get("activation", "gelu")
        )
        np.testing.assert_allclose(out[place, :length], expected, rtol=0, atol=1e-9)
        assert (out[place, length:] == 0).all()


def test_the_number_of_active_queries_is_the_sheets() -> None:
    expected = {1: 1, 2: 2, 15: 15, 16: 15, 20: 15, 21: 20, 54: 20, 55: 25, 148: 25, 149: 30, 403: 30}
    assert {length: active_queries(length, factor=5) for length in expected} == expected
    assert [active_queries(length, factor=1) for length in (1, 2, 3, 8)] == [1, 1, 2, 3]
    encoder = built()
    assert encoder.exact == 15
    _, mask = pages(*expected)
    active = encoder._active(mask)
    assert active.sum(1).tolist() == list(expected.values())
    assert (active.int().diff(dim=1) <= 0).all()


def test_the_length_of_exact_attention_is_that_up_to_which_every_query_is_active() -> None:
    for factor in (*range(1, 40), 1000):
        length = exact_length(factor)
        assert all(active_queries(each, factor=factor) == each for each in range(1, length + 1))
        assert active_queries(length + 1, factor=factor) == length
    assert exact_length(10**9) > 10**10


@pytest.mark.parametrize("longest", [15, 40])
def test_pages_of_up_to_fifteen_tokens_have_exact_attention(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, where nothing is sampled, and beside a longer page, where all their queries are active."""
    encoder = built().double()
    vectors, mask = pages(longest, 15, 9, 1)
    out = encoder(vectors.double(), mask)
    monkeypatch.setattr(
        "batag.encoders.informer.prob_sparse", lambda q, k, v, mask, *_, heads: attend(q, k, v, mask, heads=heads, scale=0.5)
    )
    exact = encoder(vectors.double(), mask)
    torch.testing.assert_close(out[1:], exact[1:], rtol=0, atol=1e-12)
    assert torch.allclose(out[0], exact[0], atol=1e-6) == (longest == 15)


def test_lazy_queries_get_the_mean_of_the_pages_own_values() -> None:
    vectors, mask = pages(40, 30)
    encoder = built()
    active = encoder._active(mask)
    keys = encoder._sampled_keys(mask, samples=active.shape[1])[0]
    values = torch.randn(2, 40, 16)
    out = prob_sparse(vectors, vectors, values, mask, keys, active, heads=4)
    for place, length in enumerate((40, 30)):
        mean = values[place, :length].mean(0)
        lazy = (out[place, :length] - mean).abs().unflatten(-1, (4, 4)).amax(-1) < 1e-6
        assert (lazy.sum(0) == length - 20).all()


def test_training_samples_by_the_seed_and_evaluation_by_the_length() -> None:
    encoder = built()
    vectors, mask = pages(40, 25)
    fixed = encoder.eval()(vectors, mask)
    before = torch.get_rng_state()
    encoder(vectors, mask)
    assert torch.equal(torch.get_rng_state(), before)
    encoder.train()
    outs = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        outs.append(encoder(vectors, mask))
    assert torch.equal(outs[0], outs[1])
    assert float((outs[0] - outs[2]).detach().abs().max()) > 1e-3
    assert torch.equal(encoder.eval()(vectors, mask), fixed)


def test_evaluation_samples_the_same_whatever_came_before_and_beside_it() -> None:
    fresh, used = built().eval(), built(seed=1).eval()
    _, mask = pages(60)
    samples = active_queries(60, factor=5)
    expected = fresh._sampled_keys(mask, samples=samples)
    for length in (30, 700, 300):
        used._sampled_keys(pages(length)[1], samples=active_queries(length, factor=5))
    assert torch.equal(used._sampled_keys(mask, samples=samples), expected)
    beside = used._sampled_keys(pages(700, 60)[1], samples=35)
    assert torch.equal(beside[:, 1:, :60, :samples], expected)
    assert not torch.equal(expected[0], expected[1])
    rows = fresh._fixed_draws(1000, 35)
    assert torch.equal(rows[:, :200, :20], built()._fixed_draws(200, 20))
    assert len(rows.flatten().unique()) > 0.99 * rows.numel()


@pytest.mark.parametrize("training", [False, True])
def test_only_real_keys_are_sampled_and_each_as_often_as_others(training: bool) -> None:
    encoder = built(depth=4).train(training)
    _, mask = pages(300, 40, 1)
    mask[1, ::2] = False
    keys = encoder._sampled_keys(mask, samples=30)
    assert keys.shape == (4, 3, 300, 30)
    for place in range(3):
        counts = keys[:, place].flatten().bincount(minlength=300)
        assert (counts[~mask[place]] == 0).all()
        even = counts.sum() / mask[place].sum()
        spread = (counts[mask[place]] / even - 1).abs().max()
        assert spread < 6 / math.sqrt(even)
    # With replacement: some query has a key twice.
    assert (keys[0, 0].sort(-1).values.diff(dim=-1) == 0).any()


def test_sampling_makes_nothing_as_large_as_all_pairs() -> None:
    for training in (True, False):
        encoder = built().train(training)
        with Largest() as seen:
            encoder(*pages(512)).square().sum().backward()
        assert seen.elements < 512 * 512
    with Largest() as seen:
        attend_all = torch.ones(4, 512, 2) @ torch.ones(4, 2, 512)
    assert seen.elements == attend_all.numel()


@pytest.mark.parametrize("training", [False, True])
def test_a_page_without_tokens_beside_a_long_one_spoils_nothing(training: bool) -> None:
    encoder = built().train(training)
    vectors, mask = pages(40, 20)
    mask[1] = False
    outs = []
    for rows in (1, 2):
        torch.manual_seed(0)
        outs.append(encoder(vectors[:rows], mask[:rows]))
    torch.testing.assert_close(outs[1][0], outs[0][0], rtol=0, atol=1e-5)
    outs[1].square().sum().backward()
    for parameter in encoder.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()


def test_gradients_reach_active_and_lazy_queries_alike() -> None:
    encoder = built(depth=1).double()
    vectors, mask = pages(40, 20)
    out = encoder(vectors.double().requires_grad_(), mask)
    (out * torch.linspace(-1, 1, 16, dtype=torch.float64)).sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_the_gradient_of_sparse_attention_passes_a_numerical_check() -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 7, 4, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(3))
    encoder = built(factor=1)
    _, mask = pages(7, 5)
    active = encoder._active(mask)
    keys = encoder._sampled_keys(mask, samples=active.shape[1])[0]
    assert torch.autograd.gradcheck(lambda *x: prob_sparse(*x, mask, keys, active, heads=2), (q, k, v))


def test_it_starts_as_pytorch_does() -> None:
    encoder = built(width=128, heads=4, inner=512)
    for module in encoder.layers:
        layer: Any = module
        for linear, limit in (
            (layer.query_key_value, 0.08839),
            (layer.out, 0.08839),
            (layer.widen, 0.08839),
            (layer.narrow, 0.04419),
        ):
            for parameter in (linear.weight, linear.bias):
                assert limit * 0.9 < parameter.abs().max() < limit * 1.0001
            assert abs(linear.weight.std().item() * math.sqrt(3) / limit - 1) < 0.02
        assert layer.attention_norm.eps == layer.feed_forward_norm.eps == 1e-5
    assert encoder.norm.eps == 1e-5


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"factor": 0}, "factor 0 is not"),
        ({"factor": -5}, "factor -5 is not"),
        ({"activation": "glu"}, "'glu' is not an activation"),
    ],
    ids=str,
)
def test_values_that_make_no_informer_are_the_users_mistake(options: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        built(**options)
    assert caught.value.todo


def test_it_can_be_built_without_memory() -> None:
    with torch.device("meta"):
        encoder = built(width=2, depth=1, heads=1, inner=2)
    assert all(tensor.is_meta for tensor in encoder.state_dict().values())
