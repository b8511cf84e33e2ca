"""One conformance suite for all engines: whatever runs the model, the probabilities are the same."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.tiny import catalogue, tiny_exported, tiny_tagger

import batag.features.batches as batches
from batag.bundles.bundle import Bundle, read_bundle
from batag.encoders.sequence import page_words
from batag.engines import ENGINES, build_engine
from batag.engines.engine import Engine
from batag.errors import UsageError

ODD_WORDS = ["", " ", "\0", "\n", "\ufffd", "😀", "𠮷", "a" * 5_000, "商" * 5_000, "<description>", "①", "E\u0301", "٣"]


@pytest.fixture(scope="module", params=["flat", "bio"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@cache
def exported(scheme: str = "flat") -> Bundle:
    return read_bundle(tiny_exported(scheme))


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, scheme: str) -> Engine:
    return build_engine(request.param, exported(scheme), device="cpu")


@pytest.fixture(scope="module")
def sequences() -> list[list[str]]:
    """Pages of three languages, one word, and long ones, in no order of length."""
    pages = tiny_tagger().segmentation.many(catalogue(4, split="test"))
    found = [page_words(fields)[0] for _, fields in pages]
    found += [["shoes"], ODD_WORDS, [word for words in found for word in words][:300]]
    Random(0).shuffle(found)
    return found


def same(one: Any, other: Any, *, engine: Engine | None = None) -> None:
    """The same to the last digits; of an int8 engine to a step of its rounding, which such a digit may turn."""
    assert one.shape == other.shape
    rounds = engine is not None and engine.name.endswith("int8")
    np.testing.assert_allclose(one, other, rtol=0, atol=0.03 if rounds else 1e-5)


def test_an_engine_says_its_name(engine: Engine) -> None:
    assert engine.name in ENGINES


def test_each_word_has_a_probability_of_each_label_which_sum_to_one_and_of_continuing_each_tag(
    engine: Engine, scheme: str, sequences: list[list[str]]
) -> None:
    found = engine.probabilities(sequences)
    assert len(found) == len(sequences)
    labels = len(tiny_tagger(scheme).scheme.labels)
    for words, values in zip(sequences, found, strict=True):
        assert values.shape == (len(words), 2 * labels - 1)
        assert values.dtype == np.float32
        assert (values >= 0).all()
        assert (values <= 1 + 1e-6).all()
        np.testing.assert_allclose(values[:, :labels].sum(1), 1, atol=1e-5)


def test_the_model_has_learnt_and_words_differ(engine: Engine, sequences: list[list[str]]) -> None:
    found = np.concatenate(engine.probabilities(sequences))
    assert len(set(found.argmax(1).tolist())) > 1
    assert found.std(0).min() > 0.02


def test_nothing_asked_is_nothing_said(engine: Engine) -> None:
    assert engine.probabilities([]) == []


def test_one_word_is_a_sequence(engine: Engine) -> None:
    (values,) = engine.probabilities([["shoes"]])
    assert values.shape[0] == 1


def test_a_sequence_without_words_has_no_rows_alone_and_beside_others(engine: Engine) -> None:
    first, second = engine.probabilities([[], ["shoes"]])
    assert (len(first), len(second)) == (0, 1)
    assert [len(values) for values in engine.probabilities([[]])] == [0]


def test_the_order_in_which_sequences_are_asked_does_not_matter(engine: Engine, sequences: list[list[str]]) -> None:
    few = sequences[:4]
    expected = engine.probabilities(few)
    for order in permutations(range(4)):
        for number, values in zip(order, engine.probabilities([few[number] for number in order]), strict=True):
            same(values, expected[number], engine=engine)


def test_what_is_asked_beside_a_sequence_does_not_matter(engine: Engine, sequences: list[list[str]]) -> None:
    together = engine.probabilities(sequences)
    for words, values in zip(sequences, together, strict=True):
        same(engine.probabilities([words])[0], values, engine=engine)
    twice = engine.probabilities([*sequences, *sequences])
    for number, values in enumerate(twice):
        same(values, together[number % len(sequences)], engine=engine)


@pytest.mark.parametrize("tokens", [1, 50, 400, 10**9])
def test_how_much_goes_into_a_batch_does_not_matter(
    engine: Engine, sequences: list[list[str]], tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = engine.probabilities(sequences)
    monkeypatch.setattr(batches, "BATCH_TOKENS", tokens)
    for one, other in zip(engine.probabilities(sequences), expected, strict=True):
        same(one, other, engine=engine)


def test_asking_twice_gives_the_same_bits(engine: Engine, sequences: list[list[str]]) -> None:
    for one, other in zip(engine.probabilities(sequences), engine.probabilities(sequences), strict=True):
        np.testing.assert_array_equal(one, other)


def test_sequences_may_be_tuples(engine: Engine) -> None:
    (one,), (other,) = engine.probabilities([("running", "shoes")]), engine.probabilities([["running", "shoes"]])
    same(one, other)


def test_a_word_with_a_lone_surrogate_is_a_word_and_spoils_nothing_after_it(scheme: str) -> None:
    for name in ENGINES:
        engine = build_engine(name, exported(scheme), device="cpu")
        (before,) = engine.probabilities([["running", "shoes"]])
        (odd,) = engine.probabilities([["a\ud800b", "shoes"]])
        assert len(odd) == 2
        (after,) = engine.probabilities([["running", "shoes"]])
        same(before, after)


def test_every_engine_says_what_the_first_one_says(scheme: str, sequences: list[list[str]]) -> None:
    bundle = exported(scheme)
    expected = build_engine(ENGINES[0], bundle, device="cpu").probabilities(sequences)
    for name in ENGINES[1:]:
        for one, other in zip(build_engine(name, bundle, device="cpu").probabilities(sequences), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=0.1 if "int8" in name else 1e-4)
    assert len(expected) == len(sequences)


@pytest.mark.parametrize(("name", "hint"), [("trch", "torch"), ("pickle", "There are"), ("", "There are"), ("../x", "There")])
def test_an_unknown_engine_is_a_mistake_of_the_call(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        build_engine(name, exported())


@pytest.mark.parametrize("device", ["gpu", "cuda", "cuda:0", "mps", "", "cpu:", "cpu:abc", "cpu:-1", "cpu:0:0", "CPU", "meta"])
@pytest.mark.parametrize("name", ENGINES)
def test_a_device_that_is_not_there_is_a_mistake_of_the_call(name: str, device: str) -> None:
    import torch

    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("this machine has an accelerator")
    with pytest.raises(UsageError) as caught:
        build_engine(name, exported(), device=device)
    assert caught.value.todo


@pytest.mark.parametrize("name", ENGINES)
def test_the_device_auto_is_always_there(name: str) -> None:
    assert build_engine(name, exported(), device="auto").probabilities([["shoes"]])[0].shape[0] == 1
