"""The weights of a bundle: read for torch or without it, and checked against what the description needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from batag.bundles.description import AGAIN, Description
from batag.encoders.vocabulary import Vocabulary
from batag.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from batag.encoders.classifier import TokenClassifier

Floats = NDArray[np.float32]
_DAMAGED = (SafetensorError, ValueError, KeyError, TypeError, RuntimeError, OverflowError)


def tensors_of(data: bytes, path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    from safetensors.torch import load

    try:
        return load(data)
    except _DAMAGED as error:
        raise InputError(f"is not a safetensors file ({error})", where=str(path), todo=AGAIN) from error


def arrays_of(data: bytes, path: Path) -> dict[str, Floats]:
    """The same as arrays of finite float32 numbers."""
    from safetensors.numpy import load

    try:
        found = load(data)
    except _DAMAGED as error:
        raise InputError(f"is not a safetensors file ({error})", where=str(path), todo=AGAIN) from error
    for name, value in found.items():
        if value.dtype != np.float32 or not np.isfinite(value).all():
            raise InputError(f"holds what are not finite float32 numbers in {name}", where=str(path), todo=AGAIN)
    return found


def check_weights(weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor], path: Path) -> None:
    """Names, shapes and types of all weights are those of the encoder and vocabulary described."""
    import torch

    from batag.encoders.neighbours import SHARE

    missing, spare = sorted(wanted.keys() - weights.keys()), sorted(weights.keys() - wanted.keys())
    if missing or spare:
        what = f"lacks {missing[0]}" if missing else f"has the unknown {spare[0]}"
        raise InputError(f"does not fit bundle.json: it {what}", where=str(path), todo=AGAIN)
    for name, value in weights.items():
        if value.shape != wanted[name].shape or value.dtype != torch.float32:
            shape = "x".join(map(str, wanted[name].shape))
            what = f"{name} is {'x'.join(map(str, value.shape))} {value.dtype}, not {shape} float32"
            raise InputError(f"does not fit bundle.json: {what}", where=str(path), todo=AGAIN)
        if not torch.isfinite(value).all():
            raise InputError(f"holds numbers that are not finite in {name}", where=str(path), todo=AGAIN)
        if name == SHARE and not 0 <= value.item() <= 1:
            raise InputError(f"{name} is {value.item():g}, not from 0 to 1", where=str(path), todo=AGAIN)


def empty_classifier(description: Description, vocabulary: Vocabulary) -> TokenClassifier:
    """The classifier that a description means, without memory for its weights."""
    import torch

    from batag.encoders.classifier import build_classifier

    with torch.device("meta"):
        return build_classifier(
            vocabulary,
            labels=len(description.labels),
            input=description.input.model_dump(),
            encoder=description.encoder.model_dump(),
            head=description.head.model_dump(),
        )
