"""Running what was trained; engines are found by name and imported when first used."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from batag.errors import UsageError

if TYPE_CHECKING:
    from batag.bundles.bundle import Bundle
    from batag.engines.engine import Engine

ENGINES = ("torch",)


def build_engine(name: str, bundle: Bundle, *, device: str = "auto") -> Engine:
    """The engine of that name for a bundle."""
    if name not in ENGINES:
        near = difflib.get_close_matches(name, ENGINES, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"{name!r} is not an engine", todo=f"{hint}There are {', '.join(ENGINES)}")
    engine: Engine = import_module(f"batag.engines.{name}_engine").build(bundle, device=device)
    return engine
