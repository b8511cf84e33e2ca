"""Running what was trained; engines are found by name and imported when first used."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from batag.errors import UsageError

if TYPE_CHECKING:
    from batag.bundles.bundle import Bundle
    from batag.bundles.description import Description
    from batag.engines.engine import Engine

ENGINES = ("torch", "torch-int8", "onnx", "onnx-int8")
WITHOUT_TORCH = frozenset({"onnx", "onnx-int8"})


def build_engine(name: str, bundle: Bundle, *, device: str = "auto", threads: int | None = None) -> Engine:
    """The engine of that name for a bundle; without a number of `threads` it has those of the settings."""
    check_engine(name, bundle.description)
    kind, _, int8 = name.partition("-")
    build = import_module(f"batag.engines.{kind}_engine").build
    engine: Engine = build(bundle, device=device, int8=bool(int8), threads=threads)
    return engine


def check_engine(name: str, description: Description) -> str:
    """The name, if it is an engine's that the bundle has; torch in float32 every bundle has."""
    if name not in ENGINES:
        near = difflib.get_close_matches(name, ENGINES, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"{name!r} is not an engine", todo=f"{hint}There are {', '.join(ENGINES)}")
    if name != "torch" and name not in description.engines:
        kind, _, int8 = name.partition("-")
        option = " --int8" if int8 else ""
        raise UsageError(f"the bundle has no engine {name}", todo=f"Make it: batag export BUNDLE --engine {kind}{option}")
    return name
