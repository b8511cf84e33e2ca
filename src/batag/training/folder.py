"""The folder of a run: check that a new run may start there, or that an old one can be resumed."""

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from batag.errors import InputError
from batag.pages.file import open_output
from batag.training.checkpoint import load_weights_file
from batag.training.data import BUNDLE, DATA, RECIPE
from batag.training.metrics import Metrics

METRICS, LAST, BEST = "metrics.jsonl", "last.safetensors", "best.safetensors"
CURVES, DIAL, BAD_BATCH = "curves.png", "dial.png", "bad-batch.json"
_OURS = "|".join(map(re.escape, (DATA, RECIPE, METRICS, LAST, BEST, CURVES, DIAL, BAD_BATCH, BUNDLE)))
_HALF_WRITTEN = re.compile(rf"\.({_OURS})\.\d+\.tmp")


def check_new(folder: Path) -> None:
    """Raise an error unless a run may start here: the folder is empty, or has only leftovers of a run that never started."""
    if folder.exists() and (not folder.is_dir() or not all(map(_is_left, folder.iterdir()))):
        todo = f"Resume with: batag train --resume {folder}" if (folder / RECIPE).exists() else "Name a new folder"
        raise InputError("is there already", where=str(folder), todo=todo)


def _is_left(path: Path) -> bool:
    if _HALF_WRITTEN.fullmatch(path.name):
        return True
    try:
        return path.name == DATA and {"train", "base", "reading"} <= json.loads(path.read_bytes()).keys()
    except (OSError, ValueError, AttributeError):
        return False


def tidy(folder: Path) -> None:
    """Remove files that a crash left incomplete."""
    for path in folder.iterdir():
        if _HALF_WRITTEN.fullmatch(path.name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def check_whole(folder: Path) -> None:
    """Raise an error if a run has lost files that it needs to resume, instead of silently starting again."""
    best = _metadata(folder / BEST)
    if not (folder / LAST).exists():
        # After its first epoch a run always has a checkpoint.
        epochs = [best.get("epoch", 0), *(line.get("epoch", 0) for line in Metrics(folder / METRICS).lines())]
        if (folder / BUNDLE).exists() or any(isinstance(epoch, int) and epoch > 1 for epoch in epochs):
            raise _gone(folder / LAST)
        return
    last = _metadata(folder / LAST)
    if not (folder / METRICS).exists():
        raise _gone(folder / METRICS)
    if not last.get("best_epoch"):
        return
    if not (folder / BEST).exists():
        raise _gone(folder / BEST)
    if best.get("epoch", last["best_epoch"]) < last["best_epoch"]:
        todo = f"Put the file of epoch {last['best_epoch']} back, or train again into a new folder"
        raise InputError("is of an earlier epoch than the run's best", where=str(folder / BEST), todo=todo)


def _metadata(path: Path) -> dict[str, Any]:
    """The metadata of a weights file; a damaged file is reported where it is needed."""
    with suppress(InputError):
        return load_weights_file(path)[1]
    return {}


def _gone(path: Path) -> InputError:
    todo = "Put it back from a copy, or train again into a new folder; the existing files are not changed"
    return InputError("is missing, and the run cannot be resumed without it", where=str(path), todo=todo)


def write_text(path: Path, text: str) -> None:
    """Write a file of the run atomically."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        what = "cannot hold the name of a file that is not UTF-8"
        raise InputError(what, where=str(path), todo="Give the files that the recipe names other names") from error
    with open_output(path) as stream:
        stream.write(data)
