"""The interface of all objectives. Shapes: N tokens, C classes.

Every objective of the paper is one sum over a token's classes (y one-hot truth, p probabilities): -[ boost * positive_k y_k (1
- p_k)^focus ln p_k + negative_k v_k p_k^focus ln(1 - p_k) ], where v depends on the family.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from batag.objectives.notation import Notation
from batag.objectives.weights import class_weights


class Objective(nn.Module, ABC):
    """`(logits [N,C], targets [N], weights [N] or None) -> scalar`: the weighted mean over labelled tokens.

    Tokens with the target -1 are ignored; if all are, the loss is 0.
    """

    def __init__(self, notation: Notation, counts: Sequence[int], *, weights: str = "fixed") -> None:
        super().__init__()
        self.name, self.focus, self.boost = notation.name, notation.focus, notation.boost
        self.weighting, self.dynamic = notation.weighting, weights == "dynamic"
        self.weigh(counts)

    def weigh(self, counts: Sequence[int]) -> None:
        """Set the class weights for these numbers of tokens per class."""
        positive, negative = class_weights(self.weighting, counts)
        # In float64 on the CPU: each call takes them in the type and to the device of its logits (some have no float64).
        self.positive_weights, self.negative_weights = positive * self.boost, negative

    def forward(self, logits: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        labelled_N = targets >= 0
        if self.dynamic:
            self.weigh(targets[labelled_N].bincount(minlength=logits.shape[-1]).tolist())
        truth_N = targets.clamp(min=0)
        # Half precision would lose the tails; float64 stays, so that equations can be checked.
        logp_NC = torch.log_softmax(logits if logits.dtype == torch.float64 else logits.float(), dim=-1)
        weight_N = labelled_N.to(logp_NC) if weights is None else weights.to(logp_NC).where(labelled_N, 0.0)
        loss_N = self.of_tokens(logp_NC, truth_N).masked_fill(~labelled_N, 0.0)
        return (loss_N * weight_N).sum() / weight_N.sum().clamp(min=torch.finfo(logp_NC.dtype).tiny)

    @abstractmethod
    def of_tokens(self, logp_NC: Tensor, truth_N: Tensor) -> Tensor:
        """The loss of each token, from log probabilities and its true class."""

    def positive_term(self, logp_NC: Tensor, truth_N: Tensor) -> Tensor:
        """-boost alpha_c (1 - p_c)^gamma ln p_c of the true class c."""
        logp_N = pick(logp_NC, truth_N)
        term_N = -self.positive_weights.to(logp_N)[truth_N] * logp_N
        return term_N * torch.exp(self.focus * log_others(logp_NC, truth_N)) if self.focus else term_N


def pick(values_NC: Tensor, classes_N: Tensor) -> Tensor:
    """For each token, the value of one class."""
    return values_NC.gather(1, classes_N[:, None]).squeeze(1)


def log_others(logp_NC: Tensor, classes_N: Tensor) -> Tensor:
    """ln(1 - p) of one class per token, as the log-sum-exp of the other classes: exact where p is nearly 1."""
    return logp_NC.scatter(1, classes_N[:, None], -torch.inf).logsumexp(1)


def all_log_others(logp_NC: Tensor) -> Tensor:
    """ln(1 - p) of every class."""
    same_CC = torch.eye(logp_NC.shape[1], dtype=torch.bool, device=logp_NC.device)
    return logp_NC[:, None, :].masked_fill(same_CC, -torch.inf).logsumexp(2)
