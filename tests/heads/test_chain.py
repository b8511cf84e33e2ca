"""The chain: marginals of a CRF, against all labellings one by one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from batag.heads.torch_heads import Chain

Floats = NDArray[np.float64]


def by_enumeration(logits_LC: Floats, transitions: Floats, starts: Floats, ends: Floats) -> Floats:
    """The probability of each label at each place, summed over every labelling."""
    length, labels = logits_LC.shape
    marginals = np.zeros((length, labels))
    for path in product(range(labels), repeat=length):
        score = starts[path[0]] + ends[path[-1]] + sum(logits_LC[place, label] for place, label in enumerate(path))
        score += sum(transitions[one, other] for one, other in pairwise(path))
        for place, label in enumerate(path):
            marginals[place, label] += np.exp(score)
    return marginals / marginals.sum(1, keepdims=True)


def made(labels: int, *, seed: int = 0) -> Chain:
    torch.manual_seed(seed)
    chain = Chain(labels).double()
    for parameter in chain.parameters():
        torch.nn.init.normal_(parameter)
    return chain


@pytest.mark.parametrize(("labels", "lengths"), [(2, [1]), (3, [5, 3, 1, 4]), (4, [4, 4]), (1, [3]), (5, [2, 0, 3])])
def test_the_marginals_are_those_of_all_labellings(labels: int, lengths: list[int]) -> None:
    chain = made(labels)
    logits = torch.randn(len(lengths), max(lengths), labels, dtype=torch.float64)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    found = chain(logits, mask).exp().detach().numpy()
    weights = [value.detach().numpy() for value in (chain.transitions, chain.starts, chain.ends)]
    for row, length in enumerate(lengths):
        if length:
            np.testing.assert_allclose(found[row, :length], by_enumeration(logits[row, :length].numpy(), *weights), atol=1e-12)
    np.testing.assert_allclose(found.sum(-1), 1.0, atol=1e-12)


def test_a_fresh_chain_changes_nothing() -> None:
    logits = torch.randn(2, 7, 4)
    mask = torch.tensor([[True] * 7, [True] * 3 + [False] * 4])
    torch.testing.assert_close(Chain(4)(logits, mask)[mask], torch.log_softmax(logits, -1)[mask])


def test_padding_and_batch_mates_do_not_matter() -> None:
    chain = made(3)
    alone = torch.randn(1, 4, 3, dtype=torch.float64)
    wide = torch.cat((alone, torch.randn(1, 5, 3, dtype=torch.float64) * 100), dim=1)
    batch = torch.cat((wide, torch.randn(2, 9, 3, dtype=torch.float64)))
    mask = torch.tensor([[True] * 4 + [False] * 5, [True] * 9, [True] * 2 + [False] * 7])
    torch.testing.assert_close(chain(batch, mask)[0, :4], chain(alone, torch.ones(1, 4, dtype=torch.bool))[0])


def test_gradients_reach_logits_and_all_weights() -> None:
    chain = made(3)
    logits = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert torch.autograd.gradcheck(lambda values: chain(values, mask)[mask], (logits,))
    chain(logits, mask)[mask][:, 0].sum().backward()
    for parameter in chain.parameters():
        assert parameter.grad is not None
        assert torch.isfinite(parameter.grad).all()
        assert parameter.grad.abs().sum() > 0


def test_extreme_logits_and_long_pages_stay_finite() -> None:
    chain = Chain(3)
    logits = torch.randn(1, 2000, 3) * 1000
    logits[0, 5] = torch.tensor([1e4, -1e4, 0.0])
    assert torch.isfinite(chain(logits, torch.ones(1, 2000, dtype=torch.bool)).exp()).all()


def test_no_tokens_at_all() -> None:
    assert Chain(3)(torch.zeros(2, 0, 3), torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0, 3)


def test_a_page_of_256_tokens_is_exact_in_single_precision_and_the_same_in_any_batch() -> None:
    chain = made(5)
    logits = torch.randn(3, 256, 5, dtype=torch.float64) * 8
    mask = torch.arange(256) < torch.tensor([256, 200, 31])[:, None]
    exact = chain(logits, mask).exp()
    single = chain.float()(logits.float(), mask).exp()
    alone = chain(logits[1:2, :200].float(), mask[1:2, :200]).exp()
    torch.testing.assert_close(single.double()[mask], exact[mask], atol=1e-5, rtol=0)
    torch.testing.assert_close(single[1, :200], alone[0], atol=1e-5, rtol=0)
