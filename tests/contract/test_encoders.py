"""What every encoder promises, and that each computes what the paper's and the sheet's equations say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from tests.encoders import reference
from tests.encoders.filling import fill, fill_layer, fill_linear, fill_norm, pages
from tests.encoders.reference import BAT_LAYER, NORM, TRANSFORMER_LAYER, Floats, Layer, drawn, made_up, shape_of, waves
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders import ENCODERS, build_encoder
from batag.encoders.bat import Bat
from batag.encoders.blocks import DeviationNorm, several_linears
from batag.encoders.encoder import Encoder
from batag.encoders.position import POSITIONS, sinusoid
from batag.encoders.transformer import Transformer
from batag.errors import UsageError

SMALL = {"width": 16, "depth": 2, "heads": 4, "inner": 32}
# Without the classifier: table 0.1 of the sheet.
PARAMETERS = {
    "bat": 1_123_584,
    "transformer": 793_088,
    "admin": 794_112,
    "switch": 26_634_440,
    "muse": 894_472,
    "performer": 791_040,
    "informer": 793_344,
    "evolved": 1_442_048,
}
# In training Switch drops tokens over capacity, and the other two draw anew.
OTHERWISE_IN_TRAINING = {"switch", "performer", "informer"}
GARBAGE = {"noise": 1.0, "large": 1e6, "huge": 1e30, "infinite": math.inf, "not a number": math.nan}


@pytest.fixture(params=ENCODERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def built(name: str, *, seed: int = 0, **options: Any) -> Encoder:
    torch.manual_seed(seed)
    return build_encoder(name, **SMALL | options)


def evaluating(name: str, **options: Any) -> Encoder:
    return built(name, **options).eval()


def near(one: Tensor, other: Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


@pytest.mark.parametrize("lengths", [(1,), (5,), (3, 7, 1), (4, 4, 4, 4)])
def test_the_output_has_the_shape_and_type_of_the_vectors(name: str, lengths: tuple[int, ...]) -> None:
    vectors, mask = pages(*lengths)
    out = evaluating(name)(vectors, mask)
    assert out.shape == vectors.shape
    assert out.dtype == vectors.dtype
    assert out.isfinite().all()


def test_the_output_is_zero_at_padding_and_nowhere_else(name: str) -> None:
    vectors, mask = pages(7, 2, 1, 5)
    for encoder in (evaluating(name), built(name).train()):
        out = encoder(vectors, mask)
        assert (out[~mask] == 0).all()
        assert (out[mask].abs().sum(-1) > 0).all()


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_stands_at_padding_changes_no_real_output_and_no_gradient(name: str, garbage: float) -> None:
    short, short_mask = pages(6, 4, 1)
    mask = F.pad(short_mask, (0, 5))
    noise = torch.randn(3, 11, 16, generator=torch.Generator().manual_seed(9))
    vectors = F.pad(short, (0, 0, 0, 5)).where(mask[..., None], garbage * noise)
    gradients = []
    outputs = []
    for x, m in ((short.where(short_mask[..., None], 0.0), short_mask), (vectors, mask)):
        encoder = evaluating(name)
        out = encoder(x, m)
        (out[:, :6].square() * torch.linspace(-1, 1, 16)).sum().backward()
        outputs.append(out)
        gradients.append([parameter.grad for parameter in encoder.parameters()])
    near(outputs[1][:, :6], outputs[0])
    assert (outputs[1][:, 6:] == 0).all()
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_no_gradient_reaches_the_vectors_at_padding(name: str) -> None:
    vectors, mask = pages(6, 2, 1)
    vectors.requires_grad_()
    built(name).train()(vectors, mask).square().sum().backward()
    assert vectors.grad is not None
    assert vectors.grad.isfinite().all()
    assert (vectors.grad[~mask] == 0).all()


def test_a_page_alone_and_in_a_batch_has_the_same_outputs(name: str) -> None:
    encoder = evaluating(name)
    lengths = (9, 1, 30, 4, 17)
    vectors, mask = pages(*lengths)
    together = encoder(vectors, mask)
    for place, length in enumerate(lengths):
        near(encoder(vectors[place : place + 1, :length], mask[place : place + 1, :length])[0], together[place, :length])


def test_the_order_of_the_batch_does_not_matter(name: str) -> None:
    encoder = evaluating(name)
    vectors, mask = pages(9, 1, 12, 4, 6)
    order = torch.tensor([3, 0, 4, 2, 1])
    near(encoder(vectors[order], mask[order]), encoder(vectors, mask)[order])


def test_a_page_without_tokens_spoils_nothing(name: str) -> None:
    encoder = evaluating(name)
    vectors, mask = pages(5, 3)
    alone = encoder(vectors, mask)
    more = encoder(F.pad(vectors, (0, 0, 0, 0, 0, 1)), F.pad(mask, (0, 0, 0, 1)))
    near(more[:2], alone)
    more.square().sum().backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in encoder.parameters())


def test_the_vectors_given_are_left_as_they_were(name: str) -> None:
    vectors, mask = pages(5, 3)
    kept, kept_mask = vectors.clone(), mask.clone()
    evaluating(name)(vectors, mask)
    assert torch.equal(vectors, kept)
    assert torch.equal(mask, kept_mask)


@pytest.mark.parametrize("position", POSITIONS)
def test_gradients_reach_every_parameter(name: str, position: str) -> None:
    encoder = built(name, position=position).double().train()
    vectors, mask = pages(12, 7, 9, 12)
    out = encoder(vectors.double(), mask)
    (out * torch.randn(out.shape, dtype=torch.float64)).sum().add(encoder.auxiliary_loss).backward()
    for each, parameter in encoder.named_parameters():
        assert parameter.grad is not None, each
        assert parameter.grad.isfinite().all(), each
        assert parameter.grad.abs().max() > 0, each


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("lengths", [(1, 1, 6), (1,), (1, 1)])
def test_gradients_are_finite_where_a_page_has_one_token(name: str, position: str, lengths: tuple[int, ...]) -> None:
    encoder = built(name, position=position).train()
    vectors, mask = pages(*lengths)
    vectors = F.pad(vectors, (0, 0, 0, 3)).where(F.pad(mask, (0, 3))[..., None], 0.0).requires_grad_()
    out = encoder(vectors, F.pad(mask, (0, 3)))
    out.square().sum().add(encoder.auxiliary_loss).backward()
    for parameter in (vectors, *encoder.parameters()):
        assert parameter.grad is None or parameter.grad.isfinite().all()


def test_gradients_are_finite_where_all_values_of_a_vector_are_equal(name: str) -> None:
    encoder = built(name, position="none").train()
    vectors = torch.zeros(2, 4, 16)
    vectors[1] = 3.0
    vectors.requires_grad_()
    out = encoder(vectors, torch.ones(2, 4, dtype=torch.bool))
    (out * torch.linspace(-1, 1, 16)).sum().backward()
    for parameter in (vectors, *encoder.parameters()):
        assert parameter.grad is None or parameter.grad.isfinite().all()


def test_it_has_as_many_parameters_as_the_sheet_counts(name: str) -> None:
    assert sum(parameter.numel() for parameter in build_encoder(name).parameters()) == PARAMETERS[name]


def test_another_seed_gives_other_weights_and_the_same_seed_the_same(name: str) -> None:
    vectors, mask = pages(5, 3)
    first, again, other = (evaluating(name, seed=seed) for seed in (3, 3, 4))
    for one, two in zip(first.state_dict().values(), again.state_dict().values(), strict=True):
        assert torch.equal(one, two)
    out = first(vectors, mask)
    assert torch.equal(out, again(vectors, mask))
    assert torch.equal(out, first(vectors, mask))
    assert not torch.allclose(out, other(vectors, mask), atol=1e-2)


def test_float64_gives_what_float32_gives_with_more_digits(name: str) -> None:
    encoder = evaluating(name)
    vectors, mask = pages(8, 5)
    single = encoder(vectors, mask)
    double = encoder.double()(vectors.double(), mask)
    assert double.dtype == torch.float64
    near(double.float(), single, 1e-4)
    near(double, evaluating(name).double()(vectors.double(), mask), 1e-12)
    near(encoder.float()(vectors, mask), single)


def test_a_page_of_one_token(name: str) -> None:
    vectors, mask = pages(1)
    out = evaluating(name)(vectors, mask)
    assert out.isfinite().all()
    assert out.abs().max() > 0


def test_a_long_page_is_encoded_whole_whether_or_not_a_short_one_came_before(name: str) -> None:
    encoder = evaluating(name)
    vectors, mask = pages(700)
    fresh = encoder(vectors, mask)
    assert fresh.shape == (1, 700, 16)
    assert fresh.isfinite().all()
    assert (fresh[0].abs().sum(-1) > 0).all()
    other = evaluating(name)
    other(vectors[:, :3], mask[:, :3])
    near(other(vectors, mask), fresh)
    near(other(vectors[:, :3], mask[:, :3]), encoder(vectors[:, :3], mask[:, :3]))


def test_every_token_is_seen_from_far_away(name: str) -> None:
    encoder = evaluating(name)
    vectors, mask = pages(12)
    before = encoder(vectors, mask)
    vectors[0, 0] *= -1
    after = encoder(vectors, mask)
    assert (after[0, -1] - before[0, -1]).abs().max() > 1e-4


def test_positions_are_added_to_the_vectors_in_four_ways(name: str) -> None:
    vectors, mask = pages(9, 6)
    table = torch.from_numpy(reference.sinusoid(9, 16)).float()
    plain = evaluating(name, position="none")
    generator = torch.Generator().manual_seed(5)
    shift = torch.randn(16, generator=generator)
    expected = {
        "none": plain(vectors, mask),
        "sinusoid": plain(vectors + table, mask),
        "linear": plain(0.7 * vectors - 1.3 * table, mask),
        "affine": plain(0.7 * vectors - 1.3 * table + shift, mask),
    }
    assert set(expected) == set(POSITIONS)
    for kind, out in expected.items():
        encoder = evaluating(name, position=kind)
        learned = {"position.scale": torch.tensor([0.7, -1.3]), "position.shift": shift}
        own = {key: learned[key] for key in encoder.state_dict() if key in learned}
        assert len(own) == {"linear": 1, "affine": 2}.get(kind, 0)
        encoder.load_state_dict(plain.state_dict() | own)
        near(encoder(vectors, mask), out)
    assert (expected["sinusoid"] - expected["none"]).abs().max() > 0.01


def test_a_learned_position_starts_as_the_plain_sinusoid(name: str) -> None:
    vectors, mask = pages(9, 6)
    plain = evaluating(name)
    for kind in ("linear", "affine"):
        encoder = evaluating(name, position=kind)
        missing = encoder.load_state_dict(plain.state_dict(), strict=False).missing_keys
        assert all(key.startswith("position.") for key in missing)
        near(encoder(vectors, mask), plain(vectors, mask))


@pytest.mark.parametrize("position", POSITIONS)
def test_training_goes_on_after_a_longer_page_was_evaluated_in_inference_mode(name: str, position: str) -> None:
    encoder = built(name, position=position)
    vectors, mask = pages(300)
    encoder(vectors[:, :5], mask[:, :5]).sum().backward()
    with torch.inference_mode():
        encoder.eval()(vectors, mask)
    encoder.train()(vectors[:, :5], mask[:, :5]).sum().backward()


def test_training_and_evaluation_agree_without_dropout(name: str) -> None:
    if name in OTHERWISE_IN_TRAINING:
        pytest.skip("it drops or draws in training")
    vectors, mask = pages(8, 3)
    encoder = built(name)
    near(encoder.train()(vectors, mask), encoder.eval()(vectors, mask))


def test_dropout_acts_in_training_only(name: str) -> None:
    vectors, mask = pages(8, 3)
    encoder = built(name, dropout=0.5)
    out = encoder.eval()(vectors, mask)
    assert torch.equal(out, evaluating(name)(vectors, mask))
    encoder.train()
    first, second = encoder(vectors, mask), encoder(vectors, mask)
    assert (first - second).abs().max() > 0.01
    assert (first[~mask] == 0).all()


def test_prepare_may_be_called_and_leaves_no_gradient(name: str) -> None:
    vectors, mask = pages(8, 3)
    encoder = built(name).train()
    encoder.prepare(vectors, mask)
    assert all(parameter.grad is None and parameter.requires_grad for parameter in encoder.parameters())
    assert encoder.training
    assert encoder(vectors, mask).isfinite().all()


def test_the_auxiliary_loss_is_nothing_or_a_scalar_that_trains(name: str) -> None:
    vectors, mask = pages(8, 3)
    encoder = built(name).train()
    encoder(vectors, mask)
    loss = encoder.auxiliary_loss
    if isinstance(loss, Tensor):
        assert loss.shape == ()
        assert loss.isfinite()
        loss.backward()
    else:
        assert loss == 0


def test_it_learns_eight_pages_by_heart_where_labels_hang_on_the_neighbour(name: str) -> None:
    """Five words, and a word's label depends on the word before it: no map of single words can do that."""
    generator = torch.Generator().manual_seed(2)
    lengths = torch.tensor([3, 4, 5, 6, 6, 2, 1, 6])
    mask = torch.arange(6) < lengths[:, None]
    words = torch.randint(5, (8, 6), generator=generator)
    labels = (words + F.pad(words, (1, 0))[:, :-1]) % 3
    vectors = torch.randn(5, 16, generator=generator)[words]
    # So few tokens for fifty experts would mostly be dropped in training, and evaluation drops none.
    encoder = built(name, **{"switch": {"experts": 4, "capacity": 2.0}}.get(name, {})).train()
    head = several_linears(16, [3])
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=3e-3)
    encoder.prepare(vectors, mask)
    for _ in range(150):
        loss = F.cross_entropy(head(encoder(vectors, mask))[mask], labels[mask]) + encoder.auxiliary_loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert (head(encoder.eval()(vectors, mask)).argmax(-1) == labels)[mask].all()


def test_a_saved_encoder_holds_no_position_table_and_loads_into_another(name: str) -> None:
    vectors, mask = pages(8, 3)
    for position in POSITIONS:
        encoder = evaluating(name, position=position)
        out = encoder(vectors, mask)
        state = encoder.state_dict()
        assert {key for key in state if "table" in key or key.startswith("position.")} <= {"position.scale", "position.shift"}
        other = evaluating(name, seed=8, position=position)
        other.load_state_dict(state)
        assert torch.equal(other(vectors, mask), out)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("bta", "bat"), ("batt", "bat"), ("transfomer", "transformer"), ("Transformer", "transformer")]
)
def test_an_unknown_name_says_the_nearest_and_what_there_is(wrong: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        build_encoder(wrong)
    assert repr(wrong) in str(caught.value)
    assert f"Did you mean {meant!r}?" in str(caught.value)
    for each in ENCODERS:
        assert each in caught.value.todo


def test_a_name_like_no_other_still_says_what_there_is() -> None:
    with pytest.raises(UsageError, match="'' is not an encoder") as caught:
        build_encoder("")
    assert caught.value.todo == f"There are {', '.join(ENCODERS)}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 18, "heads": 4},
        {"width": 16, "heads": 3},
        {"width": 0},
        {"width": -16},
        {"heads": 0},
        {"heads": -4},
        {"depth": 0},
        {"inner": 0},
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"dropout": math.nan},
        {"position": "sinus"},
        {"position": ""},
        {"no_such_option": 1},
    ],
    ids=str,
)
def test_values_that_make_no_encoder_are_the_users_mistake(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        built(name, **wrong)
    assert caught.value.todo
    assert all(str(value) in str(caught.value) for key, value in wrong.items() if key != "no_such_option")


def test_an_option_that_an_encoder_does_not_have_is_named() -> None:
    with pytest.raises(UsageError, match="transformer has no option 'attention_scale'"):
        built("transformer", attention_scale="head")
    with pytest.raises(UsageError, match="'heads' is not an attention scale"):
        built("bat", attention_scale="heads")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bat", {"norm": True}, "norm = True of the encoder bat is not a text"),
        ("switch", {"experts": "many"}, "experts = 'many' of the encoder switch is not a whole number"),
        ("switch", {"experts": True}, "is not a whole number"),
        ("switch", {"capacity": "x"}, "capacity = 'x' of the encoder switch is not a number"),
        ("switch", {"drop_in_evaluation": "no"}, "is not true or false"),
        ("performer", {"features": 1.5}, "is not a whole number"),
        ("informer", {"factor": True}, "is not a whole number"),
        ("transformer", {"dropout": "0.1"}, "is not a number"),
    ],
)
def test_an_option_of_another_kind_is_the_users_mistake(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        build_encoder(name, **options)
    assert message in str(caught.value)


def test_a_whole_number_may_stand_for_a_text() -> None:
    assert build_encoder("muse", width=8, depth=1, heads=2, inner=8, kernels=3)
    with pytest.raises(UsageError, match="'3' is not a branch"):
        build_encoder("bat", branches=3)


# Equations ------------------------------------------------------------------------------------------------------------


def bat_of(layers: Sequence[Layer], norm: Layer, **shape: Any) -> Bat:
    encoder = build_encoder("bat", depth=len(layers), **shape).double().eval()
    assert isinstance(encoder, Bat)
    fill_norm(encoder.norm, norm["ge"], norm["be"])
    for module, p in zip(encoder.layers, layers, strict=True):
        layer: Any = module
        fill_linear(layer.query_key_value_conv1, [p["Wq"], p["Wk"], p["Wv"], p["K1"][0]], [p["bq"], p["bk"], p["bv"], p["bK1"]])
        fill_linear(layer.out, [p["Wo"]], [p["bo"]])
        fill(layer.conv3.weight, *(tap.T for tap in p["K3"]), dim=1)
        fill(layer.conv3.bias, p["bK3"])
        fill_linear(layer.widen_and_residual, [p["W1"], p["Kr"][0]], [p["bf1"], p["bKr"]])
        fill_linear(layer.narrow, [p["W2"]], [p["bf2"]])
        for place, each in enumerate((layer.mixed_norm, layer.attention_norm, layer.feed_forward_norm), 1):
            fill_norm(each, p[f"g{place}"], p[f"b{place}"])
    return encoder


def transformer_of(layers: Sequence[Layer], **shape: Any) -> Transformer:
    encoder = build_encoder("transformer", depth=len(layers), **shape).double().eval()
    assert isinstance(encoder, Transformer)
    for module, p in zip(encoder.layers, layers, strict=True):
        fill_layer(module, p)
    return encoder


@pytest.mark.parametrize("position", ["none", "sinusoid"])
@pytest.mark.parametrize(
    ("width", "depth", "heads", "inner", "lengths"),
    [
        (4, 1, 1, 8, (3,)),
        (8, 2, 2, 16, (5, 1, 3)),
        (12, 3, 3, 20, (7, 2)),
        (6, 2, 6, 5, (4, 4)),
        (7, 2, 1, 3, (2, 6)),
        (128, 1, 4, 512, (9, 14)),
    ],
)
@pytest.mark.parametrize("kind", ["bat", "bat-head", "transformer"])
def test_it_equals_an_independent_numpy_page_by_page(
    kind: str, width: int, depth: int, heads: int, inner: int, lengths: tuple[int, ...], position: str
) -> None:
    vectors, mask = pages(*lengths, width=width)
    vectors = 2 * vectors.double() + 0.5
    names = TRANSFORMER_LAYER if kind == "transformer" else BAT_LAYER
    layers = [drawn(names, width=width, inner=inner, seed=seed) for seed in range(depth)]
    norm = drawn(NORM, width=width, inner=inner, seed=99)
    shape: dict[str, Any] = {"width": width, "heads": heads, "inner": inner, "position": position}
    encoder: Encoder
    if kind == "transformer":
        encoder = transformer_of(layers, **shape)
    elif kind == "bat":
        encoder = bat_of(layers, norm, **shape)
    else:
        encoder = bat_of(layers, norm, attention_scale="head", **shape)
    with torch.no_grad():
        out = encoder(vectors, mask).numpy()
    for place, length in enumerate(lengths):
        x = vectors[place, :length].numpy()
        if position == "sinusoid":
            x = x + reference.sinusoid(length, width)
        if kind == "transformer":
            expected = reference.transformer_page(x, layers, heads=heads)
        else:
            scale = 1 / math.sqrt(width if kind == "bat" else width / heads)
            expected = reference.bat_page(x, layers, norm, heads=heads, scale=scale)
        np.testing.assert_allclose(out[place, :length], expected, rtol=0, atol=1e-9)
        assert (out[place, length:] == 0).all()


def plain_deviation_norm(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """The formula in differentiable steps; a norm's gradient is 0 where all values are equal."""
    centred = x - x.mean(-1, keepdim=True)
    deviation = torch.linalg.vector_norm(centred, dim=-1, keepdim=True) / math.sqrt(x.shape[-1])
    return centred / (deviation + 1e-4) * gain + bias


def norm_of(width: int, *, dtype: torch.dtype = torch.float64) -> DeviationNorm:
    norm = DeviationNorm(width)
    generator = torch.Generator().manual_seed(6)
    with torch.no_grad():
        for parameter in norm.parameters():
            parameter.add_(torch.randn(width, generator=generator))
    return norm.to(dtype)


def test_bat_adds_its_epsilon_to_the_deviation() -> None:
    """T0 of the sheet, with and without gradients."""
    x = torch.tensor([[1.0, 2, 3, 4]], dtype=torch.float64)
    for learning in (True, False):
        with torch.set_grad_enabled(learning):
            out = DeviationNorm(4).double()(x)
        np.testing.assert_allclose(out.detach()[0], [-1.341521, -0.447174, 0.447174, 1.341521], rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1.0, 1e-2, 1e-4, 1e-6, 1e-9, 1e6], ids=str)
@pytest.mark.parametrize("shape", [(7,), (5, 7), (2, 3, 8), (2, 1, 2), (1, 4, 128)], ids=str)
def test_bats_norm_and_its_gradients_are_the_formulas_however_small_the_deviation(shape: tuple[int, ...], size: float) -> None:
    generator = torch.Generator().manual_seed(3)
    x, upstream = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(2))
    ours = norm_of(shape[-1])
    theirs = [parameter.detach().clone().requires_grad_() for parameter in ours.parameters()]
    given, again = ((size * x).requires_grad_() for _ in range(2))
    out, expected = ours(given), plain_deviation_norm(again, *theirs)
    torch.testing.assert_close(out, expected, rtol=1e-9, atol=1e-9)
    with torch.no_grad():
        torch.testing.assert_close(ours(given), out, rtol=1e-12, atol=1e-12)
    (out * upstream).sum().backward()
    (expected * upstream).sum().backward()
    for one, other in zip((given, *ours.parameters()), (again, *theirs), strict=True):
        assert one.grad is not None
        assert one.grad.shape == one.shape
        assert other.grad is not None
        scale = max(1.0, float(other.grad.abs().max()))
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-8, atol=1e-9 * scale)


def test_bats_norm_passes_a_numerical_check_of_its_gradients() -> None:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(3, 2, 5, generator=generator, dtype=torch.float64)
    x[0] *= 1e-3
    norm = norm_of(5)
    inputs = (x.requires_grad_(), *(parameter.detach().clone().requires_grad_() for parameter in norm.parameters()))

    def run(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        out: Tensor = torch.func.functional_call(norm, {"weight": weight, "bias": bias}, (x,))
        return out

    assert torch.autograd.gradcheck(run, inputs, eps=1e-8, atol=1e-4)
    # A tensor whose values do not lie side by side, in and out.
    turned = torch.randn(5, 2, 3, generator=generator, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: run(x.transpose(0, 2), *inputs[1:]).transpose(0, 1), (turned,))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_bats_norm_of_equal_values_is_its_bias_and_its_gradient_that_of_a_division(dtype: torch.dtype) -> None:
    norm = norm_of(6, dtype=dtype)
    x = torch.zeros(3, 6, dtype=dtype)
    x[1] = 4.0
    x[2] = -0.5
    x.requires_grad_()
    out = norm(x)
    torch.testing.assert_close(out, norm.bias.expand(3, 6))
    upstream = torch.linspace(-1, 2, 18, dtype=dtype).reshape(3, 6)
    (out * upstream).sum().backward()
    through = upstream * norm.weight.detach()
    torch.testing.assert_close(x.grad, (through - through.mean(-1, keepdim=True)) / 1e-4, rtol=1e-4, atol=1e-2)


def test_bats_norm_in_float32_is_near_float64() -> None:
    generator = torch.Generator().manual_seed(3)
    for size, offset in ((1.0, 0.0), (1e-3, 0.0), (1.0, 50.0), (1e4, 0.0)):
        x, upstream = (torch.randn(4, 9, 16, generator=generator, dtype=torch.float64) for _ in range(2))
        results = []
        for dtype in (torch.float32, torch.float64):
            given = (size * x + offset).to(dtype).requires_grad_()
            out = norm_of(16, dtype=dtype)(given)
            (out * upstream.to(dtype)).sum().backward()
            assert given.grad is not None
            results.append((out.detach().double(), given.grad.double() * size))
        near(results[0][0], results[1][0], 1e-4)
        near(results[0][1], results[1][1], 1e-3)


def test_the_sinusoid_interleaves_sine_and_cosine_and_counts_from_zero() -> None:
    """T0 of the sheet."""
    expected = [[0, 1, 0, 1], [0.841471, 0.540302, 0.010000, 0.999950], [0.909297, -0.416147, 0.019999, 0.999800]]
    np.testing.assert_allclose(sinusoid(3, 4), expected, rtol=0, atol=1e-6)
    for length, width in ((40, 128), (9, 7), (5, 1), (3, 2)):
        np.testing.assert_allclose(sinusoid(length, width), reference.sinusoid(length, width), rtol=0, atol=1e-12)


# The sheet's vectors: one layer, width 4, two heads, inner 8, four tokens of which the last is padding.
INPUT = waves((4, 4), 0.3, 1)
MASK = torch.tensor([[True, True, True, False]])
BAT_P_OFFICIAL = [
    [0.18689746110939218, 0.2978698516257816, 0.5152326872648262],
    [0.4490961084413538, 0.3098181991525374, 0.2410856924061088],
    [0.2960090682702565, 0.2820971526046692, 0.42189377912507425],
    [0.4474761879351588, 0.3086421149442291, 0.24388169712061203],
]
BAT_P_LAST_REAL_TOKEN = [0.21959564493730083, 0.2595340571028928, 0.5208702979598063]
BAT_P_WITH_POSITION = [
    [0.491103, 0.317017, 0.191880],
    [0.410959, 0.321717, 0.267324],
    [0.464975, 0.303867, 0.231159],
    [0.456846, 0.309754, 0.233400],
]
BAT_Z = [
    [-1.4653454410602644, 0.6701400589204707, 1.3032729159049563, -0.09023933024661032],
    [1.6849133286305922, 0.08930614877544456, -0.939983783413898, -0.7384436647156951],
    [-1.4299013199519839, -0.16108469333623351, 0.9064895935182744, 1.1277611597443509],
]
BAT_U = [
    [-0.7840324579052564, 1.0711745860757773, 0.6440279759703377, -1.1850238672141657],
    [1.6866688289514644, -0.0410530896007988, -0.7465014826374134, -0.9354573481427025],
]
BAT_OUT = [
    [-1.6021424724436597, 0.12785582392064906, 0.9757082260818338, 0.5263884162183522],
    [1.2525478408115318, 0.2745371326049611, -0.6496246029812799, -1.0081241809468002],
]
TRANSFORMER_OUT = [
    [-1.525602334545634, 0.6496405771353828, 0.9591494348852552, -0.4809790724697057],
    [1.686862004865912, -0.03137369180428124, -0.9694238287940999, -0.7296563187348759],
    [-1.700528552674559, -0.2505936206559156, 0.6950265398453803, 0.7324656456544644],
    [1.4293973204084858, 0.3928826893791585, -0.6700504600959756, -1.1822139903049358],
]


def numbered(names: Mapping[str, str], *, first: int = 1) -> dict[str, Floats]:
    return {
        name: made_up(name, shape_of(letters, width=4, inner=8), start)
        for start, (name, letters) in enumerate(names.items(), first)
    }


BAT_ONE = numbered(BAT_LAYER)
BAT_NORM = numbered(NORM, first=25)
HEAD = made_up("W", (4, 3), 27), made_up("b", (3,), 28)


def probabilities(out: Floats) -> Floats:
    return reference.softmax(out @ HEAD[0] + HEAD[1])


def run(encoder: Encoder, mask: Tensor = MASK) -> Floats:
    with torch.no_grad():
        out: Floats = encoder(torch.from_numpy(INPUT)[None, : mask.shape[1]], mask)[0].numpy()
    return out


def small_bat(position: str = "none", **options: Any) -> Bat:
    return bat_of([BAT_ONE], BAT_NORM, width=4, heads=2, inner=8, position=position, **options)


def test_the_sheets_numbers_are_read_as_the_sheet_means_them() -> None:
    np.testing.assert_allclose(INPUT[0], [0.295520, 0.841471, 0.991665, 0.675463], atol=1e-6)
    np.testing.assert_allclose(BAT_ONE["Wq"][0], [0.420735, 0.495832, 0.337732, 0.020790], atol=1e-6)
    np.testing.assert_allclose(BAT_ONE["g1"], [1.042017, 1.090595, 1.096566, 1.057120], atol=1e-6)


@pytest.mark.parametrize(("position", "expected"), [(False, BAT_P_OFFICIAL), (True, BAT_P_WITH_POSITION)])
def test_the_independent_bat_equals_the_authors_code(position: bool, expected: list[list[float]]) -> None:
    """T1 of the sheet, whole: in the authors' code the convolution sees the padded token."""
    x = INPUT + reference.sinusoid(4, 4) if position else INPUT
    out = reference.bat_page(x, [BAT_ONE], BAT_NORM, heads=2, scale=0.5, keys=3)
    np.testing.assert_allclose(probabilities(out), expected, rtol=0, atol=1e-6 if position else 1e-12)


def test_bat_gives_the_sheets_numbers_step_by_step() -> None:
    """T1, but for the last real token, and T2b, where the convolution does not see padding."""
    encoder = small_bat()
    seen: dict[str, Floats] = {}
    layer: Any = encoder.layers[0]
    encoder.norm.register_forward_hook(lambda module, given, out: seen.update(z=out[0].numpy()))
    layer.attention_norm.register_forward_hook(lambda module, given, out: seen.update(u=out[0].numpy()))
    out = run(encoder)
    np.testing.assert_allclose(seen["z"][:3], BAT_Z, rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen["u"][:2], BAT_U, rtol=0, atol=1e-12)
    np.testing.assert_allclose(out[:2], BAT_OUT, rtol=0, atol=1e-12)
    p = probabilities(out)
    np.testing.assert_allclose(p[:2], BAT_P_OFFICIAL[:2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(p[2], BAT_P_LAST_REAL_TOKEN, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run(encoder, MASK[:, :3]), out[:3], rtol=0, atol=1e-12)


def test_bat_gives_the_sheets_numbers_with_positions() -> None:
    p = probabilities(run(small_bat("sinusoid")))
    np.testing.assert_allclose(p[:2], BAT_P_WITH_POSITION[:2], rtol=0, atol=1e-6)
    alone = reference.bat_page(INPUT[:3] + reference.sinusoid(3, 4), [BAT_ONE], BAT_NORM, heads=2, scale=0.5)
    np.testing.assert_allclose(p[:3], probabilities(alone), rtol=0, atol=1e-12)


def test_bat_may_scale_attention_by_the_head_as_the_transformer_does() -> None:
    p = probabilities(run(small_bat(attention_scale="head")))
    np.testing.assert_allclose(p[0], [0.187101, 0.298022, 0.514877], rtol=0, atol=1e-6)


def test_the_transformer_gives_the_sheets_numbers() -> None:
    """T3 of the sheet; the padded row, which the encoder leaves zero, by the independent version."""
    layer = numbered(TRANSFORMER_LAYER)
    out = run(transformer_of([layer], width=4, heads=2, inner=8, position="none"))
    np.testing.assert_allclose(out[:3], TRANSFORMER_OUT[:3], rtol=0, atol=1e-12)
    independent = reference.transformer_page(INPUT, [layer], heads=2, keys=3)
    np.testing.assert_allclose(independent, TRANSFORMER_OUT, rtol=0, atol=1e-12)


def test_the_transformer_equals_torchs_own_layer() -> None:
    layer = drawn(TRANSFORMER_LAYER, width=8, inner=16, seed=4)
    theirs = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, layer_norm_eps=1e-6, batch_first=True).double()
    fill(theirs.self_attn.in_proj_weight, layer["Wq"].T, layer["Wk"].T, layer["Wv"].T)
    fill(theirs.self_attn.in_proj_bias, layer["bq"], layer["bk"], layer["bv"])
    fill_linear(theirs.self_attn.out_proj, [layer["Wo"]], [layer["bo"]])
    fill_linear(theirs.linear1, [layer["W1"]], [layer["bf1"]])
    fill_linear(theirs.linear2, [layer["W2"]], [layer["bf2"]])
    fill_norm(theirs.norm1, layer["g1"], layer["b1"])
    fill_norm(theirs.norm2, layer["g2"], layer["b2"])
    vectors, mask = pages(6, 4, width=8)
    ours = transformer_of([layer], width=8, heads=2, inner=16, position="none")
    expected = theirs(vectors.double(), src_key_padding_mask=~mask)
    torch.testing.assert_close(ours(vectors.double(), mask)[mask], expected[mask], rtol=0, atol=1e-12)


# How they start -------------------------------------------------------------------------------------------------------

SQUARE, FEED_FORWARD = 0.15309, 0.09682
"""sqrt(6 / 256) and sqrt(6 / 640): width 128, inner 512."""


def starts_within(weight: Tensor, limit: float) -> None:
    """Uniform in [-limit, limit]: neither smaller nor larger, and as spread as a uniform draw is."""
    weight = weight.detach()
    assert weight.abs().max() <= limit * 1.0001
    assert weight.abs().max() > limit * 0.995
    assert abs(float(weight.std()) / (limit / math.sqrt(3)) - 1) < 0.02
    assert abs(float(weight.mean())) < limit * 0.02


def norms_and_biases_start_plain(encoder: Encoder) -> None:
    for key, parameter in encoder.named_parameters():
        if "norm" in key and key.endswith("weight"):
            assert (parameter == 1).all(), key
        elif key.endswith("bias"):
            assert (parameter == 0).all(), key


def test_every_matrix_of_bat_has_its_own_glorot_start() -> None:
    torch.manual_seed(0)
    encoder = build_encoder("bat", depth=2)
    norms_and_biases_start_plain(encoder)
    for module in encoder.layers:
        layer: Any = module
        for part in layer.query_key_value_conv1.weight.split(128):
            starts_within(part, SQUARE)
        starts_within(layer.out.weight, SQUARE)
        for tap in layer.conv3.weight.split(128, dim=1):
            starts_within(tap, SQUARE)
        widen, residual = layer.widen_and_residual.weight.split([512, 128])
        starts_within(widen, FEED_FORWARD)
        starts_within(residual, SQUARE)
        starts_within(layer.narrow.weight, FEED_FORWARD)


def test_every_matrix_of_the_transformer_has_its_own_glorot_start() -> None:
    torch.manual_seed(0)
    encoder = build_encoder("transformer", depth=2)
    norms_and_biases_start_plain(encoder)
    for module in encoder.layers:
        layer: Any = module
        for part in layer.query_key_value.weight.split(128):
            starts_within(part, SQUARE)
        starts_within(layer.out.weight, SQUARE)
        starts_within(layer.widen.weight, FEED_FORWARD)
        starts_within(layer.narrow.weight, FEED_FORWARD)


def test_a_linear_head_starts_as_glorot_says() -> None:
    torch.manual_seed(0)
    head = several_linears(128, [3])
    assert 0.2 < head.weight.abs().max() <= math.sqrt(6 / 131)
    assert (head.bias == 0).all()
