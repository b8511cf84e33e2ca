"""CE, WCE and their focal forms FCE and FWCE, which depend on the true class only."""

from torch import Tensor

from batag.objectives.objective import Objective


class CrossEntropy(Objective):
    """-alpha_c (1 - p_c)^gamma ln p_c."""

    def of_tokens(self, logp_NC: Tensor, truth_N: Tensor) -> Tensor:
        return self.positive_term(logp_NC, truth_N)
