"""How many parameters each encoder has (the paper's table 2)."""

from __future__ import annotations

from typing import Any

import torch

from batag.encoders import ENCODERS, build_encoder

PAPER = 1_316_000
"""What the paper says of BAT ("1.316 MM")."""
POSITIONS = 1_500
"""Rows of a position table that would make our count the paper's; the published code does not say the number."""


def count_parameters(*, width: int = 128, depth: int = 4, heads: int = 4, inner: int = 512, classes: int = 3) -> dict[str, Any]:
    """Of every encoder with its classifier, without vectors of words; and what the paper's number may be made of."""
    head = width * classes + classes
    with torch.device("meta"):
        counts = {
            name: head
            + sum(each.numel() for each in build_encoder(name, width=width, depth=depth, heads=heads, inner=inner).parameters())
            for name in ENCODERS
        }
    table = POSITIONS * width
    explained = (
        f"The position table is a constant and not counted here; with a table of {POSITIONS:,} rows BAT would have "
        f"{counts['bat'] + table:,}, which rounds to the paper's number "
        "(1,497 to 1,504 rows do; nothing published says how many)."
    )
    sizes = {"width": width, "depth": depth, "heads": heads, "inner": inner, "classes": classes}
    return {"sizes": sizes, "parameters": counts, "paper": {"bat": PAPER}, "bat_with_positions": counts["bat"] + table} | {
        "difference": explained
    }
