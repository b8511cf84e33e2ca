"""Checkpoints: one safetensors file with everything that a step changes, written atomically."""

import errno
import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from batag.errors import InputError
from batag.pages.file import open_output
from batag.training.loop import Learner

_ADAM = ("step", "exp_avg", "exp_avg_sq")
_MEANING = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the quota is used up",
    errno.EROFS: "the file system is read-only",
}


class DiskError(InputError):
    """A file could not be written."""


@contextmanager
def disk_errors(path: Path, *, what: str, todo: str) -> Iterator[None]:
    """Turn an error of the disk into one that says what could not be written and what to do."""
    try:
        yield
    except DiskError:
        raise
    except (OSError, InputError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            raise
        meaning = _MEANING.get(cause.errno or 0) or cause.strerror or str(cause)
        raise DiskError(f"{what}: {meaning}", where=str(path), todo=todo) from error


def save_weights(path: Path, weights: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and metadata (as JSON) to one file."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in weights.items()}
    packed = save_tensors(tensors, {"metadata": json.dumps(metadata)})
    kept = "the last good one is kept" if path.exists() else "there is none yet"
    todo = f"Free disk space, then resume with: batag train --resume {path.parent}"
    with disk_errors(path, what=f"a checkpoint cannot be written ({kept})", todo=todo), open_output(path) as stream:
        stream.write(packed)


def load_weights_file(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read the tensors and metadata that `save_weights` wrote."""
    try:
        data = path.read_bytes()
        tensors = load_tensors(data)
        size = struct.unpack("<Q", data[:8])[0]
        return tensors, json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["metadata"])
    except OSError as error:
        raise InputError(f"cannot be opened ({error.strerror})", where=str(path), todo="Is it the folder of a run?") from error
    except (SafetensorError, ValueError, KeyError, TypeError, struct.error) as error:
        raise InputError(f"is damaged ({error})", where=str(path), todo="Train again, or restore it from a copy") from error


def save_checkpoint(path: Path, learner: Learner, metadata: Mapping[str, Any]) -> None:
    """Save the whole learner with the metadata of the run."""
    tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in learner.model.state_dict().items()}
    tensors |= {f"average.{name}": value for name, value in learner.average.items()}
    for name, parameter in learner.model.named_parameters():
        for key, value in learner.optimizer.state.get(parameter, {}).items():
            tensors[f"adam.{key}.{name}"] = value
    own = {"step": learner.step, "epochs": learner.epochs, "loss_sum": learner.loss_sum}
    save_weights(path, tensors, own | dict(metadata))


def load_checkpoint(path: Path, learner: Learner) -> dict[str, Any]:
    """Restore a fresh learner from a checkpoint, and return the metadata."""
    tensors, metadata = load_weights_file(path)
    damaged = InputError(
        "is damaged, or of another model than the recipe's", where=str(path), todo="Train again into a new folder"
    )
    try:
        own = {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}
        # Before anything is copied: a checkpoint that does not fit changes nothing.
        if {name: value.shape for name, value in own.items()} != {n: v.shape for n, v in learner.model.state_dict().items()}:
            raise damaged
        learner.model.load_state_dict(own)
        for name, parameter in learner.model.named_parameters():
            # In the model's order: averaging pairs the two lists.
            if name in learner.average:
                learner.average[name] = tensors[f"average.{name}"].to(parameter)
            prefix = [f"adam.{key}.{name}" for key in _ADAM]
            if prefix[0] in tensors:
                values = [tensors[each] for each in prefix]
                learner.optimizer.state[parameter] = {
                    key: value.to(parameter.device) for key, value in zip(_ADAM, values, strict=True)
                }
        learner.step, learner.epochs, learner.loss_sum = metadata["step"], metadata["epochs"], metadata["loss_sum"]
    except (RuntimeError, KeyError, TypeError) as error:
        raise damaged from error
    return metadata
