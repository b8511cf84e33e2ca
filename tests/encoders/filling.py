"""What tests of encoders share: pages to encode, and NumPy arrays put into parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from tests.encoders.reference import Floats
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode


def pages(*lengths: int, width: int = 16, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Vectors and mask of a batch of pages of these lengths; what stands at padding is noise too."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(len(lengths), max(lengths), width, generator=generator)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return vectors, mask


def fill(parameter: Tensor, *parts: Floats, dim: int = 0) -> None:
    """Put NumPy arrays into a parameter, side by side."""
    value = torch.from_numpy(np.concatenate(parts, axis=dim))
    assert value.shape == parameter.shape
    with torch.no_grad():
        parameter.copy_(value)


def fill_linear(linear: nn.Linear, weights: Sequence[Floats], biases: Sequence[Floats]) -> None:
    fill(linear.weight, *(weight.T for weight in weights))
    fill(linear.bias, *biases)


def fill_norm(norm: Any, gain: Floats, bias: Floats) -> None:
    fill(norm.weight, gain)
    fill(norm.bias, bias)


def fill_attention(layer: Any, p: Mapping[str, Floats]) -> None:
    """The attention of the usual layer, with the names of the specification."""
    fill_linear(layer.query_key_value, [p["Wq"], p["Wk"], p["Wv"]], [p["bq"], p["bk"], p["bv"]])
    fill_linear(layer.out, [p["Wo"]], [p["bo"]])
    fill_norm(layer.attention_norm, p["g1"], p["b1"])


def fill_layer(layer: Any, p: Mapping[str, Floats]) -> None:
    """The usual layer: attention and feed-forward part, each with its norm."""
    fill_attention(layer, p)
    fill_linear(layer.widen, [p["W1"]], [p["bf1"]])
    fill_linear(layer.narrow, [p["W2"]], [p["bf2"]])
    fill_norm(layer.feed_forward_norm, p["g2"], p["b2"])


class Largest(TorchDispatchMode):
    """How many elements the largest tensor has that any operation gives."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for each in out if isinstance(out, tuple | list) else (out,):
            if isinstance(each, Tensor):
                self.elements = max(self.elements, each.numel())
        return out
