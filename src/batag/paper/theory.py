"""Results without training: the parameters of each encoder (the paper's table 2), and the learning rates of all schedules."""

from typing import Any

import torch

from batag.encoders import ENCODERS, build_encoder
from batag.training.schedule import VERSIONS, deeper, learning_rate

_POSITIONS = 1_500
"""Rows of a position table with which the count equals the paper's; the published code does not give the number."""


def count_parameters(*, width: int = 128, depth: int = 4, heads: int = 4, inner: int = 512, classes: int = 3) -> dict[str, Any]:
    """The number of parameters of every encoder with its classifier, without word vectors, and an explanation of the difference
    to the paper."""
    head = width * classes + classes
    with torch.device("meta"):
        encoders = {name: build_encoder(name, width=width, depth=depth, heads=heads, inner=inner) for name in ENCODERS}
    counts = {name: head + sum(each.numel() for each in encoder.parameters()) for name, encoder in encoders.items()}
    with_positions = counts["bat"] + _POSITIONS * width
    explained = (
        f"The position table is a constant and not counted here; with a table of {_POSITIONS:,} rows BAT would have "
        f"{with_positions:,}, which rounds to the paper's number "
        "(1,497 to 1,504 rows do; nothing published says how many)."
    )
    return {
        "sizes": {"width": width, "depth": depth, "heads": heads, "inner": inner, "classes": classes},
        "parameters": counts,
        "paper": {"bat": 1_316_000},
        "bat_with_positions": with_positions,
        "difference": explained,
    }


def _deep(encoder: str, depth: int) -> dict[str, Any]:
    warmup, scale = deeper(encoder, depth)
    return {"warmup": warmup, "scale": scale}


SCHEDULES: dict[str, dict[str, Any]] = {
    **{name: dict(version) for name, version in VERSIONS.items()},
    "v3, beta as printed": {"alpha": 6 / 13, "beta": -1 / 22},
    "v1 x 0.93 (CE, Japanese)": {"scale": 0.93},
    "12 layers": _deep("admin", 12),
    "24 layers, bat": _deep("bat", 24),
    "24 layers, switch": _deep("switch", 24),
    "24 layers, transformer": _deep("transformer", 24),
    "24 layers, the others": _deep("admin", 24),
}
"""Arguments of `learning_rate`, by name."""


def rates(at: list[int]) -> dict[str, list[float]]:
    """The learning rate of every schedule at these steps, for the paper's width."""
    return {name: [learning_rate(step, **schedule) for step in at] for name, schedule in SCHEDULES.items()}
