"""CECL and CECLA: cross entropy with contrast to every other class (v = 1 - y)."""

import torch
from torch import Tensor
from torch.nn import functional as F

from batag.objectives.objective import Objective, all_log_others


class Contrastive(Objective):
    """The positive term and -sum_k beta_k p_k^gamma ln(1 - p_k) over all classes k but the true one."""

    def of_tokens(self, logp_NC: Tensor, truth_N: Tensor) -> Tensor:
        term_NC = -self.negative_weights.to(logp_NC)[truth_N] * all_log_others(logp_NC)
        if self.focus:
            term_NC = term_NC * torch.exp(self.focus * logp_NC)
        others_NC = F.one_hot(truth_N, logp_NC.shape[1]) == 0
        # Where, not a product: the true class's own term may be infinite.
        return self.positive_term(logp_NC, truth_N) + term_NC.where(others_NC, 0.0).sum(1)
