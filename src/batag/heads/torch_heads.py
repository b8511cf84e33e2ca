"""The heads as torch modules: they are trained, and compute the log marginals of each token.

Shapes: B pages, L tokens, D width, C labels, U distinct words of a batch, K places of a window; 2: the two directions, or the
free and the labelled pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import several_linears
from batag.features.featurizer import Batch

MIXING_WEIGHT = "window_crf.mixing_weight"
"""The name of the mixing weight among the weights of a classifier."""
_NEVER = -1e4
_FORBIDDEN = -10.0


def linear_head(width: int, labels: int) -> nn.Linear:
    """`vectors [B,L,D] -> logits [B,L,C]`: each token by itself; the logits are log marginals up to a constant."""
    return several_linears(width, [labels])


class Chain(nn.Module):
    """The transition, start and end scores of a linear-chain CRF. They are learned, starting from zero."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(labels, labels))
        self.starts, self.ends = nn.Parameter(torch.zeros(labels)), nn.Parameter(torch.zeros(labels))

    @torch.no_grad()
    def forbid(self, allowed_before: Sequence[Sequence[int]]) -> None:
        """Let transitions that no labelled page has start low; `allowed_before` lists for each label those that may stand
        before it (empty for any)."""
        for label, before in enumerate(allowed_before):
            if before:
                self.starts[label] = _FORBIDDEN
                others = [each for each in range(len(self.starts)) if each not in before]
                self.transitions[others, label] = _FORBIDDEN

    def forward(self, logits_BLC: Tensor, mask_BL: Tensor) -> "Scores":
        return Scores(logits_BLC, mask_BL, self.transitions, self.starts, self.ends)


@dataclass(frozen=True)
class Scores:
    """The scores of labels and of label pairs on a batch of pages; without transitions tokens are independent."""

    logits_BLC: Tensor
    mask_BL: Tensor
    transitions_CC: Tensor | None = None
    starts_C: Tensor | None = None
    ends_C: Tensor | None = None

    def add(self, other: "Scores", weight: Tensor, others: Tensor) -> "Scores":
        """The weighted sum with the scores of another chain: the log-linear mixture of both."""
        chains = zip(self.chain(), other.chain(), strict=True)
        mixed = (weight * one + others * two for one, two in chains)
        return Scores(weight * self.logits_BLC + others * other.logits_BLC, self.mask_BL, *mixed)

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """Transition, start and end scores; zeros for independent tokens."""
        if self.transitions_CC is None or self.starts_C is None or self.ends_C is None:
            labels = self.logits_BLC.shape[-1]
            zeros = self.logits_BLC.new_zeros(labels)
            return zeros.expand(labels, labels), zeros, zeros
        return self.transitions_CC, self.starts_C, self.ends_C

    def log_marginals(self) -> Tensor:
        """[B,L,C], up to a constant per token; those of independent tokens are their logits."""
        if self.transitions_CC is None or self.logits_BLC.shape[1] == 0:
            return self.logits_BLC
        left_BLC, right_BLC = self._directions()
        return torch.log_softmax(left_BLC + right_BLC - self.logits_BLC, dim=-1)

    def log_probabilities(self, continuation: Sequence[int]) -> Tensor:
        """The logarithms of the rows [B,L,C] or [B,L,2C-1] of the heads' interface; `continuation` is the label that continues
        each label but none."""
        if self.transitions_CC is None or self.logits_BLC.shape[1] == 0:
            return torch.log_softmax(self.logits_BLC, dim=-1)
        left_BLC, right_BLC = self._directions()
        marginals = torch.log_softmax(left_BLC + right_BLC - self.logits_BLC, dim=-1)
        # Sums over the labels after each label, as a product of factors: pairs of labels are never held for every token.
        onto, highest = list(continuation), right_BLC.amax(-1, keepdim=True)
        sums = torch.log(torch.exp(right_BLC - highest) @ torch.exp(self.transitions_CC.T))[..., 1:] + highest
        onward = self.transitions_CC[range(1, 1 + len(onto)), onto] + right_BLC[..., onto] - sums
        return torch.cat((marginals, onward), dim=-1)

    def log_likelihood(self, labels_BL: Tensor) -> Tensor:
        """The log probability [B] of each page's labels; tokens with a label below 0 may have any."""
        transitions_CC, starts_C, ends_C = self.chain()
        every = torch.arange(self.logits_BLC.shape[-1], device=labels_BL.device)
        other_BLC = (labels_BL >= 0).unsqueeze(-1) & (labels_BL.unsqueeze(-1) != every)
        both = torch.stack((self.logits_BLC, self.logits_BLC.masked_fill(other_BLC, _NEVER)))
        steps, real = both.unbind(2), self.mask_BL.unsqueeze(-1).unbind(1)
        sums = steps[0] + starts_C
        for place in range(1, len(steps)):
            after = torch.logsumexp(sums.unsqueeze(-1) + transitions_CC, dim=-2) + steps[place]
            sums = torch.where(real[place], after, sums)
        free_B, labelled_B = torch.logsumexp(sums + ends_C, dim=-1).unbind(0)
        return labelled_B - free_B

    def _directions(self) -> tuple[Tensor, Tensor]:
        """The log sums over all labels to the left and to the right of each token, its own score included; up to a constant."""
        transitions_CC, starts_C, ends_C = self.chain()
        # From the right it is the same recursion on the page turned round.
        steps = torch.stack((self.logits_BLC, self.logits_BLC.flip(1))).unbind(2)
        real = torch.stack((self.mask_BL, self.mask_BL.flip(1))).unsqueeze(-1).unbind(2)
        transitions_21CC = torch.stack((transitions_CC, transitions_CC.T)).unsqueeze(1)
        first_21C = torch.stack((starts_C, ends_C)).unsqueeze(1)
        sums = [steps[0] + first_21C]
        for place in range(1, len(steps)):
            # Sums that grow with the page would lose the last digits; what is taken off is the same for all labels.
            before_2BC = torch.logsumexp(torch.log_softmax(sums[-1], dim=-1).unsqueeze(-1) + transitions_21CC, dim=2)
            sums.append(steps[place] + torch.where(real[place - 1], before_2BC, first_21C))
        from_left_BLC, from_right_BLC = torch.stack(sums, dim=2).unbind(0)
        return from_left_BLC, from_right_BLC.flip(1)


class WindowCRF(nn.Module):
    """A linear-chain CRF over the features of a word and of `side` words to each side: `batch -> scores`.

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

    def forward(self, batch: Batch[Tensor]) -> Scores:
        assert batch.window is not None
        (pages, length), labels = batch.mask.shape, self.weights.shape[1]
        sums_UC = F.embedding_bag(batch.window, self.weights, batch.window_offsets, mode="sum")
        scores_UKC = sums_UC.view(-1, self.places, labels)
        x_BLKC = torch.where(batch.mask[..., None, None], scores_UKC[batch.word_of_token], self.edge)
        outside = self.edge.expand(pages, self.side, self.places, labels)
        x_BLKC = torch.cat((outside, x_BLKC, outside), dim=1)
        seen = [x_BLKC[:, place : place + length, place] for place in range(self.places)]
        found: Scores = self.chain(torch.stack(seen).sum(0), batch.mask)
        return found
