"""A second reader beside the encoder: a linear-chain CRF that sees a word and those next to it, and no further.

It knows less than the encoder and errs elsewhere, so that the two together err less; on few pages it is the better one.
Shapes: B pages, L tokens, C labels, U distinct words of a batch, K places from `side` words before to `side` after.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.features.lexicon import InputBatch
from batag.heads.chain import Chain

SHARE = "neighbours.share"
"""Its name among the weights of a classifier."""


class Neighbours(nn.Module):
    """`InputBatch -> log marginals [B,L,C]`: what a word, its ends, n-grams, shape and part of speech speak for, and its
    neighbours, shape and part of speech of theirs; each such fact has a row of numbers, one a label.

    The rows are fitted before the encoder learns and then stay; `share` of the say is theirs.
    """

    def __init__(self, labels: int, *, side: int, rows: int) -> None:
        super().__init__()
        self.side, self.rows, self.places = side, rows, 2 * side + 1
        self.facts = nn.Parameter(torch.zeros(rows, labels))
        self.edge = nn.Parameter(torch.zeros(self.places, labels))
        self.chain = Chain(labels)
        self.share = nn.Parameter(torch.tensor(0.5))
        self.requires_grad_(False)

    def forward(self, batch: InputBatch) -> Tensor:
        assert batch.near is not None
        (pages, length), labels = batch.mask.shape, self.facts.shape[1]
        of_word_UKC = F.embedding_bag(batch.near, self.facts, batch.near_offsets, mode="sum").view(-1, self.places, labels)
        x_BLKC = torch.where(batch.mask[..., None, None], of_word_UKC[batch.of_word], self.edge)
        outside = self.edge.expand(pages, self.side, self.places, labels)
        x_BLKC = torch.cat((outside, x_BLKC, outside), dim=1)
        seen = [x_BLKC[:, place : place + length, place] for place in range(self.places)]
        return self.chain(torch.stack(seen).sum(0), batch.mask)

    def joined(self, logits_BLC: Tensor, batch: InputBatch) -> Tensor:
        """Log probabilities of both readers, each with its share; they are normalised by whoever reads them."""
        return torch.lerp(torch.log_softmax(logits_BLC, dim=-1), self(batch), self.share)
