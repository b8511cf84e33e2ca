"""The reader of neighbours, against NumPy and all labellings one by one; with the encoder it answers by its share."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.heads.test_chain import Floats, by_enumeration

from batag.features.spelling import facts_of
from batag.features.vocabulary import Vocabulary
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.heads.neighbours import Neighbours
from batag.segmentation.speech import parts_of_speech

ENCODER = {"name": "transformer", "width": 8, "depth": 1, "heads": 2, "inner": 8}
PAGES = [["Nordvik", "wool", "coat", "XL"], ["東京", "の", "鞄"], ["coat"], ["t恤", "女", "120cm", "Nordvik", "wool", "coat"]]
CHARACTERS = [list("東京の鞄は青い")]


def classifier(*, kind: str = "rich", side: int = 2, rows: int = 97, labels: int = 3, **head: Any) -> TokenClassifier:
    torch.manual_seed(0)
    input = {"kind": kind, "buckets": 50, "shapes": 20, "parts": 20} if kind == "rich" else {"kind": kind}
    options = {"chain": True, "neighbours": side, "rows": rows} | head
    model = build_classifier(Vocabulary(["coat", "wool", "鞄"]), labels=labels, input=input, encoder=ENCODER, head=options)
    if model.neighbours is not None:
        for parameter in model.neighbours.parameters():
            if parameter.ndim:
                torch.nn.init.normal_(parameter)
    return model.double().eval()


def by_hand(reader: Neighbours, keys: list[Any]) -> Floats:
    """Marginals [L,C] with loops: every fact of every place, then every labelling."""
    weights = {name: value.numpy() for name, value in reader.state_dict().items()}
    scores = np.zeros((len(keys), weights["facts"].shape[1]))
    for place in range(len(keys)):
        for step in range(-reader.side, reader.side + 1):
            if not 0 <= place + step < len(keys):
                scores[place] += weights["edge"][step + reader.side]
                continue
            key = keys[place + step]
            own, near, far = facts_of(key, parts_of_speech(key if isinstance(key, str) else key[1]))
            for fact in (own, near, far)[min(abs(step), 2)]:
                scores[place] += weights["facts"][crc32(f"{step}:{fact}".encode()) % reader.rows]
    return by_enumeration(scores, *(weights[f"chain.{name}"] for name in ("follows", "begins", "ends")))


@pytest.mark.parametrize("side", [1, 2, 3])
@pytest.mark.parametrize("kind", ["rich", "word"])
def test_it_is_what_all_facts_of_all_places_say(side: int, kind: str) -> None:
    model = classifier(kind=kind, side=side)
    assert model.neighbours is not None
    found = model.neighbours(model.input.lexicon.batch(PAGES)).exp().numpy()
    for row, words in zip(found, PAGES, strict=True):
        np.testing.assert_allclose(row[: len(words)], by_hand(model.neighbours, list(words)), atol=1e-12)


def test_characters_speak_for_the_word_that_they_lie_in() -> None:
    model = classifier()
    assert model.neighbours is not None
    found = model.neighbours(model.input.lexicon.batch(CHARACTERS)).exp().numpy()
    keys = list(model.input.lexicon.speller.keys(CHARACTERS[0]))
    assert any(isinstance(key, tuple) for key in keys)
    np.testing.assert_allclose(found[0], by_hand(model.neighbours, keys), atol=1e-12)


def test_what_is_known_of_a_word() -> None:
    own, near, far = facts_of("Coat", ["n"])
    assert far == ["w=Coat", "shape=Xx"]
    assert near == [*far, "part=n"]
    assert {"first=C", "last=oat", "gram=oa", "gram=coa", "any"} <= set(own)
    assert "gram=Co" not in own
    inside, _, _ = facts_of(("京", "東京", "E"), ["n"])
    assert {"w=京", "part=nE", "gram=東京", "in=東京E", "last=京"} <= set(inside)
    assert len(facts_of("a" * 10**6, [])[0]) < 500


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=12), st.integers(1, 3))
def test_batch_mates_and_padding_do_not_matter(words: list[str], side: int) -> None:
    model = classifier(side=side)
    assert model.neighbours is not None
    alone = model.neighbours(model.input.lexicon.batch([words]))[0]
    together = model.neighbours(model.input.lexicon.batch([PAGES[3], words, PAGES[0]]))[1, : len(words)]
    torch.testing.assert_close(alone, together)
    assert torch.isfinite(alone).all()


def test_in_training_the_encoder_answers_alone_and_afterwards_both_by_their_share() -> None:
    model = classifier()
    reader = model.neighbours
    assert reader is not None
    batch = model.input.lexicon.batch(PAGES)
    both = model(batch)
    model.train()
    alone = model(batch)
    alone[batch.mask].sum().backward()
    assert all(parameter.grad is None for parameter in reader.parameters())
    model.eval()
    expected = (torch.log_softmax(alone, -1) + reader(batch)) / 2
    torch.testing.assert_close(both, expected)
    for share, answer in ((0.0, torch.log_softmax(alone, -1)), (1.0, reader(batch))):
        reader.share.fill_(share)
        torch.testing.assert_close(model(batch), answer)


def test_without_neighbours_there_is_no_reader_and_nothing_is_looked_up_for_it() -> None:
    model = classifier(side=0)
    assert model.neighbours is None
    assert model.input.lexicon.batch(PAGES).near is None
    assert not any(name.startswith("neighbours") for name in model.state_dict())
