"""The window CRF, against NumPy and all labellings one by one; mixed with the encoder by its mixing weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.heads.labellings import WEIGHTS, Doubles, labellings, marginals_of

from batag.encoders.input import tensors
from batag.features.featurizer import Batch, Featurizer
from batag.features.vocabulary import Vocabulary
from batag.features.word import window_features
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.heads.torch_heads import WindowCRF
from batag.segmentation.speech import parts_of_speech

ENCODER = {"name": "transformer", "width": 8, "depth": 1, "heads": 2, "inner": 8}
PAGES = [["Nordvik", "wool", "coat", "XL"], ["東京", "の", "鞄"], ["coat"], ["t恤", "女", "120cm", "Nordvik", "wool", "coat"]]
CHARACTERS = [list("東京の鞄は青い")]


def classifier(*, kind: str = "rich", side: int = 2, buckets: int = 97, labels: int = 3, **head: Any) -> TokenClassifier:
    torch.manual_seed(0)
    input = (
        {"kind": kind, "ngram_buckets": 50, "shape_buckets": 20, "part_of_speech_buckets": 20}
        if kind == "rich"
        else {"kind": kind}
    )
    options = {"chain": True, "window_crf": side, "window_crf_buckets": buckets} | head
    featurizer = Featurizer.build(Vocabulary(["coat", "wool", "鞄"]), input=input, head=options)
    model = build_classifier(featurizer, labels=labels, input=input, encoder=ENCODER, head=options)
    if model.window_crf is not None:
        for parameter in model.window_crf.parameters():
            if parameter.ndim:
                torch.nn.init.normal_(parameter)
    return model.double().eval()


def batch_of(model: TokenClassifier, pages: Sequence[Sequence[str]]) -> Batch[torch.Tensor]:
    return tensors(model.featurizer.batch(pages), torch.device("cpu"))


def by_hand(crf: WindowCRF, keys: list[Any]) -> Doubles:
    """Marginals [L,C] with loops: every feature of every place, then every labelling."""
    weights = {name: value.numpy() for name, value in crf.state_dict().items()}
    scores = np.zeros((len(keys), weights["weights"].shape[1]))
    for place in range(len(keys)):
        for step in range(-crf.side, crf.side + 1):
            if not 0 <= place + step < len(keys):
                scores[place] += weights["edge"][step + crf.side]
                continue
            key = keys[place + step]
            own, near, far = window_features(key, parts_of_speech(key if isinstance(key, str) else key[1]))
            for feature in (own, near, far)[min(abs(step), 2)]:
                scores[place] += weights["weights"][crc32(f"{step}:{feature}".encode()) % crf.buckets]
    return marginals_of(labellings(scores, {name: weights[f"chain.{name}"] for name in WEIGHTS}), scores.shape[1])


@pytest.mark.parametrize("side", [1, 2, 3])
@pytest.mark.parametrize("kind", ["rich", "word"])
def test_it_sums_all_features_of_all_places(side: int, kind: str) -> None:
    model = classifier(kind=kind, side=side)
    assert model.window_crf is not None
    found = model.window_crf(batch_of(model, PAGES)).log_marginals().exp().numpy()
    for row, words in zip(found, PAGES, strict=True):
        np.testing.assert_allclose(row[: len(words)], by_hand(model.window_crf, list(words)), atol=1e-12)


def test_characters_have_the_features_of_the_word_that_they_lie_in() -> None:
    model = classifier()
    assert model.window_crf is not None
    found = model.window_crf(batch_of(model, CHARACTERS)).log_marginals().exp().numpy()
    keys = list(model.featurizer.keys(CHARACTERS[0]))
    assert any(isinstance(key, tuple) for key in keys)
    np.testing.assert_allclose(found[0], by_hand(model.window_crf, keys), atol=1e-12)


def test_the_window_features_of_a_word() -> None:
    own, near, far = window_features("Coat", ["n"])
    assert far == ["w=Coat", "shape=Xx"]
    assert near == [*far, "part=n"]
    assert {"first=C", "last=oat", "gram=oa", "gram=coa", "any"} <= set(own)
    assert "gram=Co" not in own
    inside, _, _ = window_features(("京", "東京", "E"), ["n"])
    assert {"w=京", "part=nE", "gram=東京", "in=東京E", "last=京"} <= set(inside)
    assert len(window_features("a" * 10**6, [])[0]) < 500


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=12), st.integers(1, 3))
def test_batch_mates_and_padding_do_not_matter(words: list[str], side: int) -> None:
    model = classifier(side=side)
    assert model.window_crf is not None
    alone = model.window_crf(batch_of(model, [words])).log_marginals()[0]
    together = model.window_crf(batch_of(model, [PAGES[3], words, PAGES[0]])).log_marginals()[1, : len(words)]
    torch.testing.assert_close(alone, together)
    assert torch.isfinite(alone).all()


@pytest.mark.parametrize("chain", [True, False])
def test_in_training_the_encoder_answers_alone_and_afterwards_both_are_one_chain(chain: bool) -> None:
    model = classifier(chain=chain)
    crf = model.window_crf
    assert crf is not None
    if model.chain is not None:
        for parameter in model.chain.parameters():
            torch.nn.init.normal_(parameter)
    batch = batch_of(model, PAGES)
    both = model(batch)
    model.train()
    alone = model(batch)
    assert (alone.transitions_CC is None) is not chain
    alone.log_marginals()[batch.mask].square().sum().backward()
    assert all(parameter.grad is None for parameter in crf.parameters())
    model.eval()
    other = crf(batch)
    with torch.no_grad():
        torch.testing.assert_close(both.logits_BLC, (alone.logits_BLC + other.logits_BLC) / 2)
        for mixed, one, two in zip(both.chain(), alone.chain(), other.chain(), strict=True):
            torch.testing.assert_close(mixed, (one + two) / 2)
        for weight, answer in ((0.0, alone), (1.0, other)):
            crf.mixing_weight.fill_(weight)
            found, expected = model(batch).log_marginals(), answer.log_marginals()
            torch.testing.assert_close(found.softmax(-1)[batch.mask], expected.softmax(-1)[batch.mask])


def test_without_a_window_there_is_no_crf_and_nothing_is_looked_up_for_it() -> None:
    model = classifier(side=0)
    assert model.window_crf is None
    assert batch_of(model, PAGES).window is None
    assert not any(name.startswith("window_crf") for name in model.state_dict())
