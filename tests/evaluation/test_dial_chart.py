"""The picture of the dial."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from batag.evaluation.dial_chart import dial_report, draw_dial
from batag.evaluation.operating_point import steps


@pytest.mark.parametrize("tags", [0, 1, 40])
def test_a_dial_is_drawn_however_few_tags_there_are(tmp_path: Path, tags: int) -> None:
    scores = ("precision", "recall", "macro_f0.5", "macro_f1", "macro_f2")
    rows = [{"richness": richness} | dict.fromkeys(scores, richness) for richness in steps()]
    raw = np.linspace(0, 1, tags)
    report = dial_report(rows, {"raw": raw, "calibrated": raw**2}, (raw > 0.5).astype(np.float64))
    assert (report["tags"], set(report["ece"])) == (tags, {"raw", "calibrated"})
    draw_dial(report, tmp_path / "dial.png", title="dial")
    assert (tmp_path / "dial.png").read_bytes().startswith(b"\x89PNG")
