"""Every learning rate that the paper speaks of, by name: arguments of `learning_rate`."""

from __future__ import annotations

from typing import Any

from batag.training.schedule import VERSIONS, deeper, learning_rate


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


def rates(at: list[int]) -> dict[str, list[float]]:
    """The rate of every schedule at these steps, for the paper's width."""
    return {name: [learning_rate(step, **schedule) for step in at] for name, schedule in SCHEDULES.items()}
