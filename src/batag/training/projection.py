"""The vectors of a wide input made narrow: a student begins with what its teacher knows of words.

Shapes: N tokens, W width of the teacher, D width of the student.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from batag.encoders.input import WordInput
from batag.features.batches import by_length

_TEXTS, _TOKENS = 2_000, 4_096


@torch.no_grad()
def project(teacher: WordInput, student: WordInput, texts: Sequence[Sequence[str]]) -> None:
    """Turn all tables of the teacher into the student's width, keeping what tells the words of these texts apart best.

    All of them are added up, so that one matrix serves them all; of what others learnt, only what the student has too.
    """
    own, known = student.state_dict(), teacher.state_dict()
    width = own["words.weight"].shape[1]
    few = texts[:: 1 + len(texts) // _TEXTS]
    narrow_WD = _directions(_vectors(teacher, few, frozen=student.frozen is not None), width=width)
    for name, value in own.items():
        if name.startswith("frozen.0."):  # a norm of what others learnt, before it is turned
            value.copy_(known[name][-len(value) :])
        elif name == "frozen.1.weight":  # of a backbone and words the words are last
            value.copy_(narrow_WD.T @ known[name][:, -value.shape[1] :])
        elif name == "frozen.1.bias":
            value.copy_(narrow_WD.T @ known[name])
        else:
            value.copy_(known[name] @ narrow_WD * (teacher.scale / student.scale))


def _vectors(input: WordInput, texts: Sequence[Sequence[str]], *, frozen: bool) -> Tensor:
    """The vectors of all tokens [N,W]."""
    found = []
    for numbers in by_length(list(map(len, texts)), tokens=_TOKENS):
        batch = input.lexicon.batch([texts[number] for number in numbers], near=False, frozen=frozen)
        batch = batch.to(input.words.weight.device)
        found.append(input(batch)[batch.mask])
    return torch.cat(found)


def _directions(x_NW: Tensor, *, width: int) -> Tensor:
    """The directions in which the vectors are longest, turned by chance so that no number of the student's says more than
    another."""
    wide = x_NW.double().cpu()
    longest_WK = torch.linalg.eigh(wide.T @ wide).eigenvectors[:, -width:]
    turn_DD = torch.linalg.qr(torch.randn(width, width, dtype=torch.float64)).Q
    narrow_WD: Tensor = longest_WK @ turn_DD[: longest_WK.shape[1]]
    return narrow_WD.to(x_NW)
