"""What engines do outside the encoder, without torch, against torch's own parts in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny import make_bundle, tiny_run

import batag.engines.word_table as word_table
from batag.bundles.bundle import Bundle, read_bundle
from batag.engines.answer import Answer, _Links
from batag.engines.word_table import WordTable
from batag.errors import InputError
from batag.features.vocabulary import Vocabulary
from batag.heads.chain import Chain

PAGES = [["running", "SHOES", "跑鞋"], ["ガーゼ"], ["acme", "東京", "の", "鞄", "120cm", "new", "running"], list("北京跑鞋")]
HEAD = {"chain": True, "neighbours": 2, "rows": 97}


def made(folder: Path, **changes: Any) -> Bundle:
    return read_bundle(make_bundle(folder / "bundle", **changes))


def table_of(bundle: Bundle) -> WordTable:
    return WordTable(bundle.description, bundle.vocabulary, bundle.arrays)


@pytest.fixture(scope="module")
def learnt() -> Bundle:
    return read_bundle(tiny_run())


def test_a_word_has_the_vector_that_training_gave_it(learnt: Bundle) -> None:
    model = learnt.model()
    vectors, mask, _ = table_of(learnt).look_up(PAGES)
    batch = model.input.lexicon.batch(PAGES)
    assert mask.tolist() == batch.mask.tolist()
    np.testing.assert_allclose(vectors[mask], model.input(batch).numpy()[mask], atol=1e-5)


def test_the_second_readers_scores_are_those_of_training(learnt: Bundle) -> None:
    model = learnt.model()
    assert model.neighbours is not None
    _, mask, scores = table_of(learnt).look_up(PAGES)
    expected = model.neighbours(model.input.lexicon.batch(PAGES)).exp().numpy()
    answer = Answer(learnt.description, learnt.arrays)
    answer.chain, answer.share = None, 1.0
    np.testing.assert_allclose(answer(np.zeros_like(scores), scores, mask)[mask], expected[mask], atol=1e-5)


def test_rows_do_not_depend_on_what_was_seen_before_and_memory_is_bounded(
    learnt: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = table_of(learnt)
    expected = fresh.look_up(PAGES)
    monkeypatch.setattr(word_table, "_REMEMBERED", 50)
    monkeypatch.setattr(word_table, "_FIRST_ROWS", 2)
    used = table_of(learnt)
    for number in range(30):
        used.look_up([[f"w{number}-{each}" for each in range(20)]])
        assert len(used._rows) <= 70
    for one, other in zip(used.look_up(PAGES), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_word_that_could_not_be_spelt_leaves_no_trace(learnt: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    table, expected = table_of(learnt), table_of(learnt).look_up([["new", "shoes"]])
    with monkeypatch.context() as patched:
        patched.setattr(table.speller, "spell", lambda key, kinds: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            table.look_up([["new", "shoes"]])
    np.testing.assert_array_equal(table.look_up([["new", "shoes"]])[0], expected[0])


@pytest.mark.parametrize("name", ["input.words.weight", "neighbours.facts"])
def test_a_table_of_another_size_is_one_clear_error(tmp_path: Path, name: str) -> None:
    bundle = made(tmp_path, head=HEAD)
    arrays = dict(bundle.arrays)
    arrays[name] = arrays[name][1:]
    with pytest.raises(InputError, match=name):
        WordTable(bundle.description, bundle.vocabulary, arrays)


@given(st.lists(st.integers(1, 25), min_size=1, max_size=5), st.integers(2, 5), st.integers(0, 10**6), st.floats(0.1, 60))
def test_marginals_are_those_of_the_chain(lengths: list[int], labels: int, seed: int, scale: float) -> None:
    generator = np.random.default_rng(seed)
    chain = Chain(labels).double()
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.copy_(torch.from_numpy(generator.normal(size=tuple(parameter.shape)) * scale / 10))
    mask = np.arange(max(lengths))[None] < np.array(lengths)[:, None]
    logits = (generator.normal(size=(*mask.shape, labels)) * scale).astype(np.float32)
    expected = chain(torch.from_numpy(logits).double(), torch.from_numpy(mask)).exp().detach().numpy()
    answer = Answer.__new__(Answer)
    arrays = {f"chain.{name}": value.detach().numpy() for name, value in chain.named_parameters()}
    answer.chain, answer.second, answer.share = _Links(arrays, "chain.", labels), None, 0.0
    np.testing.assert_allclose(answer(logits, logits, mask)[mask], expected[mask], atol=1e-5)


def test_a_share_of_nothing_is_the_encoder_alone(tmp_path: Path) -> None:
    bundle = made(tmp_path, head=HEAD)
    answer = Answer(bundle.description, bundle.arrays)
    generator = np.random.default_rng(0)
    logits, scores = (generator.normal(size=(2, 5, 4)).astype(np.float32) for _ in range(2))
    mask = np.ones((2, 5), dtype=bool)
    answer.share = 0.0
    both = answer(logits, scores, mask)
    answer.second = None
    np.testing.assert_allclose(both, answer(logits, scores, mask), atol=1e-6)


def test_words_that_a_bundle_knows_have_the_same_rows_and_are_not_spelt_again(
    learnt: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = table_of(learnt).known()
    assert len(known["vectors"]) == len(learnt.vocabulary.words)
    table = WordTable(learnt.description, learnt.vocabulary, learnt.arrays, known=known)
    words = [*learnt.vocabulary.words[:50], "zzzqqq"]
    expected = table_of(learnt).look_up([words])
    for one, other in zip(table.look_up([words]), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(table.speller, "spell", lambda key, kinds: 1 / 0)
    np.testing.assert_array_equal(table.look_up([words])[0], expected[0])
    table._forget()
    np.testing.assert_array_equal(table.look_up([words[:-1]])[0], expected[0][:, :-1])
    with pytest.raises(ZeroDivisionError):
        table.look_up([words])


@pytest.mark.parametrize("name", ["vectors", "near"])
@pytest.mark.parametrize("change", [lambda x: x[:-1], lambda x: x[..., :-1], lambda x: np.concatenate((x, x))])
def test_known_words_of_another_bundle_are_one_clear_error(learnt: Bundle, name: str, change: Any) -> None:
    known = table_of(learnt).known()
    known[name] = change(known[name])
    with pytest.raises(InputError, match=r"known\.safetensors: does not fit"):
        WordTable(learnt.description, learnt.vocabulary, learnt.arrays, known=known)
    with pytest.raises(InputError, match=r"known\.safetensors: does not fit"):
        WordTable(learnt.description, learnt.vocabulary, learnt.arrays, known={name: known[name]})


def test_of_single_characters_nothing_is_kept(learnt: Bundle) -> None:
    table = table_of(learnt)
    table.speller.vocabulary, table.speller.parts = Vocabulary("北京跑鞋新款"), 10
    assert table.known() == {}
