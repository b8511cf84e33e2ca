"""The contract of all heads: token marginals [L, C]; torch, NumPy and every labelling one by one agree."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import nn

from batag.encoders.input import tensors
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import Vocabulary
from batag.heads.numpy_heads import ChainWeights, NumpyHeads, chain_marginals, softmax, window_scores
from batag.heads.torch_heads import Chain, WindowCRF, linear_head

Doubles = NDArray[np.float64]
Marginals = list[Doubles]
LABELS, WIDTH = 3, 4
PAGES = [["red", "coat", "by", "Nordvik"], ["coat"], ["東京", "の", "鞄"]]


def drawn(module: nn.Module, *, scale: float, seed: int) -> dict[str, Doubles]:
    """Weights of a head by chance, in float64."""
    generator = np.random.default_rng(seed)
    with torch.no_grad():
        for parameter in module.double().parameters():
            if parameter.ndim:
                parameter.copy_(torch.from_numpy(generator.normal(size=tuple(parameter.shape)) * scale))
    return {name: value.detach().numpy() for name, value in module.named_parameters()}


def padded(pages: list[Doubles]) -> tuple[Doubles, NDArray[np.bool_]]:
    lengths = np.array(list(map(len, pages)))
    mask = np.arange(lengths.max()) < lengths[:, None]
    values = np.full((*mask.shape, pages[0].shape[1]), 7.0)  # what stands at padding must not matter
    values[mask] = np.concatenate(pages)
    return values, mask


def by_enumeration(scores_LC: Doubles, weights: dict[str, Doubles]) -> Doubles:
    """The probability of each label at each place, summed over every labelling."""
    length, labels = scores_LC.shape
    logs = np.zeros((labels,) * length)
    for path in product(range(labels), repeat=length):
        score = weights["starts"][path[0]] + weights["ends"][path[-1]]
        score += sum(scores_LC[place, label] for place, label in enumerate(path))
        logs[path] = score + sum(weights["transitions"][one, other] for one, other in pairwise(path))
    chances = np.exp(logs - logs.max())
    rows = [chances.sum(tuple(other for other in range(length) if other != place)) for place in range(length)]
    return np.stack(rows) / chances.sum()


def linear(scale: float, seed: int) -> tuple[Marginals, Marginals, Marginals]:
    head = linear_head(WIDTH, LABELS)
    weights = drawn(head, scale=scale, seed=seed)
    vectors = [np.random.default_rng(seed + 1).normal(size=(len(page), WIDTH)) for page in PAGES]
    values, mask = padded(vectors)
    logits = head(torch.from_numpy(values))
    by_torch = torch.log_softmax(logits, -1).exp().detach().numpy()
    by_numpy = softmax(logits.detach().numpy())
    alone = []
    for page in vectors:
        chances = np.array(
            [[np.exp(row @ vector + bias) for row, bias in zip(*weights.values(), strict=True)] for vector in page]
        )
        alone.append(chances / chances.sum(1, keepdims=True))
    return [each[own] for each, own in zip(by_torch, mask, strict=True)], list(by_numpy), alone


def chain(scale: float, seed: int) -> tuple[Marginals, Marginals, Marginals]:
    head = Chain(LABELS)
    weights = drawn(head, scale=scale, seed=seed)
    scores = [np.random.default_rng(seed + 1).normal(size=(len(page), LABELS)) * scale for page in PAGES]
    values, mask = padded(scores)
    by_torch = head(torch.from_numpy(values), torch.from_numpy(mask)).exp().detach().numpy()
    (by_numpy,) = chain_marginals([ChainWeights(weights, labels=LABELS)], [values], mask)  # type: ignore[arg-type, list-item]
    return list(by_torch), list(by_numpy), [by_enumeration(page, weights) for page in scores]


def window_crf(scale: float, seed: int) -> tuple[Marginals, Marginals, Marginals]:
    head = WindowCRF(LABELS, side=2, buckets=50)
    weights = drawn(head, scale=scale, seed=seed)
    featurizer = Featurizer(vocabulary=Vocabulary([]), window=2, window_buckets=50)
    batch = featurizer.batch(PAGES)
    by_torch = head(tensors(batch, torch.device("cpu"))).exp().detach().numpy()
    words = sorted({word for page in PAGES for word in page})
    of_word = {word: [weights["weights"][rows].sum(0) for rows in featurizer.features(word).window] for word in words}
    table = np.stack([weights["edge"], *(np.stack(of_word[word]) for word in words)])
    rows = np.zeros(batch.mask.shape, dtype=np.int64)
    for own, page in zip(rows, PAGES, strict=True):
        own[: len(page)] = [1 + words.index(word) for word in page]
    scores = window_scores(rows, table)  # type: ignore[arg-type]
    links = {name.removeprefix("chain."): value for name, value in weights.items() if name.startswith("chain.")}
    (by_numpy,) = chain_marginals([ChainWeights(links, labels=LABELS)], [scores], batch.mask)  # type: ignore[arg-type]
    alone = []
    for page in PAGES:
        own = np.zeros((len(page), LABELS))
        for place in range(len(page)):
            for step in range(-2, 3):
                inside = 0 <= place + step < len(page)
                own[place] += of_word[page[place + step]][step + 2] if inside else weights["edge"][step + 2]
        alone.append(by_enumeration(own, links))
    return list(by_torch), list(by_numpy), alone


HEADS: list[Callable[[float, int], tuple[Marginals, Marginals, Marginals]]] = [linear, chain, window_crf]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
@given(scale=st.sampled_from([0.1, 1.0, 5.0]), seed=st.integers(0, 1000))
def test_torch_numpy_and_brute_force_give_the_same_marginals(head: Callable[..., object], scale: float, seed: int) -> None:
    by_torch, by_numpy, alone = head(scale, seed)  # type: ignore[misc]
    for one, other, expected in zip(by_torch, by_numpy, alone, strict=True):
        length = len(expected)
        np.testing.assert_allclose(one[:length], expected, atol=1e-9)
        np.testing.assert_allclose(other[:length], expected, atol=1e-5)
        np.testing.assert_allclose(expected.sum(1), 1)


def test_the_heads_of_a_bundle_mix_by_the_mixing_weight() -> None:
    generator = np.random.default_rng(0)
    arrays = {}
    for prefix in ("chain", "window_crf.chain"):
        drawn_here = drawn(Chain(LABELS), scale=1.0, seed=len(prefix))
        arrays |= {f"{prefix}.{name}": value.astype(np.float32) for name, value in drawn_here.items()}
    arrays["window_crf.mixing_weight"] = np.array(0.25, dtype=np.float32)
    logits, scores = (generator.normal(size=(2, 4, LABELS)).astype(np.float32) for _ in range(2))
    mask = np.array([[True] * 4, [True, True, False, False]])
    own, other = (ChainWeights(arrays, f"{prefix}.", labels=LABELS) for prefix in ("chain", "window_crf.chain"))
    one, two = chain_marginals([own, other], [logits, scores], mask)
    expected = one**0.75 * two**0.25
    expected /= expected.sum(-1, keepdims=True)
    found = NumpyHeads(arrays, labels=LABELS, chain=True, window_crf=True)(logits, scores, mask)
    np.testing.assert_allclose(found[mask], expected[mask], atol=1e-6)
    np.testing.assert_allclose(NumpyHeads(arrays, labels=LABELS, chain=False, window_crf=False)(logits, scores, mask),
                               softmax(logits.astype(float)), atol=1e-6)  # fmt: skip
