"""Engines run a trained model; they are found by name and imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batag.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from batag.bundles.bundle import Bundle
    from batag.bundles.description import Description
    from batag.engines.engine import Engine

ENGINES = ("torch", "torch-int8", "onnx")


def build_engine(name: str, bundle: Bundle, *, device: str = "auto", threads: int | None = None) -> Engine:
    """Build the engine of that name for a bundle; `threads` defaults to the number in the settings."""
    check_engine(name, bundle.description)
    if name == "onnx":
        from batag.engines.onnx_engine import OnnxEngine

        return OnnxEngine(bundle, device=device, threads=threads)
    from batag.engines.torch_engine import TorchEngine

    ranges = bundle.description.engines[name].ranges if name == "torch-int8" else None
    return TorchEngine(bundle, device=device, ranges=ranges, threads=threads)


def check_engine(name: str, description: Description) -> str:
    """Return the name of the engine if the bundle has it, else raise an error; every bundle has `torch`."""
    if name not in ENGINES:
        raise unknown_name(name, ENGINES, "an engine")
    if name != "torch" and name not in description.engines:
        raise UsageError(f"the bundle has no engine {name}", todo=f"Add it: batag export BUNDLE --engine {name}")
    return name
