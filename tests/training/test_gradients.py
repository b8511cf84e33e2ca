"""Row-wise gradients of tables are the dense ones, also when the next batch touches other rows."""

from __future__ import annotations

import torch
from torch import nn

from batag.training.gradients import Gradients


def test_tables_get_the_dense_gradient_and_its_length() -> None:
    torch.manual_seed(0)
    sparse, dense = nn.Embedding(9, 4, padding_idx=0, sparse=True), nn.Embedding(9, 4, padding_idx=0)
    dense.load_state_dict(sparse.state_dict())
    linear = nn.Linear(4, 3)
    gradients = Gradients([*sparse.parameters(), *linear.parameters()])
    for words in ([1, 1, 5, 0], [2, 5, 7, 7], [3]):
        for table in (sparse, dense):
            table.zero_grad()
            linear.zero_grad()
            linear(table(torch.tensor(words))).square().sum().backward()
        expected = nn.utils.get_total_norm([each.grad for each in (dense.weight, linear.weight, linear.bias)])  # type: ignore[misc]
        torch.testing.assert_close(gradients.gather(), expected)
        assert sparse.weight.grad is not None
        assert not sparse.weight.grad.is_sparse
        torch.testing.assert_close(sparse.weight.grad, dense.weight.grad)


def test_a_parameter_that_got_none_stays_without() -> None:
    used, unused = nn.Linear(2, 2), nn.Linear(2, 2)
    gradients = Gradients([*used.parameters(), *unused.parameters()])
    used(torch.ones(1, 2)).sum().backward()
    assert gradients.gather() > 0
    assert unused.weight.grad is None
