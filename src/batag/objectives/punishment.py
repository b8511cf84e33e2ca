"""PBP: punish wrong predictions. Of the wrong classes only the predicted one counts (v = (1 - y) y^)."""

import torch
from torch import Tensor

from batag.objectives.objective import Objective, log_others, pick


class Punishment(Objective):
    """The positive term, and -beta_k p_k^gamma ln(1 - p_k) of the predicted class k if it is wrong."""

    def of_tokens(self, logp_NC: Tensor, truth_N: Tensor) -> Tensor:
        predicted_N = logp_NC.detach().argmax(1)
        term_N = -self.negative_weights.to(logp_NC)[truth_N, predicted_N] * log_others(logp_NC, predicted_N)
        if self.focus:
            term_N = term_N * torch.exp(self.focus * pick(logp_NC, predicted_N))
        return self.positive_term(logp_NC, truth_N) + term_N.where(predicted_N != truth_N, 0.0)
