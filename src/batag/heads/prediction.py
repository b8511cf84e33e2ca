"""Predict label probabilities with the torch classifier, as training needs them."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from batag.encoders.input import tensors
from batag.features.batches import Floats, in_batches
from batag.heads.classifier import TokenClassifier
from batag.heads.torch_heads import Scores


def predict_labels(model: TokenClassifier, sequences: Sequence[Sequence[str]], device: torch.device) -> list[NDArray[np.int64]]:
    """The most probable label of each word."""
    was_training = model.training
    model.eval()
    labels = 1 + len(model.continuation)
    found = [
        values[:, :labels].argmax(-1) for values in in_batches(lambda batch: probabilities(model, batch, device), sequences)
    ]
    model.train(was_training)
    return found


@torch.inference_mode()
def probabilities(model: TokenClassifier, pages: Sequence[Sequence[str]], device: torch.device) -> Floats:
    """The rows of one batch of pages, [B,L,C] or with a chain [B,L,2C-1]."""
    scores: Scores = model(tensors(model.featurizer.batch(pages), device))
    found: Floats = scores.log_probabilities(model.continuation).exp().cpu().numpy()
    return found
