"""Choose the device for tensors: the CPU or an accelerator."""

import torch

from batag.encoders import DEVICES
from batag.errors import UsageError, unknown_name


def choose_device(name: str) -> torch.device:
    """The torch device of that name; `auto` is an accelerator if there is one, else the CPU."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    kind = name.partition(":")[0]
    if name == "auto":
        return torch.device(next(each for each in ("cuda", "mps", "cpu") if there[each]))
    if kind not in there:
        raise unknown_name(name, DEVICES, "a device")
    if not there[kind]:
        raise UsageError(f"this machine has no {kind}", todo="Use --device cpu or auto", python='Use device="cpu" or "auto"')
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise unknown_name(name, DEVICES, "a device") from error
