from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from batag.features.character_vectors import CharacterVectors
from batag.features.featurizer import Featurizer
from batag.features.pretrained import JoinedWords, PretrainedFeatures
from batag.features.vocabulary import Vocabulary
from batag.features.word_vectors import WordVectors

K, H, D = 4, 3, 5


def tiny() -> CharacterVectors:
    rng = np.random.default_rng(0)
    shapes = {"characters": (4, K), "first": (H, 3 * K), "second": (H, 3 * H), "last": (D, 2 * H)}
    shapes |= {"first_bias": (H,), "second_bias": (H,), "last_bias": (D,), "word_classes": (3, D), "word_classes_bias": (3,)}
    arrays: dict[str, Any] = {name: rng.normal(size=shape).astype(np.float16) for name, shape in shapes.items()}
    return CharacterVectors("鞋靴a鞵", ["n", "nz", "ORG"], arrays | {"rows": np.array([0, 1, 2, 0], dtype=np.uint16)})


READER = tiny()
FILES = ("character_vectors.json", "character_vectors.safetensors")


def as_written(word: str) -> np.ndarray[Any, Any]:
    """The same character by character, without anything clever."""
    arrays = {name: value.astype(np.float64) for name, value in load(READER.files()[FILES[1]]).items() if name != "rows"}
    rows = {"鞋": 0, "靴": 1, "a": 2, "鞵": 0}
    x = [arrays["characters"][rows.get(each, 3)] for each in word] or [arrays["characters"][3]]
    for name in ("first", "second"):
        nothing = np.zeros_like(x[0])
        sides = [np.concatenate(three) for three in zip([nothing, *x[:-1]], x, [*x[1:], nothing], strict=True)]
        x = [np.maximum(arrays[name] @ side + arrays[f"{name}_bias"], 0) for side in sides]
    pooled = np.concatenate((np.mean(x, axis=0), np.max(x, axis=0)))
    found: np.ndarray[Any, Any] = arrays["last"] @ pooled + arrays["last_bias"]
    return found


@given(st.lists(st.text("鞋靴鞵a新 \ud800", max_size=8), max_size=12))
def test_words_are_read_as_the_equations_say(words: list[str]) -> None:
    found = READER.look_up(words)[0]
    assert found.shape == (len(words), D)
    assert found.dtype == np.float32
    for row, word in zip(found, words, strict=True):
        np.testing.assert_allclose(row, as_written(word), atol=1e-4)


@given(st.lists(st.text("鞋靴鞵a新", max_size=8), min_size=1, max_size=40))
def test_a_word_s_numbers_do_not_depend_on_the_words_beside_it(words: list[str]) -> None:
    together = READER.look_up(words)[0]
    assert all(np.array_equal(row, READER.look_up([word])[0][0]) for row, word in zip(together, words, strict=True))


def test_characters_that_are_one_are_read_as_one_and_strange_ones_alike() -> None:
    rows = READER.look_up(["鞋a", "鞵a", "靴a", "新", "\ud800", ""])[0]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])
    assert np.array_equal(rows[3], rows[4])
    assert np.array_equal(rows[3], rows[5])


def test_of_a_very_long_word_the_beginning_counts() -> None:
    assert np.array_equal(*READER.look_up(["鞋" * 32 + "a" * 1_000_000, "鞋" * 32])[0])


def test_a_reader_comes_out_of_its_files_as_it_went_in() -> None:
    files = READER.files()
    again = CharacterVectors.of_files(*(files[name] for name in FILES))
    words = ["鞋靴", "aa", "新"]
    assert np.array_equal(again.look_up(words)[0], READER.look_up(words)[0])
    assert again.files() == files


@given(st.lists(st.text("鞋靴鞵a新", max_size=8), max_size=12))
def test_the_word_classes_of_a_word_are_the_two_most_probable(words: list[str]) -> None:
    arrays = load(READER.files()[FILES[1]])
    vectors, classes = READER.look_up(words)
    for row, own in zip(vectors, classes, strict=True):
        logits = arrays["word_classes"].astype(float) @ row + arrays["word_classes_bias"]
        first, second, _ = np.argsort(-logits)
        assert own == (f"looks={READER.names[first]}", f"or={READER.names[second]}")


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("second"),
        lambda arrays: arrays.update(second=np.zeros((H, 2 * H), dtype=np.float16)),
        lambda arrays: arrays.update(characters=np.full((4, K), np.nan, dtype=np.float16)),
        lambda arrays: arrays.update(characters=np.zeros((0, K), dtype=np.float16)),
        lambda arrays: arrays.update(rows=np.array([0, 1, 2, 4], dtype=np.uint16)),
        lambda arrays: arrays.update(rows=np.array([0, 1, -1, 3], dtype=np.int16)),
        lambda arrays: arrays.update(rows=np.array([0, 1], dtype=np.uint16)),
        lambda arrays: arrays.update(last_bias=np.zeros((D, 1), dtype=np.float16)),
        lambda arrays: arrays.update(last=np.full((D, 2 * H), 3e38, dtype=np.float32)),
        lambda arrays: arrays.update(first_bias=np.zeros(H, dtype=bool)),
        lambda arrays: arrays.update(word_classes=np.zeros((2, D), dtype=np.float16)),
    ],
)
def test_files_that_were_changed_are_refused(change: Callable[[dict[str, Any]], object]) -> None:
    files = READER.files()
    arrays = dict(load(files[FILES[1]]))
    change(arrays)
    with pytest.raises((ValueError, KeyError)):
        CharacterVectors.of_files(files[FILES[0]], save(arrays))


@pytest.mark.parametrize(
    "names", [["鞋"], 3, None, {"characters": 3, "word_classes": []}, {"characters": "鞋靴a鞵", "word_classes": [1, 2, 3]}]
)
def test_characters_and_word_classes_that_are_none_are_refused(names: object) -> None:
    with pytest.raises(ValueError, match="the names are not a text of characters"):
        CharacterVectors.of_files(json.dumps(names).encode(), READER.files()[FILES[1]])


def test_what_several_know_stands_side_by_side() -> None:
    listed = WordVectors(["鞋"], np.array([[0, 0], [1, 2]], dtype=np.float32))
    joined = JoinedWords([listed, READER])
    assert ([part.kind for part in joined.parts], joined.width) == (["word_vectors", "character_vectors"], 2 + D)
    found, clusters = joined.look_up(["靴", "鞋"])
    assert clusters == READER.look_up(["靴", "鞋"])[1]
    assert not found[0, :2].any()
    np.testing.assert_allclose(found[1, :2], [-1, 1], rtol=1e-5)
    np.testing.assert_allclose([found[:, 2:].mean(1), found[:, 2:].std(1)], [[0, 0], [1, 1]], atol=1e-5)
    assert joined.files() == listed.files() | READER.files()
    featurizer = Featurizer(vocabulary=Vocabulary([]), pretrained=PretrainedFeatures(joined))
    pages = featurizer.batch([["鞋"], ["靴", "鞋"]]).pretrained
    assert pages is not None
    assert pages.shape == (2, 2, 2 + D)
    assert np.array_equal(pages[1], found)
    assert not pages[0, 1].any()
