"""The interface of all encoders. Shapes: B pages, L tokens, D width."""

from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypedDict

import torch
from torch import Tensor, nn

from batag.encoders.position import Position
from batag.errors import UsageError, unknown_name


def one_of(what: str, value: str, known: Sequence[str]) -> None:
    """Raise an error that lists the known values, if an option's value is not one of them."""
    if value not in known:
        raise unknown_name(value, known, what)


class Sizes(TypedDict):
    """The options that all encoders have."""

    width: int
    depth: int
    heads: int
    inner: int
    position: NotRequired[str]
    dropout: NotRequired[float]


class Encoder(nn.Module):
    """Vectors and a mask of real tokens to vectors, zero at padding; the output for a page does not depend on the rest of the
    batch."""

    layers: nn.ModuleList

    def __init__(
        self, *, width: int, depth: int, heads: int, inner: int, position: str = "sinusoid", dropout: float = 0.0
    ) -> None:
        super().__init__()
        if min(width, depth, heads, inner) < 1 or width % heads:
            raise UsageError(
                f"width {width}, depth {depth}, heads {heads} and inner {inner} do not make an encoder",
                todo="All must be at least 1, and width must be a multiple of heads",
            )
        if not 0 <= dropout < 1:
            raise UsageError(f"dropout {dropout} is not in [0, 1)", todo="The paper uses 0")
        self.width, self.depth, self.heads, self.inner, self.dropout = width, depth, heads, inner, dropout
        self.position = Position(width, kind=position)

    def stacked(self, layer: Callable[..., nn.Module], **options: Any) -> nn.ModuleList:
        """`depth` layers of one kind."""
        own: dict[str, Any] = {"dropout": self.dropout} | options
        return nn.ModuleList(layer(self.width, self.heads, self.inner, **own) for _ in range(self.depth))

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        assert mask.dtype == torch.bool, "the mask says True for a real token"
        # Filled, not multiplied: values at padding may be anything, even NaN.
        padded_BL1 = ~mask.unsqueeze(-1)
        x_BLD = self.encode(self.position(vectors.masked_fill(padded_BL1, 0.0)), mask)
        return x_BLD.masked_fill(padded_BL1, 0.0)

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        """The layers, applied after positions were added; vectors at padding are arbitrary."""
        for layer in self.layers:
            x_BLD = layer(x_BLD, mask_BL)
        return x_BLD

    @torch.no_grad()
    def prepare(self, vectors: Tensor, mask: Tensor) -> None:
        """Inspect the first batch once before training (Admin's profiling)."""

    @property
    def auxiliary_loss(self) -> Tensor | float:
        """A term that is added to the loss after a training forward pass (Switch's load balancing); 0 for most encoders."""
        return 0.0
