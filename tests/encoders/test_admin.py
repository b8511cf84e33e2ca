"""Admin: the sheet's numbers, what the first batch does to the shortcuts, and the later constant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from tests.contract.test_encoders import (
    FEED_FORWARD,
    INPUT,
    MASK,
    SQUARE,
    TRANSFORMER_OUT,
    norms_and_biases_start_plain,
    numbered,
    run,
    starts_within,
    transformer_of,
)
from tests.encoders import reference
from tests.encoders.filling import fill, fill_layer, pages
from tests.encoders.reference import TRANSFORMER_LAYER, Floats, Layer, drawn
from tests.encoders.reference_admin import Shortcuts, admin_page, admin_profile
from torch import Tensor

from batag.encoders import build_encoder
from batag.encoders.admin import Admin
from batag.errors import UsageError

# T4 of the sheet.
OMEGAS = [1.0, 0.7100242939219036, 0.7882211455021896, 0.7942948735889603]
OUT = [
    [-1.4719650289722264, 0.8062314853216609, 1.1832811907319687, -0.4757005049580605],
    [1.8594488430250453, -0.27951405087537384, -1.1933621572118172, -0.3284979132884441],
    [-1.5770541141087293, -0.21611191145837802, 0.8187397595415096, 0.8966295675072057],
    [1.7469839517757175, 0.3216863173339487, -0.884187262930143, -1.0636557519932561],
]
SHEET = [numbered(TRANSFORMER_LAYER), numbered(TRANSFORMER_LAYER, first=31)]


def shortcuts_of(encoder: Any) -> list[Tensor]:
    return [each for layer in encoder.layers for each in (layer.attention_shortcut, layer.feed_forward_shortcut)]


def values_of(encoder: Admin) -> Floats:
    """One number for each shortcut, which has that number everywhere."""
    for each in shortcuts_of(encoder):
        assert (each == each[0]).all()
    return np.array([each[0].item() for each in shortcuts_of(encoder)])


def admin_of(layers: Sequence[Layer], shortcuts: Shortcuts | None = None, **shape: Any) -> Admin:
    encoder = build_encoder("admin", depth=len(layers), **shape).double().eval()
    assert isinstance(encoder, Admin)
    for module, p in zip(encoder.layers, layers, strict=True):
        fill_layer(module, p)
    for each, value in zip(shortcuts_of(encoder), shortcuts or [], strict=shortcuts is not None):
        fill(each, np.broadcast_to(value, each.shape))
    return encoder


def built(**options: Any) -> Admin:
    torch.manual_seed(0)
    encoder = build_encoder("admin", **{"width": 16, "depth": 3, "heads": 4, "inner": 32} | options)
    assert isinstance(encoder, Admin)
    return encoder


def test_the_independent_profile_equals_the_authors_code() -> None:
    """T4, whole: in the authors' code the padded token counts in the variances."""
    omegas, outs = admin_profile([INPUT], SHEET, heads=2, keys=3)
    np.testing.assert_allclose(omegas, OMEGAS, rtol=0, atol=1e-12)
    np.testing.assert_allclose(outs[0], OUT, rtol=0, atol=1e-12)


def test_with_the_sheets_shortcuts_it_gives_the_sheets_numbers() -> None:
    out = run(admin_of(SHEET, OMEGAS, width=4, heads=2, inner=8, position="none"))
    np.testing.assert_allclose(out[:3], OUT[:3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("position", ["none", "sinusoid"])
@pytest.mark.parametrize(
    ("width", "depth", "heads", "inner", "lengths"),
    [(4, 1, 1, 8, (3,)), (8, 2, 2, 16, (5, 1, 3)), (6, 2, 6, 5, (4, 4)), (7, 2, 1, 3, (2, 6)), (128, 2, 4, 512, (9, 14))],
)
def test_it_and_its_profile_equal_an_independent_numpy_page_by_page(
    width: int, depth: int, heads: int, inner: int, lengths: tuple[int, ...], position: str
) -> None:
    vectors, mask = pages(*lengths, width=width)
    vectors = 2 * vectors.double() + 0.5
    layers = [drawn(TRANSFORMER_LAYER, width=width, inner=inner, seed=seed) for seed in range(depth)]
    random = np.random.default_rng(7)
    shortcuts = [1 + 0.4 * random.standard_normal(width) for _ in range(2 * depth)]
    encoder = admin_of(layers, shortcuts, width=width, heads=heads, inner=inner, position=position)
    wave = reference.sinusoid(max(lengths), width) if position == "sinusoid" else np.zeros((max(lengths), width))
    each = [vectors[place, :length].numpy() + wave[:length] for place, length in enumerate(lengths)]
    with torch.no_grad():
        out = encoder(vectors, mask).numpy()
    for place, (x, length) in enumerate(zip(each, lengths, strict=True)):
        np.testing.assert_allclose(out[place, :length], admin_page(x, layers, shortcuts, heads=heads), rtol=0, atol=1e-9)
    encoder.prepare(vectors, mask)
    omegas, outs = admin_profile(each, layers, heads=heads)
    np.testing.assert_allclose(values_of(encoder), omegas, rtol=0, atol=1e-9)
    with torch.no_grad():
        out = encoder(vectors, mask).numpy()
    for place, length in enumerate(lengths):
        np.testing.assert_allclose(out[place, :length], outs[place], rtol=0, atol=1e-9)


def test_with_all_shortcuts_one_it_is_the_transformer_but_for_the_norms_epsilon() -> None:
    shape: dict[str, Any] = {"width": 8, "heads": 2, "inner": 16}
    layers = [drawn(TRANSFORMER_LAYER, width=8, inner=16, seed=seed) for seed in range(2)]
    vectors, mask = pages(6, 4, width=8)
    ours, theirs = admin_of(layers, **shape), transformer_of(layers, **shape)
    with torch.no_grad():
        expected = theirs(vectors.double(), mask)
        near_by = ours(vectors.double(), mask)
        for layer in ours.layers:
            norms: Any = layer
            norms.attention_norm.eps = norms.feed_forward_norm.eps = 1e-6
        torch.testing.assert_close(ours(vectors.double(), mask), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(near_by, expected, rtol=0, atol=1e-3)
    assert (near_by - expected).abs().max() > 1e-8


def test_the_transformers_numbers_of_the_sheet_are_admins_to_four_digits() -> None:
    out = run(admin_of(SHEET[:1], width=4, heads=2, inner=8, position="none"))
    np.testing.assert_allclose(out[:3], TRANSFORMER_OUT[:3], rtol=0, atol=1e-4)


def test_shortcuts_are_one_before_the_first_batch_and_learned() -> None:
    encoder = built()
    np.testing.assert_array_equal(values_of(encoder), np.ones(6))
    names = {name for name, _ in encoder.named_parameters()}
    assert len([name for name in names if name.endswith("_shortcut")]) == 6


def test_normal_vectors_give_the_shortcuts_that_the_authors_code_gave() -> None:
    """Section 3 of the sheet: the mean of five seeds."""
    found = []
    for seed in range(5):
        torch.manual_seed(seed)
        encoder = build_encoder("admin", position="none")
        assert isinstance(encoder, Admin)
        encoder.prepare(torch.randn(8, 47, 128), torch.ones(8, 47, dtype=torch.bool))
        found.append(values_of(encoder))
    np.testing.assert_allclose(
        np.mean(found, axis=0), [1.000, 1.009, 1.158, 1.182, 1.314, 1.350, 1.463, 1.501], rtol=0, atol=0.02
    )


@pytest.mark.parametrize("training", [True, False])
def test_the_first_batch_changes_the_shortcuts_and_nothing_else(training: bool) -> None:
    vectors, mask = pages(9, 4, 1)
    encoder = built(dropout=0.5, position="affine").train(training)
    encoder.layers[1].train(not training)
    modes = [module.training for module in encoder.modules()]
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    state = torch.get_rng_state()
    encoder.prepare(vectors, mask)
    assert torch.equal(torch.get_rng_state(), state)
    assert [module.training for module in encoder.modules()] == modes
    assert torch.is_grad_enabled()
    for name, value in encoder.state_dict().items():
        # The first one is 1 in any case.
        stays = not name.endswith("_shortcut") or name == "layers.0.attention_shortcut"
        assert torch.equal(value, before[name]) == stays, name
    assert all(each.requires_grad and each.grad is None and each.is_leaf for each in encoder.parameters())


def test_neither_dropout_nor_padding_nor_an_earlier_batch_counts_in_the_profile() -> None:
    vectors, mask = pages(9, 4, 1)
    plain = built()
    plain.prepare(vectors, mask)
    dropping = built(dropout=0.5).train()
    dropping.prepare(vectors, mask)
    np.testing.assert_array_equal(values_of(dropping), values_of(plain))
    for garbage in (0.0, 1e30, math.nan):
        again = built()
        again.prepare(*pages(5, 5))
        longer = torch.nn.functional.pad(vectors.masked_fill(~mask[..., None], garbage), (0, 0, 0, 4), value=garbage)
        again.prepare(longer, torch.nn.functional.pad(mask, (0, 4)))
        np.testing.assert_allclose(values_of(again), values_of(plain), rtol=0, atol=1e-6)


def test_a_first_batch_without_tokens_leaves_the_shortcuts_one() -> None:
    encoder = built()
    encoder.prepare(torch.zeros(2, 3, 16), torch.zeros(2, 3, dtype=torch.bool))
    np.testing.assert_array_equal(values_of(encoder), np.ones(6))


@pytest.mark.parametrize(("depth", "value"), [(4, 1.7596), (1, 1.3156), (12, 2.6013)])
def test_the_closed_form_is_a_constant_that_no_batch_and_no_step_changes(depth: int, value: float) -> None:
    encoder = built(depth=depth, shortcut="closed")
    np.testing.assert_allclose(values_of(encoder), value, rtol=0, atol=5e-5)
    encoder.prepare(*pages(9, 4))
    np.testing.assert_allclose(values_of(encoder), value, rtol=0, atol=5e-5)
    assert not [name for name, _ in encoder.named_parameters() if name.endswith("_shortcut")]
    # Saved nevertheless: a bundle is built without values and filled from its file.
    assert len([name for name in encoder.state_dict() if name.endswith("_shortcut")]) == 2 * depth


def test_the_closed_form_multiplies_the_shortcut_as_a_learned_one_does() -> None:
    layers = [drawn(TRANSFORMER_LAYER, width=8, inner=16, seed=seed) for seed in range(2)]
    encoder = admin_of(layers, width=8, heads=2, inner=16, position="none", shortcut="closed")
    constant = math.sqrt(5 / math.log(5) - 1)
    vectors, mask = pages(6, width=8)
    out = encoder(vectors.double(), mask)[0].detach().numpy()
    # The constant has the digits of float32.
    expected = admin_page(vectors[0].double().numpy(), layers, [constant] * 4, heads=2)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("wrong", ["", "profile", "Closed"])
def test_another_shortcut_is_the_users_mistake(wrong: Any) -> None:
    with pytest.raises(UsageError, match="is not a shortcut") as caught:
        built(shortcut=wrong)
    assert repr(wrong) in str(caught.value)
    assert caught.value.todo.endswith("There are profiled, closed")


@pytest.mark.parametrize("shortcut", ["profiled", "closed"])
def test_the_smallest_is_built_without_memory(shortcut: str) -> None:
    with torch.device("meta"):
        encoder = build_encoder("admin", width=2, depth=1, heads=1, inner=2, shortcut=shortcut)
    assert all(value.is_meta for value in encoder.state_dict().values())


def test_query_key_and_value_start_as_one_matrix_and_the_rest_as_glorot_says() -> None:
    torch.manual_seed(0)
    encoder = build_encoder("admin", depth=2)
    norms_and_biases_start_plain(encoder)
    for module in encoder.layers:
        layer: Any = module
        starts_within(layer.query_key_value.weight, 0.10825)
        starts_within(layer.out.weight, SQUARE)
        starts_within(layer.widen.weight, FEED_FORWARD)
        starts_within(layer.narrow.weight, FEED_FORWARD)


def test_the_sheets_padded_token_is_not_in_the_profile() -> None:
    encoder = admin_of(SHEET, width=4, heads=2, inner=8, position="none")
    encoder.prepare(torch.from_numpy(INPUT)[None], MASK)
    omegas, _ = admin_profile([INPUT[:3]], SHEET, heads=2)
    np.testing.assert_allclose(values_of(encoder), omegas, rtol=0, atol=1e-12)
    assert np.abs(values_of(encoder) - OMEGAS).max() > 0.005
