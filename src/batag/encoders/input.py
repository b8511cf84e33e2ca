"""Token embeddings: `word` (one trained vector per word, as in the paper) or `rich` (also n-grams, shape, part of speech).

Shapes: B pages, L tokens, D width, U distinct words of a batch.
"""

import math

import torch
from torch import Tensor, nn

from batag.features.featurizer import Array, Batch, Featurizer
from batag.features.vocabulary import PADDING, UNKNOWN


class TokenEmbedding(nn.Module):
    """The sum of a word's trained vector, the mean vector of its n-grams, and the vectors of its shape and parts of speech, as
    far as the featurizer has them; so an unknown word has a useful vector too. Pretrained features are projected and added.

    Vectors are initialised with N(0, 1/D) and multiplied by sqrt(D), so that Adam moves them fast enough.
    """

    def __init__(
        self, featurizer: Featurizer, *, width: int, dropout: float = 0.0, word_dropout: float = 0.0, pretrained_width: int = 0
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(width)
        self.word_dropout = word_dropout
        self.words = nn.Embedding(len(featurizer.vocabulary), width, padding_idx=PADDING, sparse=True)
        start_(self.words.weight)
        with torch.no_grad():
            self.words.weight[PADDING].zero_()
        self.dropout = nn.Dropout(dropout)
        self.pretrained: nn.Sequential | None = None
        if pretrained_width:
            self.pretrained = nn.Sequential(nn.LayerNorm(pretrained_width), nn.Linear(pretrained_width, width))
        self.ngrams: nn.EmbeddingBag | None = None
        self.shapes: nn.Embedding | None = None
        self.parts_of_speech: nn.EmbeddingBag | None = None
        if featurizer.ngram_buckets:
            self.ngrams = nn.EmbeddingBag(featurizer.ngram_buckets, width, mode="mean", sparse=True)
            self.shapes = nn.Embedding(featurizer.shape_buckets, width)
            start_(self.ngrams.weight)
            start_(self.shapes.weight)
        if featurizer.part_of_speech_buckets:
            self.parts_of_speech = nn.EmbeddingBag(featurizer.part_of_speech_buckets, width, mode="sum")
            start_(self.parts_of_speech.weight)

    def forward(self, batch: Batch[Tensor]) -> Tensor:
        vectors_BLD = self.words(self._seen(batch.words))
        if self.ngrams is not None and self.shapes is not None:
            written_UD = self.ngrams(batch.ngrams, batch.ngram_offsets) + self.shapes(batch.shapes)
            if self.parts_of_speech is not None:
                written_UD = written_UD + self.parts_of_speech(batch.parts_of_speech, batch.part_of_speech_offsets)
            vectors_BLD = vectors_BLD + written_UD[batch.word_of_token]
        return self.dropout(self.scale * vectors_BLD + self.of_pretrained(batch))

    def of_pretrained(self, batch: Batch[Tensor]) -> Tensor | float:
        """The pretrained features projected to the model's width; 0 if there are none."""
        return self.pretrained(batch.pretrained) if self.pretrained is not None and batch.pretrained is not None else 0.0

    def _seen(self, words_BL: Tensor) -> Tensor:
        """Word dropout: in training, replace some words by the unknown word so that its vector is trained too."""
        if not self.training or not self.word_dropout:
            return words_BL
        left_out_BL = (torch.rand(words_BL.shape, device=words_BL.device) < self.word_dropout) & (words_BL != PADDING)
        return words_BL.masked_fill(left_out_BL, UNKNOWN)


def tensors(batch: Batch[Array], device: torch.device) -> Batch[Tensor]:
    """A batch of features as tensors on a device."""
    return batch.map(lambda array: torch.from_numpy(array).to(device))


def start_(weight: Tensor) -> None:
    """Initialise every row with N(0, 1/D)."""
    nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
