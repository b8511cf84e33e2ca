"""Predict label probabilities with the torch classifier, as training needs them."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from batag.encoders.input import tensors
from batag.features.batches import Floats, in_batches
from batag.heads.classifier import TokenClassifier


def predict_labels(model: TokenClassifier, sequences: Sequence[Sequence[str]], device: torch.device) -> list[NDArray[np.int64]]:
    """The most probable label of each word."""
    was_training = model.training
    model.eval()
    found = [values.argmax(-1) for values in in_batches(lambda batch: probabilities(model, batch, device), sequences)]
    model.train(was_training)
    return found


@torch.inference_mode()
def probabilities(model: TokenClassifier, pages: Sequence[Sequence[str]], device: torch.device) -> Floats:
    """Probabilities [B,L,C] of one batch of pages."""
    logits = model(tensors(model.featurizer.batch(pages), device))
    found: Floats = torch.softmax(logits.float(), dim=-1).cpu().numpy()
    return found
