"""The whole model: featurizer, embedding, encoder and heads; from pages to scores of labels."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from torch import Tensor, nn

from batag.encoders import build_encoder
from batag.encoders.encoder import Encoder
from batag.encoders.input import TokenEmbedding
from batag.errors import UsageError
from batag.features.featurizer import Batch, Featurizer
from batag.heads.torch_heads import Chain, Scores, WindowCRF, linear_head


class TokenClassifier(nn.Module):
    """`batch -> scores` of labels and label pairs, from which marginals, probabilities and the likelihood follow.

    In training the window CRF, which was fitted before, is not used.
    """

    def __init__(
        self,
        featurizer: Featurizer,
        embedding: TokenEmbedding,
        encoder: Encoder,
        *,
        labels: int,
        chain: bool = False,
        window_crf: int = 0,
        window_crf_buckets: int = 1,
        continuation: Sequence[int] = (),
    ) -> None:
        """`continuation` is the label that continues each label but none; itself, if it is left out."""
        super().__init__()
        self.featurizer = featurizer
        self.continuation = tuple(continuation) or tuple(range(1, labels))
        self.input, self.encoder = embedding, encoder
        self.head = linear_head(encoder.width, labels)
        self.chain = Chain(labels) if chain else None
        self.window_crf = WindowCRF(labels, side=window_crf, buckets=window_crf_buckets) if window_crf else None

    def forbid(self, allowed_before: Sequence[Sequence[int]]) -> None:
        """Let transitions that no labelled page has start low, in the chain and in that of the window CRF."""
        for chain in (self.chain, self.window_crf.chain if self.window_crf is not None else None):
            if chain is not None:
                chain.forbid(allowed_before)

    def forward(self, batch: Batch[Tensor]) -> Scores:
        return self.read(self.input(batch), batch)

    def read(self, vectors_BLD: Tensor, batch: Batch[Tensor]) -> Scores:
        """The scores of a batch, given the vectors of its tokens."""
        scores = self.of_encoder(vectors_BLD, batch)
        if self.window_crf is None or self.training:
            return scores
        weight = self.window_crf.mixing_weight
        return scores.add(self.window_crf(batch), 1 - weight, weight)

    def of_encoder(self, vectors_BLD: Tensor, batch: Batch[Tensor]) -> Scores:
        """The scores without the window CRF."""
        logits: Tensor = self.head(self.encoder(vectors_BLD, batch.mask))
        return Scores(logits, batch.mask) if self.chain is None else self.chain(logits, batch.mask)


def build_classifier(
    featurizer: Featurizer,
    *,
    labels: int,
    input: Mapping[str, Any],
    encoder: Mapping[str, Any],
    head: Mapping[str, Any] = MappingProxyType({}),
    pretrained_width: int | None = None,
    continuation: Sequence[int] = (),
) -> TokenClassifier:
    """Build a classifier with fresh weights from the `input`, `encoder` and `head` tables of a recipe or bundle.
    `pretrained_width` is given where the pretrained features are not loaded, `continuation` is that of the scheme."""
    built = build_encoder(**{name: value for name, value in encoder.items() if name != "options"}, **own_options(encoder))
    dropouts = {name: input[name] for name in ("dropout", "word_dropout") if name in input}
    given = featurizer.pretrained_width if pretrained_width is None else pretrained_width
    embedding = TokenEmbedding(featurizer, width=built.width, pretrained_width=given, **dropouts)
    return TokenClassifier(featurizer, embedding, built, labels=labels, continuation=continuation, **head)


def own_options(encoder: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the encoder that only this encoder has."""
    options = dict(encoder.get("options", {}))
    if twice := sorted(options.keys() & encoder.keys()):
        raise UsageError(f"encoder.options.{twice[0]} is set twice", todo=f"Set encoder.{twice[0]} alone")
    return options
