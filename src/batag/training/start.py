"""Where training begins: from chance, or from what a bundle (or a pretrained folder) knows already."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from batag.bundles.bundle import Bundle
from batag.encoders.classifier import TokenClassifier
from batag.encoders.vocabulary import UNKNOWN, Vocabulary
from batag.errors import UsageError

_WORDS, _HEAD = "input.words.weight", ("head.weight", "head.bias")


@torch.no_grad()
def begin_with(model: TokenClassifier, start: Bundle, *, vocabulary: Vocabulary, labels: Sequence[str]) -> None:
    """Put the weights of a bundle into a fresh model, word by word and label by label; what it does not know stays fresh.

    A new word begins as an unknown one.
    """
    own = model.state_dict()
    for name, value in start.weights.items():
        if name == _WORDS:
            _rows(own[name], value, vocabulary, start)
        elif name in _HEAD:
            for number, label in enumerate(labels):
                if label in start.description.labels and start.scheme.classes:
                    own[name][number] = value[start.description.labels.index(label)]
        elif name not in own or own[name].shape != value.shape:
            shape = "x".join(map(str, value.shape))
            there = f"here {'x'.join(map(str, own[name].shape))}" if name in own else "not in this recipe"
            todo = "Leave the input and encoder tables as they were when it was trained"
            raise UsageError(f"{start.folder} does not fit the recipe: {name} is {shape} there, {there}", todo=todo)
        else:
            own[name].copy_(value)


def _rows(table: Tensor, known: Tensor, vocabulary: Vocabulary, start: Bundle) -> None:
    numbers = [start.vocabulary.number(word) for word in vocabulary.words]
    if known.shape[1] != table.shape[1]:
        todo = "Leave the input and encoder tables as they were when it was trained"
        raise UsageError(f"{start.folder} has vectors of {known.shape[1]} numbers, not {table.shape[1]}", todo=todo)
    table.copy_(known[torch.tensor([0, UNKNOWN, *numbers])])
