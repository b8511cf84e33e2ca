"""The gradients of a step, and adversarial training, which perturbs the input vectors along their gradients.

Shapes: B pages, L tokens, D width.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

_TINY = 1e-12


class Gradients:
    """Converts the sparse gradients of embedding tables to dense ones for Adam, in one reused array per table; only the few
    rows of a batch are written."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._parameters = list(parameters)
        self._tables: dict[int, tuple[Tensor, Tensor]] = {}

    def gather(self) -> Tensor:
        """Make all gradients dense after `backward`, and return their global norm."""
        parts = []
        for number, parameter in enumerate(self._parameters):
            if parameter.grad is None:
                continue
            if not parameter.grad.is_sparse:
                parts.append(parameter.grad)
                continue
            summed, dense = parameter.grad.coalesce(), self._tables.get(number)
            rows, values = summed.indices()[0], summed.values()
            table = torch.zeros_like(parameter) if dense is None else dense[0].index_fill_(0, dense[1], 0.0)
            parameter.grad = table.index_copy_(0, rows, values)
            self._tables[number] = (table, rows)
            parts.append(values)
        return nn.utils.get_total_norm(parts)


def adversarial_loss(loss_of: Callable[[Tensor], Tensor], vectors_BLD: Tensor, mask_BL: Tensor, *, epsilon: float) -> Tensor:
    """The mean of the losses with the original and with perturbed vectors; `epsilon` is the norm of the perturbation as a
    fraction of the norm of the page's vectors."""
    loss = loss_of(vectors_BLD)
    if not epsilon:
        return loss
    (gradient_BLD,) = torch.autograd.grad(loss, vectors_BLD, retain_graph=True)
    factor_B = epsilon * _norms(vectors_BLD.detach() * mask_BL[..., None]) / _norms(gradient_BLD).clamp(min=_TINY)
    return (loss + loss_of(vectors_BLD + factor_B * gradient_BLD)) / 2


def _norms(vectors_BLD: Tensor) -> Tensor:
    found: Tensor = torch.linalg.vector_norm(vectors_BLD, dim=(1, 2), keepdim=True)
    return found
