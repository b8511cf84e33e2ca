"""The heads as torch modules: they are trained, and compute the log marginals of each token.

Shapes: B pages, L tokens, D width, C labels, U distinct words of a batch, K places of a window; 2: the two directions.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import several_linears
from batag.features.featurizer import Batch

MIXING_WEIGHT = "window_crf.mixing_weight"
"""The name of the mixing weight among the weights of a classifier."""


def linear_head(width: int, labels: int) -> nn.Linear:
    """`vectors [B,L,D] -> logits [B,L,C]`: each token by itself; the logits are log marginals up to a constant."""
    return several_linears(width, [labels])


class Chain(nn.Module):
    """A linear-chain CRF over logits: `logits [B,L,C], mask [B,L] -> log marginals [B,L,C]`.

    Its transition, start and end scores are learned, starting from zero. Objectives, dial and scores use its marginals in place
    of probabilities.
    """

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(labels, labels))
        self.starts, self.ends = nn.Parameter(torch.zeros(labels)), nn.Parameter(torch.zeros(labels))

    def forward(self, logits_BLC: Tensor, mask_BL: Tensor) -> Tensor:
        if logits_BLC.shape[1] == 0:
            return logits_BLC
        # From the right it is the same recursion on the page turned round.
        steps = torch.stack((logits_BLC, logits_BLC.flip(1))).unbind(2)
        real = torch.stack((mask_BL, mask_BL.flip(1))).unsqueeze(-1).unbind(2)
        transitions_21CC = torch.stack((self.transitions, self.transitions.T)).unsqueeze(1)
        first_21C = torch.stack((self.starts, self.ends)).unsqueeze(1)
        sums = [steps[0] + first_21C]
        for place in range(1, len(steps)):
            # Sums that grow with the page would lose the last digits; what is taken off is the same for all labels.
            before_2BC = torch.logsumexp(torch.log_softmax(sums[-1], dim=-1).unsqueeze(-1) + transitions_21CC, dim=2)
            sums.append(steps[place] + torch.where(real[place - 1], before_2BC, first_21C))
        from_left_BLC, from_right_BLC = torch.stack(sums, dim=2).unbind(0)
        return torch.log_softmax(from_left_BLC + from_right_BLC.flip(1) - logits_BLC, dim=-1)


class WindowCRF(nn.Module):
    """A linear-chain CRF over the features of a word and of `side` words to each side: `batch -> log marginals [B,L,C]`.

    It makes other mistakes than the encoder, so that a mixture of both makes fewer; with few pages it is the better of the two.
    Its weights (one row of label scores per hashed feature) are fitted before the encoder is trained, and then fixed.
    """

    def __init__(self, labels: int, *, side: int, buckets: int) -> None:
        super().__init__()
        self.side, self.buckets, self.places = side, buckets, 2 * side + 1
        self.weights = nn.Parameter(torch.zeros(buckets, labels))
        self.edge = nn.Parameter(torch.zeros(self.places, labels))
        self.chain = Chain(labels)
        self.mixing_weight = nn.Parameter(torch.tensor(0.5))
        self.requires_grad_(False)

    def forward(self, batch: Batch[Tensor]) -> Tensor:
        assert batch.window is not None
        (pages, length), labels = batch.mask.shape, self.weights.shape[1]
        sums_UC = F.embedding_bag(batch.window, self.weights, batch.window_offsets, mode="sum")
        scores_UKC = sums_UC.view(-1, self.places, labels)
        x_BLKC = torch.where(batch.mask[..., None, None], scores_UKC[batch.word_of_token], self.edge)
        outside = self.edge.expand(pages, self.side, self.places, labels)
        x_BLKC = torch.cat((outside, x_BLKC, outside), dim=1)
        seen = [x_BLKC[:, place : place + length, place] for place in range(self.places)]
        return self.chain(torch.stack(seen).sum(0), batch.mask)

    def mix(self, logits_BLC: Tensor, batch: Batch[Tensor]) -> Tensor:
        """Log probabilities of the encoder and the window CRF, combined by the mixing weight; not normalised."""
        return torch.lerp(torch.log_softmax(logits_BLC, dim=-1), self(batch), self.mixing_weight)
