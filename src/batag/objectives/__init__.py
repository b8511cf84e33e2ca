"""The training objectives (losses), found by the paper's notation."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from batag.errors import UsageError, unknown_name
from batag.objectives.notation import parse_objective

if TYPE_CHECKING:
    from batag.objectives.objective import Objective

PAPER = (
    *("CE", "WCE", "FCE", "FWCE", "PBP(0,s)", "PBP(0,1)", "PBPA(0,1)", "PBP(0,8)", "PBPA(0,8)"),
    *("CL(0,1)", "CLA(0,1)", "CL(0,s)", "CL(1,1)", "CLA(1,1)", "CL(1,20)", "CLA(1,20)"),
)
"""The sixteen objectives of the paper's tables; `CECL` (no weights) and other numbers in their places work too."""

WEIGHTS = ("fixed", "dynamic")
_MODULES = {"CE": "cross_entropy.CrossEntropy", "CECL": "contrastive.Contrastive", "PBP": "punishment.Punishment"}


def build_objective(name: str, counts: Sequence[int], *, weights: str = "fixed") -> Objective:
    """Build the objective of that name for classes with these numbers of training tokens (the first is none's).

    With `dynamic` weights, class weights are computed from each batch instead (tried and rejected in the paper).
    """
    notation = parse_objective(name)
    if len(counts) < 2 or min(counts) < 0 or not any(counts):
        raise UsageError(f"an objective needs at least two classes, not the counts {list(counts)}", todo="Label some tokens")
    if weights not in WEIGHTS:
        raise unknown_name(weights, WEIGHTS, "a kind of weights")
    module, kind = _MODULES[notation.family].split(".")
    objective: Objective = getattr(import_module(f"batag.objectives.{module}"), kind)(notation, counts, weights=weights)
    return objective
