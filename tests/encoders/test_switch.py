"""Switch: routing, capacity and balance by the sheet's numbers and by an independent version, and what experts cost."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from tests.encoders import reference, reference_switch
from tests.encoders.filling import fill, fill_attention, fill_linear, fill_norm, pages
from tests.encoders.reference import Floats
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from batag.encoders import build_encoder
from batag.encoders.switch import Switch, SwitchFeedForward, _Experts
from batag.errors import UsageError

# T8 of the sheet.
LOGITS = [[2.0, 0], [1, 0], [0, 3], [1.5, 0], [0, 0.5], [0.2, 0]]
GATES = [0.880797, 0.731059, 0.952574, 0.817574, 0.622459, 0.549834]
KEPT_OUTPUTS = [0.880797, 1.462117, 5.715445, 3.270298, 6.224593, 0]
IMBALANCE = 1.044915


class Said(nn.Module):
    """A router whose logits are given, token by token."""

    def __init__(self, logits: list[list[float]]) -> None:
        super().__init__()
        self.logits = torch.tensor(logits, dtype=torch.float64)

    def forward(self, y_TD: Tensor) -> Tensor:
        assert len(y_TD) == len(self.logits)
        return self.logits


def toy(logits: list[list[float]], **options: Any) -> SwitchFeedForward:
    """Expert e multiplies by e + 1."""
    experts = len(logits[0])
    layer = SwitchFeedForward(1, 1, experts=experts, **options).double()
    layer.router = Said(logits)  # type: ignore[assignment]
    with torch.no_grad():
        layer.widen.fill_(1.0)
        layer.narrow.copy_(torch.arange(1.0, experts + 1)[:, None, None])
    return layer


def column(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)[None, :, None]


def real(*rows: str) -> Tensor:
    return torch.tensor([[each == "x" for each in row] for row in rows])


def built(*, seed: int = 0, **options: Any) -> Switch:
    torch.manual_seed(seed)
    encoder = build_encoder("switch", **{"width": 16, "depth": 2, "heads": 4, "inner": 32, "experts": 4} | options)
    assert isinstance(encoder, Switch)
    return encoder


def switch_of(layers: list[dict[str, Floats]], **options: Any) -> Switch:
    encoder = built(depth=len(layers), **options).double().eval()
    for module, p in zip(encoder.layers, layers, strict=True):
        layer: Any = module
        fill_attention(layer, p)
        fill_linear(layer.switch.router, [p["Wr"]], [p["br"]])
        fill(layer.switch.widen, p["W1"])
        fill(layer.switch.widen_bias, p["bf1"])
        fill(layer.switch.narrow, p["W2"])
        fill(layer.switch.narrow_bias, p["bf2"])
        fill_norm(layer.feed_forward_norm, p["g2"], p["b2"])
    return encoder


def test_it_gives_the_sheets_numbers() -> None:
    """Capacity is 3, and the sixth token is the fourth of its expert."""
    layer = toy(LOGITS).train()
    out, imbalance = layer(column(1, 2, 3, 4, 5, 6), real("xxxxxx"))
    np.testing.assert_allclose(out.detach()[0, :, 0], KEPT_OUTPUTS, rtol=0, atol=1e-6)
    np.testing.assert_allclose(imbalance.item(), IMBALANCE, rtol=0, atol=1e-6)
    out, imbalance = layer.eval()(column(1, 2, 3, 4, 5, 6), real("xxxxxx"))
    chosen = np.array(LOGITS).argmax(1) + 1
    np.testing.assert_allclose(out.detach()[0, :, 0], chosen * np.arange(1, 7) * GATES, rtol=0, atol=1e-5)
    assert imbalance == 0


def test_padding_is_not_routed_and_takes_no_place() -> None:
    layer = toy(LOGITS).train()
    vectors = torch.tensor([[1, 2, 99, 99], [3, 99, 99, 99], [4, 5, 6, 99]], dtype=torch.float64)[..., None]
    out, imbalance = layer(vectors, real("xx..", "x...", "xxx."))
    assert (out[~real("xx..", "x...", "xxx.")] == 0).all()
    np.testing.assert_allclose(out.detach()[real("xx..", "x...", "xxx.")][:, 0], KEPT_OUTPUTS, rtol=0, atol=1e-6)
    np.testing.assert_allclose(imbalance.item(), IMBALANCE, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("experts", "tokens", "capacity", "kept"),
    [
        (2, 6, 1.0, 3),
        (2, 7, 1.0, 4),
        (4, 7, 1.0, 2),
        (50, 7, 1.0, 1),
        (2, 6, 0.1, 1),
        (2, 6, 1.25, 4),
        (2, 6, 9.0, 6),
        (1, 5, 1.0, 5),
    ],
)
def test_an_expert_takes_its_even_share_of_the_tokens_and_the_earlier_ones(
    experts: int, tokens: int, capacity: float, kept: int
) -> None:
    layer = toy([[1.0] + [0.0] * (experts - 1)] * tokens, capacity=capacity).train()
    out, _ = layer(column(*range(1, tokens + 1)), real("x" * tokens))
    assert (out[0, :, 0] > 0).tolist() == [True] * kept + [False] * (tokens - kept)


def test_tokens_of_an_expert_count_even_where_others_stand_between() -> None:
    logits = [[1.0, 0] if each == "a" else [0, 1.0] for each in "abaabbab"]
    out, _ = toy(logits, capacity=0.75).train()(column(*range(1, 9)), real("x" * 8))
    assert (out[0, :, 0] > 0).tolist() == [True, True, True, True, True, True, False, False]


def test_by_page_each_page_has_its_own_share() -> None:
    mask = real("xxxxx", "x....", "xx...")
    vectors = torch.ones(3, 5, 1, dtype=torch.float64)
    by_batch, _ = toy([[1.0, 0]] * 8).train()(vectors, mask)
    assert (by_batch[..., 0] > 0).tolist() == real("xxxx.", ".....", ".....").tolist()
    by_page, _ = toy([[1.0, 0]] * 8, by_page=True).train()(vectors, mask)
    assert (by_page[..., 0] > 0).tolist() == real("xxx..", "x....", "x....").tolist()


@pytest.mark.parametrize(
    ("training", "options", "capacity", "by_page"),
    [
        (False, {}, None, False),
        (False, {"grouping": "page"}, None, False),
        (False, {"grouping": "page", "drop_in_evaluation": True}, 1.0, True),
        (True, {}, 1.0, False),
        (True, {"capacity": 0.5}, 0.5, False),
        (True, {"capacity": 1.5}, 1.5, False),
        (True, {"grouping": "page"}, 1.0, True),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("width", "heads", "inner", "experts", "lengths"),
    [(8, 2, 16, 3, (5, 1, 3)), (9, 3, 4, 2, (7, 2)), (6, 1, 5, 7, (4, 4, 9)), (32, 4, 64, 50, (9, 14, 30))],
)
def test_it_equals_an_independent_numpy(
    width: int,
    heads: int,
    inner: int,
    experts: int,
    lengths: tuple[int, ...],
    training: bool,
    options: dict[str, Any],
    capacity: float | None,
    by_page: bool,
) -> None:
    vectors, mask = pages(*lengths, width=width)
    vectors = 2 * vectors.double() + 0.5
    layers = [reference_switch.drawn(width=width, inner=inner, experts=experts, seed=seed) for seed in range(2)]
    encoder = switch_of(layers, width=width, heads=heads, inner=inner, experts=experts, balance=0.3, **options).train(training)
    xs = [vectors[place, :length].numpy() + reference.sinusoid(length, width) for place, length in enumerate(lengths)]
    expected, imbalance = reference_switch.switch_pages(xs, layers, heads=heads, capacity=capacity, by_page=by_page)
    for learning in (True, False):
        with torch.set_grad_enabled(learning):
            out = encoder(vectors, mask).detach().numpy()
        for place, length in enumerate(lengths):
            np.testing.assert_allclose(out[place, :length], expected[place], rtol=0, atol=1e-9)
            assert (out[place, length:] == 0).all()
        np.testing.assert_allclose(
            torch.as_tensor(encoder.auxiliary_loss).item(), 0.3 * imbalance if training else 0, rtol=0, atol=1e-9
        )


def test_one_expert_with_room_for_all_is_the_transformer() -> None:
    encoder = built(experts=1)
    transformer = build_encoder("transformer", width=16, depth=2, heads=4, inner=32)
    state = {
        key.replace("switch.", ""): value.squeeze(0).T if value.ndim == 3 else value.squeeze(0)
        for key, value in encoder.state_dict().items()
        if "router" not in key
    }
    renamed = {"widen_bias": "widen.bias", "narrow_bias": "narrow.bias", "widen": "widen.weight", "narrow": "narrow.weight"}
    for key in list(state):
        front, _, last = key.rpartition(".")
        if last in renamed:
            state[f"{front}.{renamed[last]}"] = state.pop(key)
    transformer.load_state_dict(state)
    batch = pages(9, 4, 1)
    for training in (True, False):
        torch.testing.assert_close(encoder.train(training)(*batch), transformer(*batch), rtol=0, atol=1e-5)


def test_gradients_reach_every_parameter_of_both_experts() -> None:
    encoder = built(experts=2, capacity=2.0).double().train()
    vectors, mask = pages(12, 7, 9, 12)
    out = encoder(vectors.double(), mask)
    (out * torch.linspace(-1, 1, 16, dtype=torch.float64)).sum().add(encoder.auxiliary_loss).backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        if "switch" in name:
            assert (parameter.grad.flatten(1).abs().amax(1) > 0).all() if parameter.ndim > 1 else parameter.grad.any(), name
        assert parameter.grad.abs().max() > 0, name


def test_the_gradient_of_the_experts_passes_a_numerical_check_and_is_zero_for_those_not_used() -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = ((5, 3), (4, 3, 2), (4, 2), (4, 2, 3), (4, 3))
    y, *parameters = (torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes)
    chosen = torch.tensor([0, 0, 1, 3, 3])
    assert torch.autograd.gradcheck(lambda y, *p: _Experts.apply(y, chosen, *p), (y, *parameters))
    _Experts.apply(y, chosen, *parameters).sum().backward()
    for parameter in parameters:
        assert parameter.grad is not None
        assert (parameter.grad.flatten(1).abs().amax(1) > 0).tolist() == [True, True, False, True]


def test_the_balance_is_least_where_all_experts_have_an_even_share() -> None:
    even, all_to_one = [[5.0, 0], [0, 5.0]] * 3, [[5.0, 0]] * 6
    losses = [toy(logits).train()(column(*range(6)), real("xxxxxx"))[1].item() for logits in (even, all_to_one)]
    assert losses[0] == pytest.approx(1.0)
    assert losses[1] > 1.9


def test_the_auxiliary_loss_is_that_of_the_last_training_forward_alone() -> None:
    encoder = built().train()
    batch = pages(8, 5)
    assert encoder.auxiliary_loss == 0
    encoder(*batch)
    loss = encoder.auxiliary_loss
    assert isinstance(loss, Tensor)
    assert 0.02 <= loss.item() < 0.08
    loss.backward()
    router: Any = encoder.layers[0].switch.router  # type: ignore[union-attr]
    assert router.weight.grad.abs().max() > 0
    encoder.eval()
    assert encoder.auxiliary_loss == 0
    encoder(*batch)
    assert encoder.train().auxiliary_loss == 0
    twice = built(balance=0.02).train()
    twice(*batch)
    assert torch.as_tensor(twice.auxiliary_loss).item() == pytest.approx(2 * loss.item())


def test_it_can_be_copied_after_a_training_forward() -> None:
    encoder = built().train()
    batch = pages(8, 5)
    out = encoder(*batch)
    other = copy.deepcopy(encoder)
    assert other.auxiliary_loss == 0
    assert isinstance(encoder.auxiliary_loss, Tensor)
    assert torch.equal(other(*batch), out)


@pytest.mark.parametrize(
    ("options", "training"),
    [
        ({"grouping": "page"}, True),
        ({"grouping": "page"}, False),
        ({"grouping": "page", "drop_in_evaluation": True}, False),
        ({}, False),
    ],
    ids=str,
)
def test_pages_routed_apart_and_evaluated_pages_do_not_depend_on_their_batch(options: dict[str, Any], training: bool) -> None:
    encoder = built(**options).train(training)
    lengths = (9, 1, 12, 4)
    vectors, mask = pages(*lengths)
    together = encoder(vectors, mask)
    for place, length in enumerate(lengths):
        alone = encoder(vectors[place : place + 1, :length], mask[place : place + 1, :length])
        torch.testing.assert_close(alone[0], together[place, :length], rtol=0, atol=1e-5)


def test_pages_routed_together_displace_each_others_tokens_in_training() -> None:
    encoder = built().train()
    vectors, mask = pages(12, 12)
    together = encoder(vectors, mask)
    assert float((encoder(vectors[1:], mask[1:])[0] - together[1]).detach().abs().max()) > 0.01


def test_noise_acts_on_the_router_in_training_only_and_by_the_seed() -> None:
    batch = pages(12, 7)
    encoder = built(noise=0.5)
    assert torch.equal(encoder.eval()(*batch), built().eval()(*batch))
    encoder.train()
    outs = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        outs.append(encoder(*batch))
    assert torch.equal(outs[0], outs[1])
    assert not torch.allclose(outs[0], outs[2], atol=1e-3)
    seen: list[Tensor] = []
    layer = SwitchFeedForward(4, 4, experts=2, noise=0.1).train()
    layer.router.register_forward_hook(lambda module, given, out: seen.append(given[0]))
    layer(torch.full((1, 500, 4), 2.0), torch.ones(1, 500, dtype=torch.bool))
    assert 1.8 <= float(seen[0].min()) < 1.81
    assert 2.19 < float(seen[0].max()) <= 2.2


@pytest.mark.parametrize("training", [True, False])
def test_fifty_experts_multiply_hardly_more_than_one(training: bool) -> None:
    operations = {}
    for experts in (1, 50):
        encoder = built(depth=1, width=32, inner=128, experts=experts, capacity=100.0).train(training)
        with FlopCounterMode(display=False) as counter:
            encoder(*pages(47, 20, width=32)).square().sum().backward()
        operations[experts] = counter.get_total_flops()
    of_experts = 3 * 2 * 67 * 2 * 32 * 128
    assert operations[1] > of_experts
    assert operations[50] < operations[1] + of_experts / 4


def test_a_batch_without_tokens_is_nothing_and_trains_nothing() -> None:
    for training in (True, False):
        encoder = built().train(training)
        vectors, mask = pages(4, 2)
        out = encoder(vectors, torch.zeros_like(mask))
        assert not out.any()
        out.sum().add(encoder.auxiliary_loss).backward()
        assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in encoder.parameters())
        assert encoder.auxiliary_loss == 0


def test_every_matrix_of_every_expert_has_its_own_glorot_start() -> None:
    encoder = built(width=128, depth=1, heads=4, inner=512, experts=50)
    layer: Any = encoder.layers[0]
    square = [*layer.query_key_value.weight.split(128), layer.out.weight]
    for weight, limit in [
        *((each, 0.15309) for each in square),
        *((each, 0.09682) for each in (*layer.switch.widen, *layer.switch.narrow)),
        (layer.switch.router.weight, math.sqrt(6 / 178)),
    ]:
        assert limit * 0.995 < weight.abs().max() < limit * 1.0001
        assert abs(weight.std().item() * math.sqrt(3) / limit - 1) < 0.02
    assert not torch.equal(layer.switch.widen[0], layer.switch.widen[1])
    for bias in (layer.switch.widen_bias, layer.switch.narrow_bias, layer.switch.router.bias):
        assert not bias.any()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"experts": 0}, "experts 0 is not"),
        ({"capacity": 0.0}, "capacity 0.0 is not"),
        ({"capacity": math.inf}, "capacity inf is not"),
        ({"capacity": math.nan}, "capacity nan is not"),
        ({"balance": -0.1}, "balance -0.1 is not"),
        ({"balance": math.nan}, "balance nan is not"),
        ({"grouping": "pages"}, "'pages' is not a grouping"),
        ({"noise": 1.0}, "noise 1.0 is not"),
        ({"noise": -0.1}, "noise -0.1 is not"),
        ({"drop_in_evaluation": True}, "drop_in_evaluation True with grouping 'batch'"),
    ],
    ids=str,
)
def test_values_that_make_no_switch_are_the_users_mistake(options: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        built(**options)
    assert caught.value.todo


def test_it_can_be_built_without_memory() -> None:
    with torch.device("meta"):
        encoder = built(width=2, depth=1, heads=1, inner=2)
    assert all(tensor.is_meta for tensor in encoder.state_dict().values())
