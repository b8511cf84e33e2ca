"""The file `metrics.jsonl` of a run (a line every ten steps and one per epoch), and the selection of the best epoch."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batag.pages.file import open_output
from batag.training.loop import EpochDone, StepDone

_LOGGED_STEPS = 10
_KINDS = ("step", "epoch")


class Metrics:
    """Appends lines during training; when a run is resumed, lines after its checkpoint are removed first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[str] = []

    def lines(self) -> list[dict[str, Any]]:
        """All lines up to the first damaged one, which a crash may have truncated."""
        lines = []
        # By bytes: a crash may cut a line inside a character, and only this one ends a line.
        for line in self.path.read_bytes().split(b"\n")[:-1] if self.path.exists() else []:
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not isinstance(found, dict) or found.get("kind") not in _KINDS:
                break
            if not all(type(found.get(kind)) is int for kind in _KINDS):
                break
            lines.append(found)
        return lines

    def go_back(self, *, step: int, epochs: int) -> None:
        """Remove the lines after a checkpoint."""
        at = {"step": step, "epoch": epochs}
        kept = [line for line in self.lines() if line[line["kind"]] <= at[line["kind"]]]
        with open_output(self.path) as stream:
            stream.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in kept)

    def add_step(self, done: StepDone) -> None:
        if done.step % _LOGGED_STEPS == 0:
            self.add({"kind": "step", "step": done.step, "epoch": done.epoch, "loss": done.loss, "rate": done.rate})

    def add_epoch(self, done: EpochDone, *, selected: str, measured_by: str, seconds: float, busy: float) -> None:
        """Add the dev scores of an epoch (`old` for old dev pages) and the gold and predicted counts of each class; `selected`
        is the score that selects the best epoch, `busy` the processor time in seconds."""
        summary, classes = done.scores.summary(), done.scores.report()["classes"]
        line = {"kind": "epoch", "epoch": done.epoch, "step": done.step, "loss": done.loss} | summary
        line |= {key: {name: row[key] for name, row in classes.items()} for key in ("true", "predicted")}
        line |= {} if done.old is None else {"old": done.old.summary()}
        line |= {"selected": summary[selected], "measured_by": measured_by}
        self.add(line | {"seconds": round(seconds, 1), "busy": round(busy, 1)})

    def flush(self) -> None:
        """Write buffered lines."""
        waiting, self._waiting = self._waiting, []
        with open(self.path, "ab") as stream:
            stream.write("".join(waiting).encode())
            stream.flush()
            os.fsync(stream.fileno())

    def add(self, line: dict[str, Any]) -> None:
        """Add a line; its `kind` is step or epoch."""
        self._waiting.append(json.dumps(line, ensure_ascii=False) + "\n")


@dataclass
class Selection:
    """The best epoch so far by one dev score, the earliest among equals; test pages are never used."""

    metric: str
    epoch: int = 0
    value: float = -1.0

    def better(self, epoch: int, scores: dict[str, float]) -> bool:
        """Add the scores of an epoch; returns whether it is the best so far."""
        if scores[self.metric] <= self.value:
            return False
        self.epoch, self.value = epoch, scores[self.metric]
        return True

    def to_dict(self) -> dict[str, Any]:
        return {"best_epoch": self.epoch, "best_value": self.value}
