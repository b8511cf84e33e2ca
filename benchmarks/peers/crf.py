"""python-crfsuite with word, affixes, shape and context: the strong classic."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite

from batag.labels.scheme import Scheme
from batag.training.examples import Example

Predict = Callable[[Sequence[Sequence[str]]], list[np.ndarray[Any, Any]]]


def fit(train: Sequence[Example], dev: Sequence[Example], scheme: Scheme, *, seed: int) -> Predict:
    """L-BFGS, 150 iterations, c1 = 0.1, c2 = 0.01; it has no randomness, so that all seeds agree."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for example in train:
        names = [scheme.labels[max(label, 0)] for label in example.labels]
        trainer.append(features(example.words), names)
    trainer.set_params({"c1": 0.1, "c2": 0.01, "max_iterations": 150, "feature.possible_transitions": True})
    folder = tempfile.mkdtemp()
    path = str(Path(folder) / "crf.model")
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)

    def predict(sequences: Sequence[Sequence[str]]) -> list[np.ndarray[Any, Any]]:
        found = []
        known = set(tagger.labels())
        for words in sequences:
            tagger.set(features(words))
            rows = [
                [tagger.marginal(label, place) if label in known else 0.0 for label in scheme.labels]
                for place in range(len(words))
            ]
            found.append(np.array(rows).reshape(len(words), len(scheme.labels)))
        return found

    return predict


def features(words: Sequence[str]) -> list[list[str]]:
    """Of each word: itself, prefixes and suffixes to three characters, shape, kind; and words and shapes two to each side."""
    own = [_own(word) for word in words]
    rows = []
    for place in range(len(words)):
        row = [f"0:{feature}" for feature in own[place]]
        for step in (-2, -1, 1, 2):
            other = place + step
            if 0 <= other < len(words):
                row += [f"{step}:w={words[other].lower()}", f"{step}:{own[other][-1]}"]
            else:
                row.append(f"{step}:edge")
        for one, two in ((place - 1, place), (place, place + 1)):
            if one >= 0 and two < len(words):
                row.append(f"{one - place}|w={words[one].lower()}|{words[two].lower()}")
        rows.append(row)
    return rows


def _own(word: str) -> list[str]:
    low = word.lower()
    affixes = [f"p={low[:n]}" for n in (1, 2, 3)] + [f"s={low[-n:]}" for n in (1, 2, 3)]
    shape = re.sub(r"[A-Z]+", "X", re.sub(r"[a-z]+", "x", re.sub(r"\d+", "d", re.sub(r"[\u4e00-\u9fff]+", "c", word))))
    return [f"w={low}", *affixes, f"n={min(len(word), 6)}", f"shape={shape}"]
