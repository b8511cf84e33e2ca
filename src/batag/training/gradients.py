"""The gradients of a step. Of a table of vectors a batch touches few rows, and only those are written and measured."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class Gradients:
    """Makes the row-wise (sparse) gradients of tables dense for Adam, in one array a table that is never filled anew."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._parameters = list(parameters)
        self._tables: dict[int, tuple[Tensor, Tensor]] = {}

    def gather(self) -> Tensor:
        """After `backward`: every gradient dense; their common length."""
        parts = []
        for number, parameter in enumerate(self._parameters):
            if parameter.grad is None:
                continue
            if not parameter.grad.is_sparse:
                parts.append(parameter.grad)
                continue
            rows, values, dense = *_rows_and_values(parameter.grad), self._tables.get(number)
            table = torch.zeros_like(parameter) if dense is None else dense[0].index_fill_(0, dense[1], 0.0)
            parameter.grad = table.index_copy_(0, rows, values)
            self._tables[number] = (table, rows)
            parts.append(values)
        return nn.utils.get_total_norm(parts)


def _rows_and_values(grad: Tensor) -> tuple[Tensor, Tensor]:
    summed = grad.coalesce()
    return summed.indices()[0], summed.values()
