"""Labels of neighbours decided together: a linear-chain CRF over the logits, read out as the marginals of each token.

Shapes: B pages, L tokens, C labels; 2 stands for the two directions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Chain(nn.Module):
    """`logits [B,L,C], mask [B,L] -> log marginals [B,L,C]`: what follows what, begins and ends is learnt, from nothing.

    Any objective takes the marginals as it takes probabilities, and so do the dial and the scores.
    """

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.follows = nn.Parameter(torch.zeros(labels, labels))
        self.begins, self.ends = nn.Parameter(torch.zeros(labels)), nn.Parameter(torch.zeros(labels))

    def forward(self, logits_BLC: Tensor, mask_BL: Tensor) -> Tensor:
        if logits_BLC.shape[1] == 0:
            return logits_BLC
        # From the right it is the same recursion on the page turned round.
        steps = torch.stack((logits_BLC, logits_BLC.flip(1))).unbind(2)
        real = torch.stack((mask_BL, mask_BL.flip(1))).unsqueeze(-1).unbind(2)
        follows_21CC = torch.stack((self.follows, self.follows.T)).unsqueeze(1)
        first_21C = torch.stack((self.begins, self.ends)).unsqueeze(1)
        sums = [steps[0] + first_21C]
        for place in range(1, len(steps)):
            # Sums that grow with the page would lose the last digits; what is taken off is the same for all labels.
            before_2BC = torch.logsumexp(torch.log_softmax(sums[-1], dim=-1).unsqueeze(-1) + follows_21CC, dim=2)
            sums.append(steps[place] + torch.where(real[place - 1], before_2BC, first_21C))
        from_left_BLC, from_right_BLC = torch.stack(sums, dim=2).unbind(0)
        return torch.log_softmax(from_left_BLC + from_right_BLC.flip(1) - logits_BLC, dim=-1)
