"""The contract of all heads: for each token a row of marginals and, with a chain, of probabilities of continuing each label;
torch, NumPy and every labelling one by one agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.heads.labellings import Doubles, labellings, rows_of, scales, seeds
from torch import nn

from batag.encoders.input import tensors
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import Vocabulary
from batag.heads.numpy_heads import ChainWeights, NumpyHeads, softmax, window_scores
from batag.heads.torch_heads import Chain, Scores, WindowCRF, linear_head
from batag.labels.scheme import Scheme

Rows = list[Doubles]
SCHEMES = [Scheme("flat", ("goods", "brand")), Scheme("bio", ("goods",))]
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


def linear(scheme: Scheme, scale: float, seed: int) -> tuple[Rows, Rows, Rows]:
    head = linear_head(WIDTH, LABELS)
    weights = drawn(head, scale=scale, seed=seed)
    vectors = [np.random.default_rng(seed + 1).normal(size=(len(page), WIDTH)) for page in PAGES]
    values, mask = padded(vectors)
    logits = head(torch.from_numpy(values))
    by_torch = Scores(logits, torch.from_numpy(mask)).log_probabilities(scheme.continuation).exp().detach().numpy()
    by_numpy = softmax(logits.detach().numpy())
    alone = []
    for page in vectors:
        chances = np.array(
            [[np.exp(row @ vector + bias) for row, bias in zip(*weights.values(), strict=True)] for vector in page]
        )
        alone.append(chances / chances.sum(1, keepdims=True))
    return list(by_torch), list(by_numpy), alone


def chain(scheme: Scheme, scale: float, seed: int) -> tuple[Rows, Rows, Rows]:
    head = Chain(LABELS)
    weights = drawn(head, scale=scale, seed=seed)
    scores = [np.random.default_rng(seed + 1).normal(size=(len(page), LABELS)) * scale for page in PAGES]
    values, mask = padded(scores)
    by_torch = (
        head(torch.from_numpy(values), torch.from_numpy(mask)).log_probabilities(scheme.continuation).exp().detach().numpy()
    )
    by_numpy = chain_of(weights).rows(values, mask, scheme.continuation)
    return list(by_torch), list(by_numpy), [rows_of(labellings(page, weights), scheme) for page in scores]


def window_crf(scheme: Scheme, scale: float, seed: int) -> tuple[Rows, Rows, Rows]:
    head = WindowCRF(LABELS, side=2, buckets=50)
    weights = drawn(head, scale=scale, seed=seed)
    featurizer = Featurizer(vocabulary=Vocabulary([]), window=2, window_buckets=50)
    batch = featurizer.batch(PAGES)
    by_torch = head(tensors(batch, torch.device("cpu"))).log_probabilities(scheme.continuation).exp().detach().numpy()
    words = sorted({word for page in PAGES for word in page})
    of_word = {word: [weights["weights"][rows].sum(0) for rows in featurizer.features(word).window] for word in words}
    table = np.stack([weights["edge"], *(np.stack(of_word[word]) for word in words)])
    rows = np.zeros(batch.mask.shape, dtype=np.int64)
    for own, page in zip(rows, PAGES, strict=True):
        own[: len(page)] = [1 + words.index(word) for word in page]
    scores = window_scores(rows, table)  # type: ignore[arg-type]
    links = {name.removeprefix("chain."): value for name, value in weights.items() if name.startswith("chain.")}
    by_numpy = chain_of(links).rows(scores.astype(np.float64), batch.mask, scheme.continuation)
    alone = []
    for page in PAGES:
        own = np.zeros((len(page), LABELS))
        for place in range(len(page)):
            for step in range(-2, 3):
                inside = 0 <= place + step < len(page)
                own[place] += of_word[page[place + step]][step + 2] if inside else weights["edge"][step + 2]
        alone.append(rows_of(labellings(own, links), scheme))
    return list(by_torch), list(by_numpy), alone


def chain_of(weights: dict[str, Doubles], prefix: str = "") -> ChainWeights:
    return ChainWeights.of(weights, prefix, labels=LABELS)  # type: ignore[arg-type]


HEADS: list[Callable[[Scheme, float, int], tuple[Rows, Rows, Rows]]] = [linear, chain, window_crf]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
@given(scheme=st.sampled_from(SCHEMES), scale=scales, seed=seeds)
def test_torch_numpy_and_brute_force_give_the_same_rows(
    head: Callable[[Scheme, float, int], tuple[Rows, Rows, Rows]], scheme: Scheme, scale: float, seed: int
) -> None:
    by_torch, by_numpy, alone = head(scheme, scale, seed)
    for one, other, expected in zip(by_torch, by_numpy, alone, strict=True):
        length = len(expected)
        assert one.shape[1] == other.shape[1] == expected.shape[1] == (LABELS if head is linear else 2 * LABELS - 1)
        known = ~np.isnan(expected)
        np.testing.assert_allclose(one[:length][known], expected[known], atol=1e-9)
        np.testing.assert_allclose(other[:length][known], expected[known], atol=1e-5)
        # Both are the same also where no token stands before.
        np.testing.assert_allclose(one[:length], other[:length], atol=1e-5)
        np.testing.assert_allclose(expected[:, :LABELS].sum(1), 1)


def arrays_of_a_bundle(mixing_weight: float) -> dict[str, Doubles]:
    arrays = {}
    for prefix in ("chain", "window_crf.chain"):
        drawn_here = drawn(Chain(LABELS), scale=1.0, seed=len(prefix))
        arrays |= {f"{prefix}.{name}": value for name, value in drawn_here.items()}
    arrays["window_crf.mixing_weight"] = np.array(mixing_weight)
    return arrays


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("own", [True, False], ids=["with chain", "without chain"])
@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_the_heads_of_a_bundle_are_one_chain_of_the_weighted_scores(scheme: Scheme, own: bool, weight: float) -> None:
    arrays = arrays_of_a_bundle(weight)
    logits, scores = np.random.default_rng(0).normal(size=(2, 2, 4, LABELS))
    mask = np.array([[True] * 4, [True, True, False, False]])
    heads = NumpyHeads(arrays, continuation=scheme.continuation, chain=own, window_crf=True)  # type: ignore[arg-type]
    found = heads(logits.astype(np.float32), scores.astype(np.float32), mask)
    mixed = {
        name: (1 - weight) * own * arrays[f"chain.{name}"] + weight * arrays[f"window_crf.chain.{name}"]
        for name in ("transitions", "starts", "ends")
    }
    for row, one, other, real in zip(found, logits, scores, mask, strict=True):
        expected = rows_of(labellings(((1 - weight) * one + weight * other)[real], mixed), scheme)
        known = ~np.isnan(expected)
        np.testing.assert_allclose(row[real][known], expected[known], atol=1e-6)


@pytest.mark.parametrize("chain", [True, False], ids=["chain", "linear"])
def test_the_heads_of_a_bundle_without_a_window_crf_take_the_logits_alone(chain: bool) -> None:
    arrays, (scheme, _) = arrays_of_a_bundle(0.25), SCHEMES
    logits, scores = np.random.default_rng(0).normal(size=(2, 2, 4, LABELS)).astype(np.float32)
    mask = np.ones((2, 4), dtype=bool)
    heads = NumpyHeads(arrays, continuation=scheme.continuation, chain=chain, window_crf=False)  # type: ignore[arg-type]
    found = heads(logits, scores, mask)
    if not chain:
        np.testing.assert_allclose(found, softmax(logits.astype(float)), atol=1e-6)
        return
    links = {name.removeprefix("chain."): value for name, value in arrays.items() if name.startswith("chain.")}
    for row, own in zip(found, logits, strict=True):
        expected = rows_of(labellings(own.astype(float), links), scheme)
        np.testing.assert_allclose(row[1:], expected[1:], atol=1e-6)
