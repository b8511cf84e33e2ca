"""Project the teacher's embeddings to the smaller width of a student.

Shapes: N tokens, W width of the teacher, D width of the student.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from batag.encoders.input import tensors
from batag.features.batches import by_length
from batag.heads.classifier import TokenClassifier

_TEXTS, _TOKENS = 2_000, 4_096


@torch.no_grad()
def project(teacher: TokenClassifier, student: TokenClassifier, texts: Sequence[Sequence[str]]) -> None:
    """Project all embedding tables of the teacher to the student's width, keeping the directions of the largest variance on
    these texts. One matrix is used for all tables, because their vectors are summed; of pretrained features only those of words
    are projected."""
    own, known = student.input.state_dict(), teacher.input.state_dict()
    width = own["words.weight"].shape[1]
    few = texts[:: 1 + len(texts) // _TEXTS]
    narrow_WD = _directions(_vectors(teacher, few, pretrained=student.input.pretrained is not None), width=width)
    for name, value in own.items():
        if name.startswith("pretrained.0."):  # the norm before the projection
            value.copy_(known[name][-len(value) :])
        elif name == "pretrained.1.weight":  # of a backbone and words the words are last
            value.copy_(narrow_WD.T @ known[name][:, -value.shape[1] :])
        elif name == "pretrained.1.bias":
            value.copy_(narrow_WD.T @ known[name])
        else:
            value.copy_(known[name] @ narrow_WD * (teacher.input.scale / student.input.scale))


def _vectors(model: TokenClassifier, texts: Sequence[Sequence[str]], *, pretrained: bool) -> Tensor:
    """The embedding vectors of all tokens [N,W]."""
    found = []
    for numbers in by_length(list(map(len, texts)), tokens=_TOKENS):
        some = [texts[number] for number in numbers]
        batch = tensors(model.featurizer.batch(some, window=False, pretrained=pretrained), model.input.words.weight.device)
        found.append(model.input(batch)[batch.mask])
    return torch.cat(found)


def _directions(x_NW: Tensor, *, width: int) -> Tensor:
    """The principal directions of the vectors, randomly rotated so that all dimensions of the student carry equally much."""
    wide = x_NW.double().cpu()
    longest_WK = torch.linalg.eigh(wide.T @ wide).eigenvectors[:, -width:]
    turn_DD = torch.linalg.qr(torch.randn(width, width, dtype=torch.float64)).Q
    narrow_WD: Tensor = longest_WK @ turn_DD[: longest_WK.shape[1]]
    return narrow_WD.to(x_NW)
