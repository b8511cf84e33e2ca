"""python-crfsuite with word, affixes, kinds of letters and context: the strong classic."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite

from batag.features.word import shape
from batag.labels.scheme import Scheme
from batag.training.examples import Example

Predict = Callable[[Sequence[Sequence[str]]], tuple[list[list[int]], list[np.ndarray[Any, Any]] | None]]


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

    def predict(sequences: Sequence[Sequence[str]]) -> tuple[list[list[int]], list[np.ndarray[Any, Any]] | None]:
        found, paths = [], []
        known, number = set(tagger.labels()), {label: place for place, label in enumerate(scheme.labels)}
        for words in sequences:
            tagger.set(features(words))
            paths.append([number[label] for label in tagger.tag()])
            rows = [
                [tagger.marginal(label, place) if label in known else 0.0 for label in scheme.labels]
                for place in range(len(words))
            ]
            found.append(np.array(rows).reshape(len(words), len(scheme.labels)))
        return paths, found

    return predict


def features(words: Sequence[str]) -> list[list[str]]:
    """Of each word: itself, prefixes and suffixes to three characters, what kind of letters; the words two to each side with
    the kind of theirs; of single characters the pairs with their neighbours. Lengths and pairs of longer words made it no
    better on dev of taobao-zh."""
    rows = []
    for place, word in enumerate(words):
        row = ["bias", f"w={word}", *_kinds(word)]
        row += [f"{name}={part}" for n in (1, 2, 3) if len(word) >= n for name, part in (("p", word[:n]), ("s", word[-n:]))]
        for step in (-2, -1, 1, 2):
            inside = 0 <= place + step < len(words)
            other = words[place + step] if inside else "edge"
            row += [f"{step}:{feature}" for feature in (f"w={other}", *(_kinds(other) if inside else ()))]
        row += [
            f"{one}|{words[place + one]}|{words[place + one + 1]}"
            for one in (-1, 0)
            if 0 <= place + one < len(words) - 1 and len(words[place + one]) == len(words[place + one + 1]) == 1
        ]
        rows.append(row)
    return rows


def _kinds(word: str) -> list[str]:
    found = {"digit": word.isdigit(), "ascii": word.isascii(), "title": word.istitle(), "upper": word.isupper()}
    kinds = [name for name, true in found.items() if true]
    return [*kinds, f"shape={shape(word)}"] if word.isascii() else kinds
