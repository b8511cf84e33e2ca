"""Read the weights of a bundle, with or without torch, and check them against the description."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from batag.bundles.description import AGAIN, DESCRIPTION, Description
from batag.errors import BatagError, InputError
from batag.features.featurizer import Featurizer
from batag.features.vocabulary import Vocabulary
from batag.labels.scheme import Scheme

if TYPE_CHECKING:
    from torch import Tensor

    from batag.heads.classifier import TokenClassifier

Floats = NDArray[np.float32]
SCALE = ".scale"
_KINDS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I8": np.dtype("i1")}
_DAMAGED = (SafetensorError, ValueError, KeyError, IndexError, TypeError, RuntimeError, OverflowError)


def map_arrays(path: Path) -> dict[str, Floats]:
    """Return the arrays of a safetensors file. Float32 is memory-mapped, so that all processes share it; float16, and int8 with
    a `.scale` for each row (of a compact bundle), are expanded to float32."""
    try:
        with safe_open(path, "np") as file:
            slices = [(name, file.get_slice(name)) for name in file.offset_keys()]
            kinds = [(name, each.get_dtype(), each.get_shape()) for name, each in slices]
        with open(path, "rb") as stream:
            place = 8 + int.from_bytes(stream.read(8), "little")
        # Writing to it (training that goes on from a bundle) changes the copy of this process alone.
        whole = np.memmap(path, dtype=np.uint8, mode="c").view(np.ndarray)
        found: dict[str, Floats] = {}
        for name, kind, shape in kinds:
            if kind not in _KINDS:
                raise InputError(f"holds {kind} instead of float32 numbers in {name}", where=str(path), todo=AGAIN)
            size = _KINDS[kind].itemsize * math.prod(shape)
            array = whole[place : place + size].view(_KINDS[kind]).reshape(shape)
            found[name] = array.astype(np.float32) if kind != "F32" or not array.flags.aligned else array
            place += size
        for name in [name for name in found if name.endswith(SCALE)]:
            scale = found.pop(name)
            found[name.removesuffix(SCALE)] *= scale[:, None]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path), todo="Check its rights") from error
    except _DAMAGED as error:
        raise InputError(f"is not a safetensors file ({error})", where=str(path), todo=AGAIN) from error
    return found


def check_finite(arrays: Mapping[str, Floats], path: Path) -> None:
    for name, value in arrays.items():
        if not np.isfinite(value).all():
            raise InputError(f"holds numbers that are not finite in {name}", where=str(path), todo=AGAIN)


def check_weights(weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor], path: Path) -> None:
    """Raise an error unless names, shapes and types of the weights are the wanted ones."""
    import torch

    from batag.heads.torch_heads import MIXING_WEIGHT

    missing, spare = sorted(wanted.keys() - weights.keys()), sorted(weights.keys() - wanted.keys())
    if missing or spare:
        what = f"lacks {missing[0]}" if missing else f"has the unknown {spare[0]}"
        raise InputError(f"does not fit bundle.json: it {what}", where=str(path), todo=AGAIN)
    for name, value in weights.items():
        if value.shape != wanted[name].shape or value.dtype != torch.float32:
            shape = "x".join(map(str, wanted[name].shape))
            what = f"{name} is {'x'.join(map(str, value.shape))} {value.dtype}, not {shape} float32"
            raise InputError(f"does not fit bundle.json: {what}", where=str(path), todo=AGAIN)
        if name == MIXING_WEIGHT and not 0 <= value.item() <= 1:
            raise InputError(f"{name} is {value.item():g}, not from 0 to 1", where=str(path), todo=AGAIN)


def wanted_weights(
    description: Description, vocabulary: Vocabulary, arrays: Mapping[str, Floats], folder: Path
) -> dict[str, Tensor]:
    """Return the names and shapes (as tensors without memory) of the weights that a description needs. A description that
    claims more than its weights file holds is refused before anything is allocated."""
    where, encoder = str(folder / DESCRIPTION), description.encoder
    claims = [("depth", encoder.depth, len(arrays))]
    numbers = sum(each.size for each in arrays.values())
    claims += [(name, value, numbers) for name, value in encoder.options.items() if isinstance(value, int)]
    for name, value, most in claims:
        if value > most:
            what = f"does not fit bundle.json: it holds too little for encoder.{name} = {str(value)[:30]}"
            raise InputError(what, where=str(folder / "model.safetensors"), todo=AGAIN)
    try:
        input, head = description.input.model_dump(), description.head.model_dump()
        return dict(empty_classifier(description, Featurizer.build(vocabulary, input=input, head=head)).state_dict())
    except BatagError as error:
        raise InputError(error.what, where=where, todo=error.todo or AGAIN) from error
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"describes no classifier ({str(error)[:200]})", where=where, todo=AGAIN) from error


def empty_classifier(description: Description, featurizer: Featurizer) -> TokenClassifier:
    """Build the classifier of a description without allocating its weights."""
    import torch

    from batag.heads.classifier import build_classifier

    with torch.device("meta"):
        return build_classifier(
            featurizer,
            labels=len(description.labels),
            input=description.input.model_dump(),
            encoder=description.encoder.model_dump(),
            head=description.head.model_dump(),
            pretrained_width=description.pretrained_width,
            continuation=Scheme(description.scheme.name, tuple(description.scheme.classes)).continuation,
        )
