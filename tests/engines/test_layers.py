"""What engines do outside the encoder, without torch, against torch's own parts in float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tiny import make_bundle, tiny_run

import batag.engines.word_table as word_table
from batag.bundles.bundle import Bundle, read_bundle
from batag.encoders.input import tensors
from batag.engines.word_table import WordTable
from batag.errors import InputError
from batag.features.batches import Floats
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import Vocabulary
from batag.heads.numpy_heads import NumpyHeads

PAGES = [["running", "SHOES", "跑鞋"], ["ガーゼ"], ["acme", "東京", "の", "鞄", "120cm", "new", "running"], list("北京跑鞋")]
HEAD = {"chain": True, "window_crf": 2, "window_crf_buckets": 97}


def made(folder: Path, **changes: Any) -> Bundle:
    return read_bundle(make_bundle(folder / "bundle", **changes))


def table_of(bundle: Bundle) -> WordTable:
    return WordTable(bundle.featurizer, bundle.arrays, description=bundle.description)


def heads_of(bundle: Bundle, arrays: Mapping[str, Floats] | None = None) -> NumpyHeads:
    head, continuation = bundle.description.head, bundle.scheme.continuation
    return NumpyHeads(arrays or bundle.arrays, continuation=continuation, chain=head.chain, window_crf=bool(head.window_crf))


@pytest.fixture(scope="module")
def learnt() -> Bundle:
    return read_bundle(tiny_run())


def test_a_word_has_the_vector_that_training_gave_it(learnt: Bundle) -> None:
    model = learnt.model()
    vectors, mask, _ = table_of(learnt).look_up(PAGES)
    batch = tensors(model.featurizer.batch(PAGES), model.input.words.weight.device)
    assert mask.tolist() == batch.mask.tolist()
    np.testing.assert_allclose(vectors[mask], model.input(batch).numpy()[mask], atol=1e-5)


def test_the_window_crfs_scores_are_those_of_training(learnt: Bundle) -> None:
    model = learnt.model()
    assert model.window_crf is not None
    _, mask, scores = table_of(learnt).look_up(PAGES)
    crf = model.window_crf(tensors(model.featurizer.batch(PAGES), torch.device("cpu")))
    expected = crf.log_probabilities(model.continuation).exp().numpy()
    heads = heads_of(learnt, learnt.arrays | {"window_crf.mixing_weight": np.array(1.0, dtype=np.float32)})
    np.testing.assert_allclose(heads(np.zeros_like(scores), scores, mask)[mask], expected[mask], atol=1e-5)


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


def test_a_word_that_could_not_be_looked_up_leaves_no_trace(learnt: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    table, expected = table_of(learnt), table_of(learnt).look_up([["new", "shoes"]])
    with monkeypatch.context() as patched:
        patched.setattr(Featurizer, "features", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            table.look_up([["new", "shoes"]])
    np.testing.assert_array_equal(table.look_up([["new", "shoes"]])[0], expected[0])


@pytest.mark.parametrize("name", ["input.words.weight", "window_crf.weights"])
def test_a_table_of_another_size_is_one_clear_error(tmp_path: Path, name: str) -> None:
    bundle = made(tmp_path, head=HEAD)
    arrays = dict(bundle.arrays)
    arrays[name] = arrays[name][1:]
    with pytest.raises(InputError, match=name):
        WordTable(bundle.featurizer, arrays, description=bundle.description)


def test_a_mixing_weight_of_0_is_the_encoder_alone(tmp_path: Path) -> None:
    bundle = made(tmp_path, head=HEAD)
    arrays = bundle.arrays | {"window_crf.mixing_weight": np.array(0.0, dtype=np.float32)}
    arrays |= {
        name: value + 1.5 * np.arange(value.size).reshape(value.shape) for name, value in arrays.items() if "chain." in name
    }
    generator = np.random.default_rng(0)
    logits, scores = (generator.normal(size=(2, 5, 4)).astype(np.float32) for _ in range(2))
    mask = np.ones((2, 5), dtype=bool)
    both = heads_of(bundle, arrays)(logits, scores, mask)
    alone = NumpyHeads(arrays, continuation=bundle.scheme.continuation, chain=True, window_crf=False)(logits, scores, mask)
    np.testing.assert_allclose(both, alone, atol=1e-6)
    arrays["window_crf.mixing_weight"] = np.array(0.5, dtype=np.float32)
    assert np.abs(heads_of(bundle, arrays)(logits, scores, mask) - alone).max() > 0.01


def test_words_that_a_bundle_knows_have_the_same_rows_and_are_not_looked_up_again(
    learnt: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = table_of(learnt).known()
    assert len(known["vectors"]) == len(learnt.vocabulary.words)
    table = WordTable(learnt.featurizer, learnt.arrays, description=learnt.description, known=known)
    words = [*learnt.vocabulary.words[:50], "zzzqqq"]
    expected = table_of(learnt).look_up([words])
    for one, other in zip(table.look_up([words]), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(Featurizer, "features", lambda *_: 1 / 0)
    np.testing.assert_array_equal(table.look_up([words])[0], expected[0])
    table._forget()
    np.testing.assert_array_equal(table.look_up([words[:-1]])[0], expected[0][:, :-1])
    with pytest.raises(ZeroDivisionError):
        table.look_up([words])


@pytest.mark.parametrize("name", ["vectors", "window"])
@pytest.mark.parametrize("change", [lambda x: x[:-1], lambda x: x[..., :-1], lambda x: np.concatenate((x, x))])
def test_known_words_of_another_bundle_are_one_clear_error(learnt: Bundle, name: str, change: Any) -> None:
    known = table_of(learnt).known()
    known[name] = change(known[name])
    with pytest.raises(InputError, match=r"known_words\.safetensors: does not fit"):
        WordTable(learnt.featurizer, learnt.arrays, description=learnt.description, known=known)
    with pytest.raises(InputError, match=r"known_words\.safetensors: does not fit"):
        WordTable(learnt.featurizer, learnt.arrays, description=learnt.description, known={name: known[name]})


def test_of_single_characters_nothing_is_kept(learnt: Bundle) -> None:
    assert table_of(learnt).known()
    featurizer = replace(learnt.featurizer, vocabulary=Vocabulary("北京跑鞋新款"), part_of_speech_buckets=10)
    table = table_of(learnt)
    table.featurizer = featurizer
    assert table.known() == {}
