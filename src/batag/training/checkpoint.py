"""Checkpoints: one safetensors file with everything a step changes, under its name only when it is complete."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from batag.errors import InputError
from batag.pages.file import open_output
from batag.training.loop import Learner, load_weights

_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota is used up", errno.EROFS: "the file system is read-only"}


def save_weights(path: Path, weights: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Tensors and facts (as JSON) in one file."""
    packed = save_tensors(
        {name: value.detach().cpu().contiguous() for name, value in weights.items()}, {"facts": json.dumps(facts)}
    )
    try:
        with open_output(path) as stream:
            stream.write(packed)
    except (OSError, InputError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        code = cause.errno if isinstance(cause, OSError) else None
        what = _FULL.get(code or 0, getattr(cause, "strerror", None) or str(error))
        kept = "the last good one is kept" if path.exists() else "there is none yet"
        todo = f"Make room, then go on with: batag train --resume {path.parent}"
        raise InputError(f"a checkpoint cannot be written: {what}; {kept}", where=str(path), todo=todo) from error


def load_weights_file(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and facts of a file that `save_weights` wrote."""
    import struct

    try:
        data = path.read_bytes()
        tensors = load_tensors(data)
        size = struct.unpack("<Q", data[:8])[0]
        return tensors, json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["facts"])
    except OSError as error:
        raise InputError(f"cannot be opened ({error.strerror})", where=str(path), todo="Is it the folder of a run?") from error
    except (SafetensorError, ValueError, KeyError, TypeError, struct.error) as error:
        raise InputError(f"is damaged ({error})", where=str(path), todo="Train again, or restore it from a copy") from error


def save_checkpoint(path: Path, learner: Learner, facts: Mapping[str, Any]) -> None:
    """The whole learner, and facts of the run beside."""
    tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in learner.model.named_parameters()}
    tensors |= {f"average.{name}": value for name, value in learner.average.items()}
    for name, parameter in learner.model.named_parameters():
        for moment in ("exp_avg", "exp_avg_sq"):
            if state := learner.optimizer.state.get(parameter):
                tensors[f"{moment}.{name}"] = state[moment]
    own = {"step": learner.step, "epochs": learner.epochs, "loss_sum": learner.loss_sum}
    save_weights(path, tensors, own | dict(facts))


def load_checkpoint(path: Path, learner: Learner) -> dict[str, Any]:
    """Put a fresh learner back to where a checkpoint stands; returns the facts."""
    tensors, facts = load_weights_file(path)
    parts: dict[str, dict[str, Tensor]] = {"model": {}, "average": {}, "exp_avg": {}, "exp_avg_sq": {}}
    for name, value in tensors.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = value
    shapes = {name: value.shape for name, value in learner.model.named_parameters()}
    if {name: value.shape for name, value in parts["model"].items()} != shapes:
        raise InputError("is of another model than the recipe's", where=str(path), todo="Train again into a new folder")
    load_weights(learner.model, parts["model"])
    learner.average = {name: value.to(next(learner.model.parameters())) for name, value in parts["average"].items()}
    learner.step, learner.epochs, learner.loss_sum = facts["step"], facts["epochs"], facts["loss_sum"]
    for name, parameter in learner.model.named_parameters():
        if name in parts["exp_avg"]:
            moments = {moment: parts[moment][name].to(parameter) for moment in ("exp_avg", "exp_avg_sq")}
            steps = torch.tensor(float(learner.step), device=parameter.device)
            learner.optimizer.state[parameter] = {"step": steps, **moments}
    return facts
