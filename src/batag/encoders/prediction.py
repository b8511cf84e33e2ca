"""Probabilities of labels for many sequences of words: like lengths together, results in the order asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from batag.encoders.batches import by_length
from batag.encoders.classifier import TokenClassifier

Floats = NDArray[np.float32]
BATCH_TOKENS = 4096


def in_batches(predict: Callable[[list[Sequence[str]]], Floats], sequences: Sequence[Sequence[str]]) -> list[Floats]:
    """What `predict` says of each sequence [L,C], called with batches of like length [B,L,C]."""
    results: list[Floats] = [np.zeros((0, 0), dtype=np.float32)] * len(sequences)
    for batch in by_length(list(map(len, sequences)), tokens=BATCH_TOKENS):
        for number, values in zip(batch, predict([sequences[number] for number in batch]), strict=True):
            results[number] = values[: len(sequences[number])]
    return results


def predict_labels(model: TokenClassifier, sequences: Sequence[Sequence[str]], device: torch.device) -> list[NDArray[np.int64]]:
    """The most probable label of each word."""
    was_training = model.training
    model.eval()
    found = [values.argmax(-1) for values in in_batches(lambda batch: probabilities(model, batch, device), sequences)]
    model.train(was_training)
    return found


@torch.inference_mode()
def probabilities(model: TokenClassifier, batch: Sequence[Sequence[str]], device: torch.device) -> Floats:
    """Probabilities [B,L,C] of one batch."""
    logits = model(model.input.lexicon.batch(batch).to(device))
    found: Floats = torch.softmax(logits.float(), dim=-1).cpu().numpy()
    return found
