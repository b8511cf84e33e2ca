"""The chain: marginals, likelihood and forbidden transitions of a CRF, against all labellings one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.heads.labellings import WEIGHTS, fits, labellings, marginals_of, scales, seeds

from batag.heads.numpy_heads import ChainWeights
from batag.heads.torch_heads import Chain, Scores
from batag.labels.scheme import IGNORED, Scheme

BIO = Scheme("bio", ("goods", "brand"))


def made(labels: int, *, seed: int = 0, scale: float = 1.0) -> Chain:
    torch.manual_seed(seed)
    chain = Chain(labels).double()
    for parameter in chain.parameters():
        torch.nn.init.normal_(parameter, std=scale)
    return chain


def weights_of(chain: Chain) -> dict[str, NDArray[np.float64]]:
    return {name: getattr(chain, name).detach().numpy() for name in WEIGHTS}


def mask_of(lengths: list[int]) -> torch.Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


@pytest.mark.parametrize(("labels", "lengths"), [(2, [1]), (3, [5, 3, 1, 4]), (4, [4, 4]), (1, [3]), (5, [2, 0, 3])])
def test_the_marginals_are_those_of_all_labellings(labels: int, lengths: list[int]) -> None:
    chain = made(labels)
    logits = torch.randn(len(lengths), max(lengths), labels, dtype=torch.float64)
    found = chain(logits, mask_of(lengths)).log_marginals().exp().detach().numpy()
    for row, length in enumerate(lengths):
        if length:
            expected = marginals_of(labellings(logits[row, :length].numpy(), weights_of(chain)), labels)
            np.testing.assert_allclose(found[row, :length], expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(-1), 1.0, atol=1e-12)


def test_a_fresh_chain_changes_nothing() -> None:
    logits = torch.randn(2, 7, 4)
    mask = torch.tensor([[True] * 7, [True] * 3 + [False] * 4])
    found = Chain(4)(logits, mask).log_marginals()
    torch.testing.assert_close(found[mask], torch.log_softmax(logits, -1)[mask])


def test_padding_and_batch_mates_do_not_matter() -> None:
    chain = made(3)
    alone = torch.randn(1, 4, 3, dtype=torch.float64)
    wide = torch.cat((alone, torch.randn(1, 5, 3, dtype=torch.float64) * 100), dim=1)
    batch = torch.cat((wide, torch.randn(2, 9, 3, dtype=torch.float64)))
    together = chain(batch, mask_of([4, 9, 2]))
    single = chain(alone, torch.ones(1, 4, dtype=torch.bool))
    torch.testing.assert_close(together.log_marginals()[0, :4], single.log_marginals()[0])
    torch.testing.assert_close(together.log_probabilities((1, 2)).exp()[0, :4], single.log_probabilities((1, 2)).exp()[0])
    labels = torch.tensor([[0, 1, 2, 1] + 5 * [IGNORED], 9 * [0], [1, 1] + 7 * [IGNORED]])
    torch.testing.assert_close(together.log_likelihood(labels)[:1], single.log_likelihood(labels[:1, :4]))


def test_gradients_reach_logits_and_all_weights() -> None:
    chain = made(3)
    logits = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, True, False]])
    labels = torch.tensor([[0, 1, IGNORED], [2, 2, IGNORED]])
    assert torch.autograd.gradcheck(lambda values: chain(values, mask).log_marginals()[mask], (logits,))
    assert torch.autograd.gradcheck(lambda values: chain(values, mask).log_likelihood(labels), (logits,))
    scores = chain(logits, mask)
    for value in (scores.log_marginals()[mask][:, 0].sum(), scores.log_likelihood(labels).sum()):
        chain.zero_grad()
        value.backward(retain_graph=True)
        for parameter in chain.parameters():
            assert parameter.grad is not None
            assert torch.isfinite(parameter.grad).all()
            assert parameter.grad.abs().sum() > 0


def test_extreme_logits_and_long_pages_stay_finite() -> None:
    chain = Chain(3)
    chain.forbid([[], [], [1, 2]])
    logits = torch.randn(1, 2000, 3) * 1000
    logits[0, 5] = torch.tensor([1e4, -1e4, 0.0])
    scores = chain(logits, torch.ones(1, 2000, dtype=torch.bool))
    assert torch.isfinite(scores.log_marginals().exp()).all()
    assert torch.isfinite(scores.log_probabilities((2, 2)).exp()).all()
    assert torch.isfinite(scores.log_likelihood(logits.argmax(-1))).all()


def test_no_tokens_at_all() -> None:
    scores = Chain(3)(torch.zeros(2, 0, 3), torch.zeros(2, 0, dtype=torch.bool))
    assert scores.log_marginals().shape == (2, 0, 3)
    assert scores.log_probabilities((1, 2)).exp().shape[:2] == (2, 0)


def test_a_page_of_256_tokens_is_exact_in_single_precision_and_the_same_in_any_batch() -> None:
    chain = made(5)
    logits = torch.randn(3, 256, 5, dtype=torch.float64) * 8
    mask = mask_of([256, 200, 31])
    exact = chain(logits, mask).log_probabilities(BIO.continuation).exp()
    single = chain.float()(logits.float(), mask).log_probabilities(BIO.continuation).exp()
    alone = chain(logits[1:2, :200].float(), mask[1:2, :200]).log_probabilities(BIO.continuation).exp()
    torch.testing.assert_close(single.double()[mask], exact[mask], atol=1e-5, rtol=0)
    torch.testing.assert_close(single[1, :200], alone[0], atol=1e-5, rtol=0)
    weights = ChainWeights(*(each.astype(np.float64) for each in weights_of(chain).values()))
    by_numpy = weights.rows(logits.numpy(), mask.numpy(), BIO.continuation)
    np.testing.assert_allclose(by_numpy[mask.numpy()], exact[mask].detach().numpy(), atol=1e-5)


@given(data=st.data(), labels=st.integers(1, 4), scale=scales, seed=seeds)
def test_the_likelihood_is_the_share_of_all_labellings_that_fit(
    data: st.DataObject, labels: int, scale: float, seed: int
) -> None:
    known = st.integers(IGNORED, labels - 1)
    pages = data.draw(st.lists(st.lists(known, min_size=1, max_size=4), min_size=1, max_size=3))
    chain = made(labels, seed=seed, scale=scale)
    lengths = [len(page) for page in pages]
    logits = torch.randn(len(pages), max(lengths), labels, dtype=torch.float64) * scale
    targets = torch.tensor([page + [IGNORED] * (max(lengths) - len(page)) for page in pages])
    found = chain(logits, mask_of(lengths)).log_likelihood(targets)
    plain = Scores(logits, mask_of(lengths)).log_likelihood(targets)
    for row, page in enumerate(pages):
        for value, weights in ((found[row], weights_of(chain)), (plain[row], None)):
            logs = labellings(logits[row, : len(page)].numpy(), weights)
            expected = np.logaddexp.reduce([log for path, log in logs.items() if fits(path, page)])
            assert value.item() == pytest.approx(expected, abs=1e-9)
            assert value.item() <= 1e-9


def test_a_page_without_any_label_or_token_says_nothing() -> None:
    chain = made(3)
    logits = torch.randn(2, 4, 3, dtype=torch.float64)
    found = chain(logits, mask_of([4, 0])).log_likelihood(torch.full((2, 4), IGNORED))
    torch.testing.assert_close(found, torch.zeros(2, dtype=torch.float64))


def test_forbidden_transitions_start_low_and_all_others_at_zero() -> None:
    chain = Chain(len(BIO.labels))
    chain.forbid(BIO.allowed_before)
    low = {(before, after) for before, after in torch.nonzero(chain.transitions).tolist()}
    assert low == {(before, 2) for before in (0, 3, 4)} | {(before, 4) for before in (0, 1, 2)}
    assert torch.nonzero(chain.starts).flatten().tolist() == [2, 4]
    assert {*chain.transitions[chain.transitions != 0].tolist(), *chain.starts[chain.starts != 0].tolist()} == {-10.0}
    assert not chain.ends.any()
    flat = Chain(3)
    flat.forbid(Scheme("flat", ("goods", "brand")).allowed_before)
    assert not flat.transitions.any()
    assert not flat.starts.any()


def test_a_chain_that_forbids_hardly_gives_an_inside_without_a_begin_and_may_learn_otherwise() -> None:
    chain = Chain(len(BIO.labels)).double()
    chain.forbid(BIO.allowed_before)
    logits = torch.zeros(1, 3, 5, dtype=torch.float64)
    found = chain(logits, torch.ones(1, 3, dtype=torch.bool)).log_marginals().exp()[0]
    assert (found[0, [2, 4]] < 1e-3).all()
    assert (found[1:, [2, 4]] > 0.05).all()
    assert all(parameter.requires_grad for parameter in chain.parameters())
