"""Input, encoder and head: words to the logits of their labels."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from torch import Tensor, nn

from batag.encoders import build_encoder
from batag.encoders.blocks import several_linears
from batag.encoders.encoder import Encoder
from batag.encoders.input import WordInput, build_input
from batag.errors import UsageError
from batag.features.lexicon import InputBatch
from batag.features.vocabulary import Vocabulary
from batag.heads.chain import Chain
from batag.heads.neighbours import Neighbours


class TokenClassifier(nn.Module):
    """`InputBatch -> logits [B,L,C]`; with a `chain` they are log marginals.

    A second reader of so many `neighbours` to each side, with so many `rows`, learns by itself: in training the encoder
    answers alone.
    """

    def __init__(
        self, input: WordInput, encoder: Encoder, *, labels: int, chain: bool = False, neighbours: int = 0, rows: int = 1
    ) -> None:
        super().__init__()
        self.input, self.encoder = input, encoder
        self.head = several_linears(encoder.width, [labels])
        self.chain = Chain(labels) if chain else None
        self.neighbours = Neighbours(labels, side=neighbours, rows=rows) if neighbours else None
        if self.neighbours is not None:
            input.lexicon.tell_neighbours(side=neighbours, rows=rows)

    def forward(self, batch: InputBatch) -> Tensor:
        return self.read(self.input(batch), batch)

    def read(self, vectors_BLD: Tensor, batch: InputBatch) -> Tensor:
        """The logits of a batch whose words have these vectors."""
        logits: Tensor = self.head(self.encoder(vectors_BLD, batch.mask))
        logits = logits if self.chain is None else self.chain(logits, batch.mask)
        return logits if self.neighbours is None or self.training else self.neighbours.joined(logits, batch)


def build_classifier(
    vocabulary: Vocabulary,
    *,
    labels: int,
    input: Mapping[str, Any],
    encoder: Mapping[str, Any],
    head: Mapping[str, Any] = MappingProxyType({}),
) -> TokenClassifier:
    """A classifier with fresh weights from the `input`, `encoder` and `head` tables of a recipe or bundle."""
    built = build_encoder(**{name: value for name, value in encoder.items() if name != "options"}, **own_options(encoder))
    return TokenClassifier(build_input(vocabulary=vocabulary, width=built.width, **input), built, labels=labels, **head)


def own_options(encoder: Mapping[str, Any]) -> dict[str, Any]:
    """What stands under `options`: only what no other encoder has."""
    options = dict(encoder.get("options", {}))
    if twice := sorted(options.keys() & encoder.keys()):
        raise UsageError(f"encoder.options.{twice[0]} is said twice", todo=f"Say it as encoder.{twice[0]}")
    return options
