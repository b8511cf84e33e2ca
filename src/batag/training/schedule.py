"""The learning-rate schedule of the paper (section 4.3): lambda d^-1/2 min(S^beta x^-alpha, S^-3/2 x)."""

from collections.abc import Mapping

from batag.errors import UsageError

VERSIONS: Mapping[str, Mapping[str, float]] = {
    "v1": {"alpha": 1 / 2},
    "v2": {"alpha": 6 / 11},
    "v3": {"alpha": 6 / 13},
    "v3.1": {"alpha": 6 / 13, "scale": 0.999},
    "v4": {"alpha": 7 / 15},
    "v4.1": {"alpha": 7 / 15, "scale": 1.001},
    "v5": {"alpha": 11 / 20},
}
"""Arguments of `learning_rate`; v3's beta follows from its alpha (-1/26; the paper prints -1/22, which breaks the curve)."""


DEEPER: Mapping[tuple[str, int], tuple[int, float]] = {
    ("bat", 24): (8000, 1 / 5),
    ("transformer", 24): (12000, 1 / 10),
    ("switch", 24): (8000, 1 / 10),
}
"""Warm-up and scale of encoders with 24 layers (the paper's appendix); all others use (8000, 1/3) from 12 layers on."""


def deeper(encoder: str, depth: int) -> tuple[int, float]:
    """The paper's warm-up and scale for an encoder of this depth."""
    return DEEPER.get((encoder, depth), (8000, 1 / 3) if depth >= 12 else (4000, 1.0))


def learning_rate(
    step: int, width: int = 128, warmup: int = 4000, alpha: float = 0.5, scale: float = 1.0, beta: float | None = None
) -> float:
    """The learning rate of step 1, 2, 3 ...: linear up to `warmup` (S), then proportional to step^-alpha; beta = alpha - 1/2
    makes both parts meet."""
    if step < 1 or warmup < 1 or width < 1:
        raise UsageError(f"no rate for step {step}, warmup {warmup}, width {width}", todo="All count from 1")
    beta = alpha - 0.5 if beta is None else beta
    return float(scale * width**-0.5 * min(warmup**beta * step**-alpha, warmup**-1.5 * step))


def peak_keeping_scale(warmup: int) -> float:
    """The scale with which a warm-up of this length reaches the same peak rate as one of 4000 steps."""
    return float((warmup / 4000) ** 0.5)
